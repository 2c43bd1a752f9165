//! Cases with several steps, and the server that each case has for itself or shares.

use super::{passes, report, test};
use crate::harness::Project;
use serde_json::json;
use std::collections::HashSet;

/// A store of notes: `add` keeps a note and prints its number, `show` prints a note; `server` prints the server's process id.
fn notes() -> Project {
    Project::new()
        .file(
            "tools/add/tool.meta.json",
            r#"{"name": "add", "argv": ["{dir}", "{text}"],
                "inputSchema": {"type": "object", "required": ["dir", "text"],
                  "properties": {"dir": {"type": "string"}, "text": {"type": "string"}}}}"#,
        )
        .script(
            "tools/add/tool.sh",
            "#!/bin/sh\nprintf '%s' \"$2\" > \"$1/41\"\nprintf '{\"id\": 41, \"path\": \"%s\"}' \"$1/41\"\n",
        )
        .file(
            "tools/show/tool.meta.json",
            r#"{"name": "show", "argv": ["{dir}", "{id}"],
                "inputSchema": {"type": "object", "required": ["dir", "id"],
                  "properties": {"dir": {"type": "string"}, "id": {"type": "integer"}}}}"#,
        )
        .script("tools/show/tool.sh", "#!/bin/sh\necho \"note $2:\"; cat \"$1/$2\"\n")
        .tool("server", "#!/bin/sh\necho \"$PPID\"\n")
        .file("prompts/review.md", "Review note {{id}}")
        .file(
            "prompts/review.meta.json",
            r#"{"name": "review", "description": "Reviews", "path": "review.md",
                "arguments": {"type": "object", "properties": {"id": {"type": "string"}}}}"#,
        )
}

#[test]
fn steps_run_in_order_and_carry_values_along() {
    let project = notes().file(
        "tests/notes.yaml",
        r#"
- name: a note is kept
  steps:
    - tool: add
      arguments: { dir: "${dir}", text: buy milk }
      keep: { id: /id, whole: text, digits: { matches: 'id": (\d)' } }
    - tool: show
      arguments: { dir: "${dir}", id: "${id}" }
      expect: { text: "note ${id}:\nbuy milk", lacks: "${whole}" }
    - prompt: review
      arguments: { id: "${digits}-${id}" }
      expect: { contains: "Review note 4-41" }
"#,
    );
    passes(&project);
}

#[test]
fn the_step_that_fails_is_named_and_the_next_does_not_run() {
    let project = notes().file(
        "tests/notes.yaml",
        r#"
- name: a note is kept
  steps:
    - tool: add
      arguments: { dir: "${dir}", text: buy milk }
    - tool: show
      arguments: { dir: "${dir}", id: 40 }
    - tool: add
      arguments: { dir: "${project}", text: never }

- name: a value that is not there
  steps:
    - tool: add
      arguments: { dir: "${dir}", text: x }
      keep: { id: /number }
    - tool: show
      arguments: { dir: "${dir}", id: "${id}" }
"#,
    );
    let (code, report) = report(&project, &[]);
    assert_eq!(code, Some(1));
    let problem =
        |case: usize| report["cases"][case]["problems"][0]["problem"].as_str().unwrap_or_default().to_owned();
    assert!(problem(0).starts_with("step 2 (tool `show`, line 6): it is an error"), "{report:#}");
    assert_eq!(problem(1), "step 1 (tool `add`, line 13): the result has no `/number` to keep as `id`");
    assert!(!project.root().join("41").exists());
}

#[test]
fn each_case_has_a_server_of_its_own_unless_it_shares_one() {
    let shared = "- { name: NAME, tool: server, share: true, expect: { snapshot: true } }\n";
    let own = "- { name: NAME, tool: server, expect: { snapshot: true } }\n";
    let cases: String = [("a", shared), ("b", own), ("c", shared), ("d", own), ("e", shared)]
        .map(|(name, text)| text.replace("NAME", name))
        .concat();
    let project = notes().file("tests/servers.yaml", &cases);
    test(&project, &["--update", "--yes", "-j", "2"]);
    let process = |name: &str| {
        project
            .read(&format!("tests/__snapshots__/servers--{name}.snap"))
            .lines()
            .last()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!((process("a"), process("a")), (process("c"), process("e")));
    let different: HashSet<String> = ["a", "b", "d"].map(process).into();
    assert_eq!(different.len(), 3, "{different:?}");
}

#[test]
fn a_server_that_dies_in_a_shared_case_is_replaced_for_the_next() {
    let project = notes().tool("die", "#!/bin/sh\nkill -9 $PPID; sleep 9\n").file(
        "tests/servers.yaml",
        "- { name: dies, tool: die, share: true }\n- { name: lives, tool: server, share: true }\n",
    );
    let (code, report) = report(&project, &[]);
    let status = |case: usize| report["cases"][case]["status"].clone();
    assert_eq!((code, status(0), status(1)), (Some(1), json!("failed"), json!("passed")), "{report:#}");
}

#[test]
fn steps_have_snapshots_of_their_own() {
    let project = notes().file(
        "tests/notes.yaml",
        r#"
- name: two
  steps:
    - { tool: add, arguments: { dir: "${dir}", text: one }, expect: { snapshot: true } }
    - { tool: show, arguments: { dir: "${dir}", id: 41 }, expect: { snapshot: true } }
"#,
    );
    let missing = test(&project, &[]);
    assert!(
        missing.code == Some(1) && missing.stdout.matches("there is no snapshot yet").count() == 2,
        "{missing:#?}"
    );
    test(&project, &["--update", "--yes"]);
    assert!(project.read("tests/__snapshots__/notes--two.snap").contains("\"id\""));
    assert!(project.read("tests/__snapshots__/notes--two--step-2.snap").contains("one"));
    passes(&project);
}

#[test]
fn wrong_steps_are_refused_with_their_line() {
    for (text, problem) in [
        ("steps: []\n", "1: `steps` needs at least one step"),
        ("tool: add\nsteps: [{ tool: add }]\n", "1: `tool` belongs in one of the `steps` of this case"),
        ("steps:\n  - { tool: add, files: {} }\n", "2: a step has no key `files`"),
        ("steps:\n  - { tool: add, keep: { dir: /a } }\n", "2: `dir` cannot name a kept value"),
        ("steps:\n  - { tool: add, keep: { id: a } }\n", "2: `a` is neither `text`, nor a JSON pointer"),
        (
            "steps:\n  - { tool: add, keep: { id: /id } }\n  - { tool: show, arguments: { id: \"${ids}\" } }\n",
            "3: no earlier step keeps `ids`; did you mean `${id}`?",
        ),
        (
            "steps:\n  - { tool: add, arguments: { text: \"${id}\" }, keep: { id: /id } }\n",
            "2: `${id}` is kept by this step, and only later steps can use it",
        ),
    ] {
        let project = notes().file("tests/x.yaml", text);
        let ran = test(&project, &[]);
        let expected = format!("mcp-bash: tests/x.yaml:{problem}");
        assert!(ran.code == Some(2) && ran.stderr.starts_with(&expected), "{text}\n{ran:#?}");
    }
}
