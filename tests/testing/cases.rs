//! Cases: how they are found, what they contain, and how they run.

use super::{Ran, command, hello, passes, problems, ran, report, test, tool, tree};
use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::path::Path;

#[test]
fn cases_that_pass_and_one_that_fails() {
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
fn cases_can_be_listed_and_selected() {
    let project = hello("- {name: one, arguments: {name: A}}\n- {name: one more, arguments: {name: B}}\n")
        .script("test/run.sh", "#!/bin/sh\n");
    assert_eq!(
        test(&project, &["--list"]).stdout,
        "hello/one  tools/hello/tests/hello.yaml:1\nhello/one more  tools/hello/tests/hello.yaml:2\ntest/run.sh\n"
    );
    // The exact name of a case selects only that case; any other text selects all cases that contain it.
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
    // Files of tests are never served.
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
        // A late import must still work, although each case starts with an empty home.
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
fn a_project_folder_can_have_any_name() {
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
fn a_case_has_its_own_files_answers_roots_and_environment() {
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
fn questions_and_answers_that_do_not_match_are_reported() {
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
fn cases_run_concurrently_and_are_reported_in_order() {
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
  mcp-bash test --url https://example.com/mcp the same cases with a server that is running

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
