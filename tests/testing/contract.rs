//! `mcp-bash test --contract`: records what clients see, and compares it.

use crate::harness::Project;
use crate::testing::{Ran, hello, report, test};
use serde_json::json;

/// A project with an entry of each kind.
fn surface() -> Project {
    hello("{ arguments: { name: x } }")
        .file("resources/a.txt", "a")
        .file("prompts/p.md", "p {{x}}")
        .file("prompts/p.meta.json", r#"{"arguments": [{"name": "x"}]}"#)
}

#[test]
fn the_contract_records_what_clients_see() {
    let project = surface();
    assert_eq!(
        test(&project, &["--contract"]),
        Ran {
            code: Some(1),
            stdout: String::new(),
            stderr: "mcp-bash: there is no tests/contract.json yet; `mcp-bash test --contract --update` records what \
                     clients see now\n"
                .to_owned(),
        }
    );
    assert_eq!(
        test(&project, &["--contract", "--update"]).stdout,
        "Recorded 1 tool, 1 prompt, 1 resource, 0 resource templates in tests/contract.json. Commit it: it is what \
         clients rely on.\n"
    );
    assert_eq!(
        project.read("tests/contract.json"),
        r#"{
  "format": 1,
  "tools": {
    "hello": {
      "description": "Greets",
      "inputSchema": {
        "properties": {
          "name": {
            "type": "string"
          }
        },
        "required": [
          "name"
        ],
        "type": "object"
      }
    }
  },
  "prompts": {
    "p": {
      "arguments": [
        {
          "name": "x",
          "required": false
        }
      ]
    }
  },
  "resources": {
    "file://${project}/resources/a.txt": {
      "mimeType": "text/plain",
      "name": "a"
    }
  },
  "resourceTemplates": {}
}
"#
    );
    assert_eq!(
        test(&project, &["--contract"]),
        Ran {
            code: Some(0),
            stdout: "Nothing has changed: 1 tool, 1 prompt, 1 resource, 0 resource templates as in \
                     tests/contract.json\n"
                .to_owned(),
            stderr: String::new(),
        }
    );
}

#[test]
fn a_breaking_change_is_reported_and_fails() {
    let project = surface();
    assert_eq!(test(&project, &["--contract", "--update"]).code, Some(0));
    let project = project
        .file(
            "tools/hello/tool.meta.json",
            r#"{"name": "hello", "description": "Greets people", "inputSchema": {"type": "object", "required": ["who"],
               "properties": {"who": {"type": "string"}, "loud": {"type": "boolean"}}}}"#,
        )
        .file("prompts/p.meta.json", r#"{"arguments": [{"name": "x", "required": true}]}"#)
        .tool("bye", "#!/bin/sh\n");
    project.remove("resources/a.txt");
    assert_eq!(
        test(&project, &["--contract"]),
        Ran {
            code: Some(1),
            stdout: "\
BREAKING    tool `hello`: the argument `name` is removed (inputSchema.properties.name)
BREAKING    tool `hello`: the argument `who` is new and required (inputSchema.properties.who)
BREAKING    prompt `p`: the argument `x` is required now (arguments.x)
BREAKING    resource `file://${project}/resources/a.txt` is removed
wording     tool `hello`: `description` was \"Greets\", and is \"Greets people\" (description)
compatible  tool `hello`: the argument `loud` is new (inputSchema.properties.loud)
compatible  tool `bye` is new

7 changes: 4 breaking, 1 of wording, 2 compatible
What clients rely on would stop working. If that is meant, `mcp-bash test --contract --update` records it.
"
            .to_owned(),
            stderr: String::new(),
        }
    );
    let (code, told) = report(&project, &["--contract"]);
    assert_eq!((code, &told["breaking"], &told["recorded"]), (Some(1), &json!(4), &json!(false)));
    assert_eq!(
        told["changes"][0],
        json!({ "class": "breaking", "kind": "tool", "name": "hello", "place": "inputSchema.properties.name",
            "change": "the argument `name` is removed" })
    );
    assert_eq!(test(&project, &["--contract", "--update"]).code, Some(2), "there is nobody to ask");
    assert_eq!(test(&project, &["--contract", "--update", "--yes"]).code, Some(0));
    // Additions do not fail.
    let project = project.tool("more", "#!/bin/sh\n");
    let added = test(&project, &["--contract"]);
    assert!(
        added.code == Some(0) && added.stdout.starts_with("compatible  tool `more` is new\n"),
        "{added:?}"
    );
    project.write("tests/contract.json", "{ nonsense");
    let broken = test(&project, &["--contract"]);
    assert!(
        broken.code == Some(2) && broken.stderr.contains("tests/contract.json cannot be used"),
        "{broken:?}"
    );
}
