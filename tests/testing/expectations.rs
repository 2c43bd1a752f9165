//! The expectations of a case, and snapshots.

use super::{HELLO, Ran, command, hello, passes, problems, test, tool, tree};
use crate::harness::{Project, Terminal};

#[test]
fn each_expectation_can_fail_with_a_message() {
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
fn snapshots_are_recorded_after_a_review_and_compared() {
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
    // A user reviews the change, and declines, then accepts.
    let (shown, code) = Terminal::of_columns(80).run_typing(command(&project, &["--update"]), "what\nn\n");
    assert!(code == Some(1) && shown.contains("+Howdy, Ada!") && shown.contains("1 failed"), "{shown}");
    assert_eq!(project.read(snapshot), "--- text\nHello, Ada!\n");
    let (shown, code) = Terminal::of_columns(80).run_typing(command(&project, &["--update"]), "y\n");
    assert!(code == Some(0) && shown.contains("1 snapshot recorded"), "{shown}");
    assert_eq!(project.read(snapshot), "--- text\nHowdy, Ada!\n");
}

#[test]
fn values_that_vary_are_replaced_in_snapshots() {
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
