//! `mcp-bash test`: cases beside what they test, run against a real server; programs in `test/`.

mod contract;

use crate::harness::{Project, Server, Terminal, exists, wait_until, wait_until_gone};
use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A tool that greets, says what it does meanwhile, and fails without a name.
const HELLO: &str = r#"#!/bin/bash
source "$MCP_SDK/tool-sdk.sh"
name=$(mcp_args_require '.name')
mcp_progress 50 "half way"
mcp_log_info hello "greeting now"
echo "a line for the operator" >&2
mcp_emit_text "Hello, $name!"
"#;

const HELLO_SCHEMA: &str = r#"{"name": "hello", "description": "Greets", "inputSchema":
  {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}"#;

pub(crate) fn hello(cases: &str) -> Project {
    Project::new()
        .script("tools/hello/tool.sh", HELLO)
        .file("tools/hello/tool.meta.json", HELLO_SCHEMA)
        .file("tools/hello/tests/hello.yaml", cases)
}

/// A project with one tool that is called as its case says.
fn tool(script: &str, case: &str) -> Project {
    Project::new().tool("it", script).file("tools/it/tests/it.yaml", case)
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

fn command(project: &Project, arguments: &[&str]) -> Command {
    let mut command = Server::command();
    command.arg("test").args(arguments).current_dir(project.root());
    command
}

pub(crate) fn test(project: &Project, arguments: &[&str]) -> Ran {
    ran(command(project, arguments))
}

fn ran(mut command: Command) -> Ran {
    let output = command.stdin(Stdio::null()).output().expect("the binary runs");
    Ran {
        code: output.status.code(),
        stdout: without_times(&String::from_utf8_lossy(&output.stdout)),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The text with `N` for what differs from run to run.
fn without_times(text: &str) -> String {
    let lines = text.lines().map(|line| match line.rsplit_once(" in ") {
        Some((before, time)) if time.ends_with(" s") && before.contains("passed") => {
            format!("{before} in N s\n")
        }
        _ => match line.rsplit_once(" (") {
            Some((before, time)) if time.ends_with(" ms)") => format!("{before} (N ms)\n"),
            _ => format!("{line}\n"),
        },
    });
    lines.collect::<Vec<_>>().concat()
}

pub(crate) fn report(project: &Project, arguments: &[&str]) -> (Option<i32>, Value) {
    let ran = test(project, &[arguments, &["--json"]].concat());
    (ran.code, serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}")))
}

/// The problems of the only case that failed.
fn problems(project: &Project) -> Vec<String> {
    let (code, report) = report(project, &[]);
    let failed: Vec<&Value> =
        report["cases"].as_array().unwrap().iter().filter(|case| case["status"] == "failed").collect();
    assert_eq!((code, failed.len()), (Some(1), 1), "{report:#}");
    let problems = failed[0]["problems"].as_array().unwrap();
    problems.iter().map(|problem| problem["problem"].as_str().unwrap().to_owned()).collect()
}

fn passes(project: &Project) {
    let ran = test(project, &["-v"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn cases_that_hold_and_one_that_does_not() {
    let project = hello(
        r#"
- name: greets by name
  arguments: { name: Ada }
  expect: { text: "Hello, Ada!" }

- name: wants a name
  expect: { error: "name" }

- name: greets the world
  arguments: { name: Bob }
  expect: { text: "Hello, world!" }

- name: greets in Klingon
  skip: nobody knows how
"#,
    )
    .tool("lonely", "#!/bin/sh\n");
    assert_eq!(
        test(&project, &[]),
        Ran {
            code: Some(1),
            stdout: "\
FAIL  hello  4 cases, 1 failed, 1 skipped

FAIL hello/greets the world
  tools/hello/tests/hello.yaml:9
  the text is another
    @@ -1,1 +1,1 @@
    -Hello, world!
    +Hello, Bob!
  standard error:
    a line for the operator
  again: mcp-bash test 'hello/greets the world'

Tools without a test: lonely

2 passed, 1 failed, 1 skipped in N s
"
            .to_owned(),
            stderr: String::new(),
        }
    );
    assert_eq!(
        test(&project, &["-v", "hello/greets by name", "klingon"]),
        Ran {
            code: Some(0),
            stdout: "\
ok    hello/greets by name (N ms)
skip  hello/greets in Klingon: nobody knows how

1 passed, 0 failed, 1 skipped in N s
"
            .to_owned(),
            stderr: String::new(),
        }
    );
    let quiet = test(&project, &["-q", "wants"]);
    assert_eq!(quiet, Ran { code: Some(0), stdout: String::new(), stderr: String::new() });
}

#[test]
fn what_is_run_can_be_listed_and_chosen() {
    let project = hello("- {name: one, arguments: {name: A}}\n- {name: one more, arguments: {name: B}}\n")
        .script("test/run.sh", "#!/bin/sh\n");
    assert_eq!(
        test(&project, &["--list"]).stdout,
        "hello/one  tools/hello/tests/hello.yaml:1\nhello/one more  tools/hello/tests/hello.yaml:2\ntest/run.sh\n"
    );
    // The name of a case means that case alone, and anything else all that have it.
    assert_eq!(test(&project, &["--list", "hello/one"]).stdout.lines().count(), 1);
    assert_eq!(test(&project, &["--list", "ONE"]).stdout.lines().count(), 2);
    assert_eq!(test(&project, &["--list", "test/run"]).stdout, "test/run.sh\n");
    let (_, listed) = report(&project, &["--list", "one more"]);
    assert_eq!(
        listed,
        json!({ "cases": [{ "id": "hello/one more", "kind": "tool", "subject": "hello",
            "file": "tools/hello/tests/hello.yaml", "line": 2 }], "programs": [] })
    );
    let none = |pattern, remedy: &str| Ran {
        code: Some(4),
        stdout: String::new(),
        stderr: format!("mcp-bash: no test matches `{pattern}`; {remedy}\n"),
    };
    assert_eq!(test(&project, &["helo"]), none("helo", "did you mean `hello`?"));
    assert_eq!(test(&project, &["weather"]), none("weather", "`mcp-bash test --list` shows all"));
}

#[test]
fn prompts_resources_and_completions_are_tested_too() {
    let project = Project::new()
        .file("prompts/review/prompt.md", "Review this {{language}} code")
        .file(
            "prompts/review/prompt.meta.json",
            r#"{"name": "review", "arguments": {"type": "object", "properties":
               {"language": {"type": "string", "enum": ["rust", "ruby", "c"]}}}}"#,
        )
        .file(
            "prompts/review/tests/review.yaml",
            "{ arguments: { language: rust }, expect: { text: Review this rust code } }",
        )
        .file("resources/handbook/handbook.md", "# Handbook\n")
        .file("resources/handbook/tests/handbook.yaml", "expect: { matches: '^# Hand' }")
        .file(
            "tests/rest.yaml",
            r#"
- name: languages that begin with ru
  complete: { prompt: review, argument: language, value: ru }
  expect: { structured: [rust, ruby] }
- resource: "file://${project}/resources/handbook/handbook.md"
  expect: { snapshot: true }
- prompt: review
  name: the messages
  arguments: { language: c }
  expect: { structured_part: [{ role: user }] }
"#,
        );
    let updated = test(&project, &["--update", "--yes", "-v"]);
    assert_eq!(
        updated.stdout.replace(&*project.root().to_string_lossy(), "PROJECT"),
        "\
ok    review/review (N ms)
ok    file://PROJECT/resources/handbook/handbook.md/handbook (N ms)
ok    review/languages that begin with ru (N ms)
ok    file://${project}/resources/handbook/handbook.md/rest 2 (N ms)
ok    review/the messages (N ms)

5 passed, 0 failed, 1 snapshot recorded in N s
"
    );
    assert_eq!(
        project.read("tests/__snapshots__/rest--rest-2.snap"),
        "--- text (text/markdown)\n# Handbook\n"
    );
    passes(&project);
    // What belongs to tests is never served.
    let mut server = Server::ready(project.root());
    let prompts = server.ask(1, "prompts/list", &json!({}))["result"]["prompts"].clone();
    let resources = server.ask(2, "resources/list", &json!({}))["result"]["resources"].clone();
    server.finish();
    assert_eq!((prompts.as_array().unwrap().len(), resources.as_array().unwrap().len()), (1, 1));
}

#[test]
fn functions_are_tested_beside_their_file() {
    let project = Project::new()
        .file(
            "tools/sums.py",
            "from mcp_bash import ask, tool\n\n@tool\ndef add(a: int, b: int) -> int:\n    return a + b\n\n\
             @tool\ndef age() -> int:\n    return ask('How old?', int)\n",
        )
        .file(
            "tools/more/one.py",
            "from mcp_bash import tool\n\n@tool\ndef only() -> str:\n    return 'one'\n",
        )
        .file(
            "tools/more/two.mjs",
            "import { tool } from 'mcp-bash'\nexport const two = tool('Two.', {}, () => 'two')\n",
        )
        .file("tools/tests/add.yaml", "{ arguments: { a: 1, b: 2 }, expect: { text: '3' } }")
        // What is imported only now must be there, though each case begins with an empty home.
        .file(
            "tools/tests/sums.yaml",
            "{ tool: age, answers: [{ accept: { value: 7 } }], expect: { text: '7' } }",
        )
        .file("tools/more/tests/one.yaml", "expect: { text: one }")
        .file("tools/more/tests/two.yaml", "expect: { text: two }");
    let (code, report) = report(&project, &["-j", "1"]);
    assert_eq!(code, Some(0), "{report:#}");
    let names: Vec<&Value> =
        report["cases"].as_array().unwrap().iter().map(|case| &case["subject"]).collect();
    assert_eq!(names.len(), 4, "{names:?}");

    project.write("tools/tests/sums.yaml", "answers: [{ accept: { value: 7 } }]");
    let ran = test(&project, &[]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("there are several things to test in sums.py; say which with `tool: NAME`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_project_may_stand_in_a_folder_with_any_name() {
    let above = Project::new()
        .script("my 'project' é/tools/where/tool.sh", "#!/bin/sh\npwd\n")
        .file("my 'project' é/tools/where/tests/where.yaml", "expect: { text: '${project}' }")
        .file("my 'project' é/resources/a b.txt", "a")
        .file(
            "my 'project' é/tests/rest.yaml",
            "{ resource: 'file://${project}/resources/a%20b.txt', expect: { text: a } }",
        );
    let mut command = command(&above, &[]);
    command.current_dir(above.path("my 'project' é"));
    assert_eq!(
        ran(command).stdout,
        "\
ok    where  1 case
ok    file://${project}/resources/a%20b.txt  1 case

2 passed, 0 failed in N s
"
    );
}

#[test]
fn nothing_in_a_folder_of_tests_is_served() {
    let project = Project::with_hi()
        .tool("tests", "#!/bin/sh\n")
        .script("tools/hi/tests/tool.sh", "#!/bin/sh\n")
        .file("tools/hi/tests/tool.meta.json", "{\"name\": \"hidden\"}")
        .file("prompts/a/a.md", "a")
        .file("prompts/a/tests/data/b.md", "b");
    let mut server = Server::ready(project.root());
    let tools = server.ask(1, "tools/list", &json!({}))["result"]["tools"].clone();
    let prompts = server.ask(2, "prompts/list", &json!({}))["result"]["prompts"].clone();
    server.finish();
    let names = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&tools), ["hi", "tests"]);
    assert_eq!(names(&prompts), ["a"]);
    let health = Server::command().args(["health", "--json"]).current_dir(project.root()).output().unwrap();
    let health: Value = serde_json::from_slice(&health.stdout).unwrap();
    assert_eq!(health["problems"], json!([]));
}

#[test]
fn each_expectation_can_fail_and_says_how() {
    let script = r#"#!/bin/bash
source "$MCP_SDK/tool-sdk.sh"
mcp_progress 10 "begun"
mcp_log_warn it "careful"
mcp_emit_json '{"a": 1, "b": {"c": [1, 2], "d": "x"}}'
"#;
    for (expectation, problem) in [
        (
            "contains: [a, zebra]",
            "the text does not contain `zebra`: {\"a\":1,\"b\":{\"c\":[1,2],\"d\":\"x\"}}",
        ),
        ("lacks: d", "the text contains `d`, and must not"),
        ("matches: 'c.{99}'", "the text does not match `c.{99}`: {\"a\":1,\"b\":{\"c\":[1,2],\"d\":\"x\"}}"),
        ("structured: { a: 1 }", "the structured result is another"),
        ("structured_part: { b: { c: [1, 3] } }", "the structured result lacks a part"),
        (
            "schema: { type: object, properties: { a: { type: string } } }",
            "the result does not fit the schema: `/a` must be a string, but 1 (a number) was given",
        ),
        ("error: true", "an error is expected, and it succeeded: {\"a\":1,\"b\":{\"c\":[1,2],\"d\":\"x\"}}"),
        ("exit_code: 3", "the exit code 3 is expected; it is 0"),
        ("progress: [begun, ended]", "no progress “ended” came in its turn; these came:\n  10 begun"),
        ("logs: [{ level: error }]", "no log `[error] ` came in its turn; these came:\n  [warning] careful"),
        ("asks: [Really?]", "it asks something else"),
        ("files: { a.txt: true }", "`a.txt` is not there"),
    ] {
        let project = tool(script, &format!("expect: {{ {expectation} }}"));
        let found = problems(&project);
        assert_eq!(found, [problem], "{expectation}");
    }
    passes(&tool(
        script,
        r#"
expect:
  contains: [a, "{"]
  lacks: zebra
  matches: ['"a":\d', "x"]
  structured: { b: { d: x, c: [1, 2.0] }, a: 1 }
  structured_part: { b: { c: [1, 2] } }
  schema: { type: object, required: [a] }
  exit_code: 0
  progress: [{ progress: 10, message: beg }]
  logs: [careful]
  asks: []
  files: { a.txt: false }
"#,
    ));
}

#[test]
fn every_kind_of_error_can_be_expected() {
    let project = tool(
        "#!/bin/sh\necho 'no such city: Atlantis' >&2\nexit 3\n",
        "expect: { error: { matches: 'city: \\w+' }, exit_code: 3 }",
    );
    passes(&project);
    passes(&tool("#!/bin/sh\nexit 3\n", "expect: { exit_code: 3 }"));
    let missing = "- { tool: nothing, expect: { error: { code: -32602 } } }\n- { tool: nothing, name: b, expect: { error: -32602 } }";
    passes(&Project::with_hi().file("tests/x.yaml", missing));
    assert_eq!(
        problems(&tool("#!/bin/sh\nexit 3\n", "expect: { error: { code: -32602 } }")),
        ["the error code -32602 is expected; it is a result that says it failed, which has none"]
    );
    assert_eq!(
        problems(&tool("#!/bin/sh\necho broken >&2\nexit 3\n", "expect: { text: hi }")),
        ["it is an error: broken"]
    );
}

#[test]
fn a_case_has_files_answers_roots_and_an_environment_of_its_own() {
    let script = r#"#!/bin/bash
source "$MCP_SDK/tool-sdk.sh"
dir=$(mcp_args_get '.dir')
answer=$(mcp_elicit_confirm "Delete $(ls "$dir" | wc -l) files?")
[ "$(jq -r .action <<<"$answer")" = accept ] && rm -r "$dir"/*
echo "done in $dir by ${WHO:-nobody}" >"$dir/log"
echo "$(ls -A "$HOME" | wc -l) $(mcp_roots_list) $([ -x "$dir/run" ] && echo runs)"
touch "$HOME/left"
"#;
    let project = Project::new()
        .tool("clean", script)
        .file("tools/clean/tests/data.txt", "copied")
        .file(
            "tools/clean/tests/clean.yaml",
            r#"
- name: deletes
  arguments: { dir: "${dir}" }
  files: { a/b.o: "x", c: { from: data.txt } }
  environment: { WHO: me, MCPBASH_TOOL_ENV_MODE: inherit, MCPBASH_TOOL_ENV_INHERIT_ALLOW: true }
  answers: [{ accept: { confirmed: true } }]
  expect:
    asks: ["Delete 2 files?"]
    files: { a/b.o: false, a: false, c: false, log: "done in ${dir} by me\n" }
- name: keeps
  arguments: { dir: "${dir}" }
  files: { c: { from: data.txt }, run: { content: '#!/bin/sh', executable: true } }
  answers: [decline]
  expect: { text: "0 ${dir} runs", files: { c: copied, log: { contains: "${dir}", matches: "^done in ${dir} by" } } }
- name: starts with nothing that another case left
  arguments: { dir: "${dir}" }
  answers: [cancel]
  expect: { asks: ["Delete 0"], matches: "^0 " }
"#,
        );
    let before = tree(project.root());
    passes(&project);
    assert_eq!(tree(project.root()), before, "nothing was written into the project");
}

#[test]
fn questions_and_answers_that_do_not_fit_are_told() {
    let script = r#"#!/bin/bash
source "$MCP_SDK/tool-sdk.sh"
mcp_elicit_confirm "Sure?"
"#;
    assert_eq!(problems(&tool(script, "{}")), ["it asks “Sure?”, and `answers` has no answer to that"]);
    assert_eq!(
        problems(&tool("#!/bin/sh\necho hi\n", "answers: [decline, cancel]")),
        ["2 answers of `answers` nobody asked for"]
    );
    let found = problems(&tool(script, "answers: [{ text: yes }]"));
    assert_eq!(
        found[0],
        "`text` is no answer to “Sure?”, which asks a person, who can `accept`, `decline` or `cancel`"
    );
}

#[test]
fn snapshots_are_recorded_after_a_look_and_compared() {
    let project = hello("- { name: A & B, arguments: { name: Ada }, expect: { snapshot: true } }");
    let before = tree(project.root());
    let failed = test(&project, &[]);
    assert_eq!(failed.code, Some(1));
    assert!(failed.stdout.contains("there is no snapshot yet; `--update` records this"), "{failed:?}");
    assert_eq!(
        test(&project, &["--update"]),
        Ran {
            code: Some(2),
            stdout: String::new(),
            stderr: "mcp-bash: `--update` shows each change and asks, and there is no terminal to ask at; \
                     `--update --yes` records them all\n"
                .to_owned(),
        }
    );
    assert_eq!(tree(project.root()), before);
    assert_eq!(
        test(&project, &["--update", "--yes"]).stdout,
        "ok    hello  1 case\n\n1 passed, 0 failed, 1 snapshot recorded in N s\n"
    );
    let snapshot = "tools/hello/tests/__snapshots__/hello--a-b.snap";
    assert_eq!(project.read(snapshot), "--- text\nHello, Ada!\n");
    let new: Vec<String> = tree(project.root()).difference(&before).cloned().collect();
    assert_eq!(new, ["tools/hello/tests/__snapshots__", snapshot]);
    passes(&project);
    project.write("tools/hello/tool.sh", &HELLO.replace("Hello", "Howdy"));
    let changed = test(&project, &["-q"]);
    assert_eq!(
        (changed.code, changed.stdout.as_str()),
        (
            Some(1),
            "\
FAIL hello/A & B
  tools/hello/tests/hello.yaml:1
  the result is not the recorded one; `--update` records it after a look
    @@ -1,2 +1,2 @@
     --- text
    -Hello, Ada!
    +Howdy, Ada!
  standard error:
    a line for the operator
  again: mcp-bash test 'hello/A & B'
"
        )
    );
    // A person looks at the change, and says no, then yes.
    let (shown, code) = Terminal::of_columns(80).run_typing(command(&project, &["--update"]), "what\nn\n");
    assert!(code == Some(1) && shown.contains("+Howdy, Ada!") && shown.contains("1 failed"), "{shown}");
    assert_eq!(project.read(snapshot), "--- text\nHello, Ada!\n");
    let (shown, code) = Terminal::of_columns(80).run_typing(command(&project, &["--update"]), "y\n");
    assert!(code == Some(0) && shown.contains("1 snapshot recorded"), "{shown}");
    assert_eq!(project.read(snapshot), "--- text\nHowdy, Ada!\n");
}

#[test]
fn what_differs_from_run_to_run_is_replaced_in_snapshots() {
    let project = tool(
        "#!/bin/sh\necho \"took $$ ms in $(pwd) and $1\"\nexit 4\n",
        "{ replace: [{ pattern: '\\d+ ms', with: N ms }], expect: { snapshot: true, exit_code: 4 } }",
    );
    assert_eq!(test(&project, &["--update", "--yes"]).code, Some(0));
    assert_eq!(
        project.read("tools/it/tests/__snapshots__/it.snap"),
        "--- failed with exit code 4\n--- text\ntook N ms in ${project} and\n"
    );
    passes(&project);
}

#[test]
fn a_case_file_that_is_wrong_is_named_with_its_line() {
    for (text, problem) in [
        ("- name: x\n  expects: { text: a }\n", "2: a case has no key `expects`; did you mean `expect`?"),
        ("expect:\n  txt: a\n", "2: `expect` has no key `txt`; did you mean `text`?"),
        ("- 1\n", "1: a case is written as `key: value`; this is a number"),
        ("expect: { matches: '(' }\n", "1: `matches` is no regular expression: unclosed group"),
        (
            "files:\n  ../../x: y\n",
            "2: `../../x` leads out of the folder of the case; paths are relative to it",
        ),
        (
            "expect:\n  files: { /etc/passwd: true }\n",
            "2: `/etc/passwd` leads out of the folder of the case; paths are relative to it",
        ),
        ("expect: { text: 1.10 }\n", "1: `text` must be a text; put quotes around it"),
        ("tool: a\nprompt: b\n", "1: a case tests one thing; this one names a `tool` and a `prompt`"),
        ("timeout: 0\n", "1: `timeout` must be more than 0 and at most 86400 seconds"),
        (
            "answers: [maybe]\n",
            "1: `maybe` is no answer; an answer is `accept: {field: value}`, `decline`, `cancel` or `text: …`",
        ),
        (
            "- name: a b\n- name: a-b\n",
            "2: another case of this file is called `a-b` or much like it (line 1)",
        ),
        ("expect: { schema: { type: 7 } }\n", "1: `schema` cannot be used: "),
        ("a: [1\n", "1: this is no YAML that can be read: unclosed bracket '['"),
    ] {
        let project = Project::with_hi().file("tools/hi/tests/x.yaml", text);
        let ran = test(&project, &[]);
        let expected = format!("mcp-bash: tools/hi/tests/x.yaml:{problem}");
        assert!(ran.code == Some(2) && ran.stderr.starts_with(&expected), "{text}\n{ran:#?}");
        let (code, report) = report(&project, &[]);
        assert_eq!((code, &report["problems"][0]["file"]), (Some(2), &json!("tools/hi/tests/x.yaml")));
    }
    let project = Project::with_hi().file("tests/x.yaml", "expect: { text: hi }");
    assert_eq!(
        test(&project, &[]).stderr,
        "mcp-bash: tests/x.yaml:1: there is no tool, prompt or resource called `x`; say what it tests with `tool: NAME`\n"
    );
}

#[test]
fn hostile_case_files_are_refused_at_once() {
    let deep = format!("{}1{}", "[".repeat(200_000), "]".repeat(200_000));
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        bomb = format!("{bomb}a{level}: &a{level} [{aliases}]\n");
    }
    for text in [deep, bomb, "\u{0}\u{1}".to_owned(), "%YAML 9\n---\n\t!!x".to_owned()] {
        let project = Project::with_hi().file("tools/hi/tests/x.yaml", &text);
        let ran = test(&project, &[]);
        assert!(
            ran.code == Some(2) && ran.stderr.len() < 1000,
            "{}",
            &ran.stderr[..ran.stderr.len().min(500)]
        );
    }
    // A pattern that other engines would never be done with.
    let text = "a".repeat(50_000);
    let project = tool(&format!("#!/bin/sh\necho {text}\n"), "expect: { matches: '^(a+)+$', lacks: b }");
    passes(&project);
}

#[test]
fn a_tool_that_hangs_is_ended_with_all_it_started() {
    let project = Project::new()
        .tool("slow", "#!/bin/bash\nsetsid sleep 3600 & echo $! >>pids\nsleep 3600 & echo $! >>pids; echo $$ >>pids\nwait\n")
        .file("tools/slow/tests/slow.yaml", "- timeout: 1.5\n- { tool: hi, name: after it, expect: { text: hi } }\n")
        .tool("hi", "#!/bin/sh\necho hi\n");
    let (code, report) = report(&project, &["-j", "1"]);
    assert_eq!(code, Some(1));
    assert_eq!(
        report["cases"][0]["problems"],
        json!([{ "problem": "it took longer than 1.5 s, and was ended; `timeout` gives it more" }])
    );
    assert_eq!(report["cases"][1]["status"], "passed");
    let pids = project.read("pids");
    assert_eq!(pids.lines().count(), 3);
    for pid in pids.lines() {
        wait_until_gone(pid.parse().unwrap());
    }
}

#[test]
fn a_server_that_dies_fails_its_case_and_no_other() {
    let cases = "- { tool: kill, name: dies }\n- { tool: hi, expect: { text: hi } }\n- { tool: kill, name: dies again }\n";
    let project =
        Project::with_hi().tool("kill", "#!/bin/sh\nkill -9 $PPID\nsleep 3600\n").file("tests/x.yaml", cases);
    let (code, report) = report(&project, &["-j", "1"]);
    assert_eq!((code, &report["passed"], &report["failed"]), (Some(1), &json!(1), &json!(2)));
    let problem = report["cases"][0]["problems"][0]["problem"].as_str().unwrap();
    assert!(problem.starts_with("the server ended before it answered"), "{problem}");
}

#[test]
fn a_server_that_does_not_start_says_why() {
    let project = tool("#!/bin/sh\n", "environment: { MCPBASH_REMOTE_TOKEN: short }");
    let found = problems(&project);
    assert!(found[0].contains("MCPBASH_REMOTE_TOKEN"), "{found:?}");
}

#[test]
fn much_output_and_bytes_do_no_harm() {
    let project = Project::new()
        .tool("much", "#!/bin/sh\nhead -c 50000000 /dev/zero | tr '\\0' x\n")
        .tool("lines", "#!/bin/sh\nseq 1 300000\n")
        .tool("bytes", "#!/bin/sh\nprintf '\\033[31mred\\377\\n'\n")
        .file("tests/x.yaml", "- { tool: much, expect: { text: x } }\n- { tool: lines, expect: { text: x } }\n- { tool: bytes, expect: { text: x } }\n");
    let ran = test(&project, &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.len() < 10_000, "{} bytes", ran.stdout.len());
    assert!(ran.stdout.contains("MCPBASH_MAX_TOOL_OUTPUT_SIZE"), "{}", ran.stdout);
    assert!(!ran.stdout.contains('\u{1b}'), "nothing that a terminal would obey");
}

#[test]
fn many_cases_are_run_at_once_and_told_in_their_order() {
    let cases: Vec<String> =
        (0..200).map(|n| format!("- {{ name: case {n}, expect: {{ text: hi }} }}\n")).collect();
    let project = Project::with_hi().file("tools/hi/tests/many.yaml", &cases.concat());
    let (code, report) = report(&project, &["-j", "4"]);
    assert_eq!((code, &report["passed"]), (Some(0), &json!(200)));
    let names: Vec<&str> =
        report["cases"].as_array().unwrap().iter().map(|case| case["name"].as_str().unwrap()).collect();
    assert!(names.iter().enumerate().all(|(n, name)| *name == format!("case {n}")), "{names:?}");
    // Each waits for the other.
    let project = Project::new()
        .gate()
        .tool("wait", "#!/bin/sh\nread line <gate\necho \"$line\"\n")
        .tool("go", "#!/bin/sh\necho now >gate\n")
        .file("tests/both.yaml", "- { tool: wait, expect: { text: now } }\n- { tool: go, name: b }\n");
    assert_eq!(test(&project, &["-j", "2"]).code, Some(0));
}

#[test]
fn the_report_goes_where_it_is_sent_and_nothing_is_replaced_by_it() {
    let project =
        tool("#!/bin/sh\necho hi\n", "- { name: a, expect: { text: hi } }\n").file("real.xml", "old");
    let (link, pipe) = (project.path("link.xml"), project.path("pipe"));
    std::os::unix::fs::symlink("real.xml", &link).unwrap();
    assert_eq!(test(&project, &["--junit", link.to_str().unwrap()]).code, Some(0));
    assert!(link.is_symlink() && project.read("real.xml").starts_with("<?xml"));
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    assert_eq!(test(&project, &["--junit", pipe.to_str().unwrap()]).code, Some(0));
    assert!(pipe.metadata().unwrap().file_type().is_fifo(), "it is still one");
    assert!(reader.join().unwrap().ends_with("</testsuites>\n"));
    let Ran { code, stdout, .. } = test(&project, &["--junit", "-"]);
    assert_eq!(code, Some(0));
    assert!(stdout.starts_with("<?xml") && stdout.ends_with("</testsuites>\n"), "{stdout}");
    let both = test(&project, &["--junit", "-", "--json"]);
    assert_eq!((both.code, &*both.stdout), (Some(2), ""));
    let missing = test(&project, &["--junit", "no/report.xml"]);
    assert_eq!((missing.code, project.path("no").exists()), (Some(1), false));
    assert!(missing.stderr.contains("failed to write no/report.xml: No such file"), "{missing:?}");
}

#[test]
fn without_a_folder_for_temporary_files_the_folder_is_named() {
    let project = tool("#!/bin/sh\necho hi\n", "- { name: a, expect: { text: hi } }\n");
    for words in [&["test"][..], &["call", "it"]] {
        let mut command = Server::command();
        command.args(words).current_dir(project.root()).env("TMPDIR", "/no/such").env("HOME", "/no/home");
        command.env_remove("XDG_CACHE_HOME");
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {told}");
        assert!(told.contains("in /no/such"), "{words:?}: {told}");
        assert!(told.contains("set TMPDIR to a folder that you may write to"), "{words:?}: {told}");
    }
}

#[test]
fn the_report_for_machines() {
    let project = tool(
        "#!/bin/sh\nprintf '<&\\033\"'\necho oops >&2\n",
        "- { name: 'a<b', expect: { text: \"]]>\" } }\n- { name: b, skip: \"later\" }\n",
    );
    let file = project.path("report.xml");
    assert_eq!(test(&project, &["--junit", file.to_str().unwrap()]).code, Some(1));
    let xml = project.read("report.xml");
    let xml = regexless_times(&xml);
    assert_eq!(
        xml,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"mcp-bash\" tests=\"2\" failures=\"1\" skipped=\"1\" time=\"T\">
  <testsuite name=\"it\" tests=\"2\" failures=\"1\" skipped=\"1\" time=\"T\">
    <testcase name=\"a&lt;b\" classname=\"it\" file=\"tools/it/tests/it.yaml\" line=\"1\" time=\"T\">
      <failure message=\"the text is another\">the text is another&#10;@@ -1,1 +1,1 @@&#10;-]]&gt;&#10;+&lt;&amp;\u{fffd}&quot;&#10;</failure>
      <system-err>oops</system-err>
    </testcase>
    <testcase name=\"b\" classname=\"it\" file=\"tools/it/tests/it.yaml\" line=\"2\" time=\"T\"><skipped message=\"later\"/></testcase>
  </testsuite>
</testsuites>
"
    );
    let (_, mut report) = report(&project, &[]);
    for case in report["cases"].as_array_mut().unwrap() {
        case["durationMs"] = json!(0);
    }
    report["durationMs"] = json!(0);
    assert_eq!(
        report,
        json!({
            "passed": 0, "failed": 1, "skipped": 1, "notRun": 0, "recorded": 0, "durationMs": 0,
            "cases": [
                { "id": "it/a<b", "name": "a<b", "kind": "tool", "subject": "it", "file": "tools/it/tests/it.yaml",
                  "line": 1, "status": "failed", "durationMs": 0, "stderr": "oops",
                  "problems": [{ "problem": "the text is another", "diff": "@@ -1,1 +1,1 @@\n-]]>\n+<&\u{1b}\"" }] },
                { "id": "it/b", "name": "b", "kind": "tool", "subject": "it", "file": "tools/it/tests/it.yaml",
                  "line": 2, "status": "skipped", "durationMs": 0, "reason": "later" },
            ],
            "programs": [],
            "toolsWithoutTest": [],
        })
    );
}

/// The text with `T` for each time.
fn regexless_times(xml: &str) -> String {
    let mut parts = xml.split("time=\"");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let rest = part.split_once('"').map_or("", |(_, rest)| rest);
        format!("{text}time=\"T\"{rest}")
    })
}

#[test]
fn tools_without_a_test_can_be_a_failure() {
    let project = Project::with_hi()
        .tool("other", "#!/bin/sh\n")
        .file("tools/hi/tests/hi.yaml", "expect: { text: hi }");
    assert_eq!(test(&project, &[]).code, Some(0));
    let strict = test(&project, &["--require-tests", "-q"]);
    assert_eq!((strict.code, strict.stdout.as_str()), (Some(1), "Tools without a test: other\n"));
    let empty = test(&Project::with_hi(), &[]);
    assert_eq!(
        (empty.code, empty.stdout.as_str()),
        (
            Some(0),
            "Tools without a test: hi\n\nNo tests yet. A case is a few lines in `tools/NAME/tests/NAME.yaml`: see docs/testing.md\n"
        )
    );
}

#[test]
fn programs_in_test_are_run_and_counted() {
    let project = Project::with_hi()
        .script("test/run.sh", "#!/bin/sh\n[ \"$MCPBASH_PROJECT_ROOT\" = \"$PWD\" ] && mcp-bash --version\n")
        .script("test/fails.sh", "#!/bin/sh\necho going wrong\n(sleep 3600 &)\nexit 7\n")
        .script("test/test_helper.bash", "#!/bin/sh\nexit 1\n")
        .script("test/notes.md", "no program")
        .file("test/not-executable.sh", "#!/bin/sh\nexit 1\n")
        .file("test/a.bats", "@test x { true; }\n");
    // A stand-in for bats.
    let bin = Project::new().script(
        "bats",
        "#!/bin/sh\n[ \"$1\" = --tap ] && printf '1..3\\nok 1 a\\nnot ok 2 b\\nok 3 c # skip\\n'\nexit 1\n",
    );
    let path = format!("{}:{}", bin.root().display(), std::env::var("PATH").unwrap());
    let mut with_bats = command(&project, &[]);
    with_bats.env("PATH", path);
    assert_eq!(
        ran(with_bats),
        Ran {
            code: Some(1),
            stdout: "\
FAIL  test/a.bats  3 tests, 1 failed, 1 skipped
FAIL  test/fails.sh  1 test, 1 failed
ok    test/run.sh  1 test

FAIL test/a.bats
  it printed:
    1..3
    ok 1 a
    not ok 2 b
    ok 3 c # skip
  again: mcp-bash test test/a.bats

FAIL test/fails.sh
  it ended with exit status: 7
  it printed:
    going wrong
  again: mcp-bash test test/fails.sh

Tools without a test: hi

2 passed, 2 failed, 1 skipped in N s
"
            .to_owned(),
            stderr: String::new(),
        }
    );
    let without_bats = |arguments: &[&str]| {
        let mut command = command(&project, arguments);
        command.env("PATH", path_without_bats());
        ran(command)
    };
    let missing = without_bats(&["a.bats", "-q"]);
    assert_eq!(
        (missing.code, missing.stdout.as_str()),
        (Some(1), "miss  test/a.bats: `bats` is not installed; install it, or pass `--allow-missing`\n")
    );
    assert_eq!(without_bats(&["a.bats", "--allow-missing"]).code, Some(0));
}

/// The folders of the search path that hold no bats.
fn path_without_bats() -> String {
    let path = std::env::var("PATH").unwrap();
    path.split(':').filter(|folder| !Path::new(folder).join("bats").exists()).collect::<Vec<_>>().join(":")
}

/// A test run that goes on until it is told to end, and what it has printed so far.
struct Running {
    child: Child,
    output: std::path::PathBuf,
    _folder: tempfile::TempDir,
}

impl Running {
    fn start(mut command: Command) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("output");
        let file = std::fs::File::create(&output).unwrap();
        command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
        Self { child: command.spawn().unwrap(), output, _folder: folder }
    }

    fn wait_for(&self, text: &str, times: usize) {
        let read = || std::fs::read_to_string(&self.output).unwrap_or_default();
        wait_until(&format!("`{text}`, {times} times"), || {
            (read().matches(text).count() >= times).then_some(())
        });
    }

    fn interrupt(mut self) -> (Option<i32>, String) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let code = self.child.wait().unwrap().code();
        let mut text = String::new();
        std::fs::File::open(&self.output).unwrap().read_to_string(&mut text).unwrap();
        (code, without_times(&text))
    }
}

#[test]
fn a_change_runs_again_what_it_concerns() {
    let project = hello("{ arguments: { name: x }, expect: { text: 'Hello, x!' } }")
        .tool("hi", "#!/bin/sh\necho hi\n")
        .file("tools/hi/tests/hi.yaml", "expect: { text: hi }");
    let running = Running::start(command(&project, &["--watch", "-v"]));
    running.wait_for("Waiting for changes", 1);
    project.write("tools/hi/tool.sh", "#!/bin/sh\necho ho\n");
    running.wait_for("Waiting for changes", 2);
    project.write("tools/hi/tests/hi.yaml", "expect: { text: ho }");
    running.wait_for("Waiting for changes", 3);
    project.write("tools/hi/tests/hi.yaml", "expect: { tex: ho }");
    running.wait_for("Waiting for changes", 4);
    let (code, text) = running.interrupt();
    assert_eq!(code, Some(130));
    assert_eq!(
        text,
        "\
ok    hello/hello (N ms)
ok    hi/hi (N ms)

2 passed, 0 failed in N s

Waiting for changes; Ctrl-C ends.

tools/hi/tool.sh changed.
FAIL  hi/hi (N ms)

FAIL hi/hi
  tools/hi/tests/hi.yaml:1
  the text is another
    @@ -1,1 +1,1 @@
    -hi
    +ho
  again: mcp-bash test hi/hi

0 passed, 1 failed in N s

Waiting for changes; Ctrl-C ends.

tools/hi/tests/hi.yaml changed.
ok    hi/hi (N ms)

1 passed, 0 failed in N s

Waiting for changes; Ctrl-C ends.

tools/hi/tests/hi.yaml changed.
mcp-bash: tools/hi/tests/hi.yaml:1: `expect` has no key `tex`; did you mean `text`?

Waiting for changes; Ctrl-C ends.
"
    );
}

#[test]
fn tests_that_change_the_project_do_not_run_for_ever() {
    let project = tool("#!/bin/sh\ndate +%N >>tools/it/log\n", "{}");
    let running = Running::start(command(&project, &["--watch"]));
    running.wait_for("Waiting for changes", 1);
    let (code, text) = running.interrupt();
    assert_eq!((code, text.matches("1 passed").count()), (Some(130), 2), "{text}");
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    std::fs::set_permissions(temporary.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let project = Project::new()
        .waiting_tool("slow")
        .file("tools/slow/tests/slow.yaml", "- { name: a }\n- { name: b }\n- { name: c }\n");
    let mut slow = command(&project, &["-j", "2"]);
    slow.env("TMPDIR", temporary.path());
    let running = Running::start(slow);
    let pids = project.wait_for_started(2);
    assert_eq!(running.interrupt(), (Some(130), "mcp-bash: interrupted\n".to_owned()));
    assert!(pids.iter().all(|pid| !exists(*pid)));
    assert_eq!(tree(temporary.path()), BTreeSet::new());
}

#[test]
fn a_run_that_is_killed_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let project = Project::new().waiting_tool("slow").file("tools/slow/tests/slow.yaml", "- { name: a }\n");
    let mut slow = command(&project, &[]);
    slow.env("TMPDIR", temporary.path());
    let mut running = Running::start(slow);
    let pids = project.wait_for_started(1);
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    pids.into_iter().for_each(wait_until_gone);
    wait_until("an empty folder", || tree(temporary.path()).is_empty().then_some(()));
}

#[test]
fn the_help_shows_examples() {
    let help = ran({
        let mut command = Server::command();
        command.args(["test", "--help"]);
        command
    });
    assert_eq!(help.code, Some(0));
    let (usage, examples) = help.stdout.split_once("Examples:\n").expect("examples");
    assert!(usage.starts_with("Run the tests of the project against a real server"), "{usage}");
    assert_eq!(
        examples,
        "  mcp-bash test                               all tests of the project
  mcp-bash test hello                         those of one tool, or of files with that name
  mcp-bash test 'hello/greets by name' -v     one case
  mcp-bash test --update                      look at changed results and record them
  mcp-bash test --watch                       again and again, as you write
  mcp-bash test --junit report.xml            for a CI service
  mcp-bash test --contract                    does a change break clients?

A case is a few lines of YAML in tools/NAME/tests/:
  - name: greets by name
    arguments: { name: Ada }
    expect: { text: \"Hello, Ada!\" }

Exit codes: 0 all passed, 1 some failed, 2 a case file cannot be read, 4 nothing matches,
130 Ctrl-C.
docs/testing.md says what a case can hold.
"
    );
}

#[test]
fn the_cases_of_the_page_about_tests_can_be_used() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/testing.md");
    let page = std::fs::read_to_string(page).expect("docs/testing.md");
    let snippet = |named: &str| {
        let (_, rest) = page.split_once(&format!("```yaml {named}\n")).expect(named);
        rest.split_once("```").expect("an end").0.to_owned()
    };
    let project = hello(&snippet("tools/hello/tests/hello.yaml"));
    assert_eq!(test(&project, &[]).stdout, "ok    hello  2 cases\n\n2 passed, 0 failed in N s\n");
    let project = Project::with_hi().file("tests/more.yaml", &snippet("tests/more.yaml"));
    assert_eq!(test(&project, &["--list"]).stdout.lines().count(), 4);
}

/// All files and folders below one, by their path.
fn tree(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut left = vec![root.to_owned()];
    while let Some(folder) = left.pop() {
        // What is being removed meanwhile is not there.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            found.insert(entry.path().strip_prefix(root).unwrap().to_string_lossy().into_owned());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                left.push(entry.path());
            }
        }
    }
    found
}
