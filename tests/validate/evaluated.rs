//! Arguments that a shell script evaluates as numbers: a caller can run a command with such a text.

use super::{findings, validate};
use crate::harness::{Project, Server};
use serde_json::{Value, json};

/// With the name of a variable that is set, so that `set -u` does not prevent it.
const HOSTILE: &str = "PATH[$(touch run-by-caller)]";

fn tool(script: &str, metadata: &Value) -> Project {
    let mut whole = json!({ "name": "it", "description": "It", "annotations": { "readOnlyHint": true } });
    whole.as_object_mut().expect("an object").extend(metadata.as_object().expect("an object").clone());
    Project::new().script("tools/it/tool.sh", script).file("tools/it/tool.meta.json", &whole.to_string())
}

fn taking(name: &str, schema: &Value) -> Value {
    json!({ "type": "object", "properties": { name: schema }, "required": [name] })
}

/// The warnings about evaluated arguments, each `LINE ARGUMENT`.
fn warnings(project: &Project) -> Vec<String> {
    let text = findings(project);
    let lines = text.lines().filter(|line| line.contains("and bash runs the command in a text like"));
    let shown = |line: &str| {
        let (place, rest) = line.split_once(" - ")?;
        let argument = rest.split_once("argument `")?.1.split_once('`')?.0;
        Some(format!("{} {argument}", place.rsplit_once(':')?.1))
    };
    lines.map(|line| shown(line).unwrap_or_else(|| panic!("{line}"))).collect()
}

/// Calls the tool of a project with one argument, and says whether a command in it was run.
fn runs_command(project: &Project, name: &str) -> bool {
    let argument = format!("{name}={HOSTILE}");
    let output = Server::command()
        .args(["call", "it", &argument])
        .current_dir(project.root())
        .output()
        .expect("the binary runs");
    let is_run = project.path("run-by-caller").exists();
    assert!(is_run || !output.status.success(), "{output:?}");
    is_run
}

/// Each way that a text takes into an expression: there is a warning, and a caller really can run a command. With the fix
/// there is neither.
#[test]
fn what_a_caller_can_run_is_warned_of_and_what_the_advice_fixes_is_not() {
    const SDK: &str = "#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\n";
    for (script, mapping, line) in [
        (format!("{SDK}n=$(mcp_args_get .n)\necho $(( n * 2 ))\n"), json!({}), 4),
        (format!("{SDK}n=$(mcp_args_require .n)\nif [[ $n -gt 5 ]]; then echo many; fi\n"), json!({}), 4),
        ("#!/bin/bash\nn=$(jq -r .n)\nlet m=n+1\n".to_owned(), json!({}), 3),
        ("#!/bin/bash\nargs=$(cat)\ndeclare -i n\nn=$(jq -r .n <<<\"$args\")\n".to_owned(), json!({}), 4),
        ("#!/bin/bash\nlist=(a b c)\necho \"${list[$1]}\"\n".to_owned(), json!({ "argv": ["{n}"] }), 3),
        ("#!/bin/bash\ntext=abc\necho \"${text:$2:1}\"\n".to_owned(), json!({ "argv": ["of", "{n}"] }), 3),
        (
            "#!/bin/bash\nwhile getopts n: o; do case $o in n) N=$OPTARG;; esac; done\necho $(( N ))\n"
                .to_owned(),
            json!({ "argv": ["-n", "{n}"] }),
            3,
        ),
        ("#!/bin/bash\n(( COUNT > 3 )) && echo many\n".to_owned(), json!({ "env": { "COUNT": "{n}" } }), 2),
        ("#!/bin/bash\nread -r n\necho $(( n ))\n".to_owned(), json!({ "stdin": "{n}" }), 3),
    ] {
        let with = |schema: Value| {
            let mut metadata = mapping.clone();
            metadata["inputSchema"] = taking("n", &schema);
            tool(&script, &metadata)
        };
        let open = with(json!({ "type": "string" }));
        assert_eq!(warnings(&open), [format!("{line} n")], "{script}\n{}", findings(&open));
        assert!(runs_command(&open, "n"), "{script}");
        for schema in [
            json!({ "type": "integer" }),
            json!({ "type": "string", "pattern": "^[0-9]+$" }),
            json!({ "type": "string", "enum": ["1", "2"] }),
        ] {
            let closed = with(schema);
            assert_eq!(validate(&closed, &["--strict"]).0, 0, "{script}\n{}", findings(&closed));
            assert!(!runs_command(&closed, "n"), "{script}");
        }
    }
}

#[test]
fn the_message_names_argument_line_and_fix() {
    let project = tool(
        "#!/bin/bash\necho start\necho $(( $1 + 1 ))\n",
        &json!({ "argv": ["{count}"], "inputSchema": taking("count", &json!({ "type": "string" })) }),
    );
    let expected = "⚠ tools/it/tool.sh:3 - evaluates as a number the text of the argument `count`, and bash runs the command in a \
        text like `a[$(id)]`\n    → declare it with `\"type\": \"integer\"` in the `inputSchema`, or with a `pattern` that only \
        numbers fit\n";
    assert_eq!(findings(&project), expected);
    assert_eq!(validate(&project, &["--strict"]).0, 1);
}

/// What a script may do with a text, and schemas that allow no hostile one.
#[test]
fn what_no_caller_can_use_is_not_warned_of() {
    const SDK: &str = "#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\n";
    let text = json!({ "type": "string" });
    for (script, metadata) in [
        (format!("{SDK}n=$(mcp_args_int .n)\necho $(( n ))\n"), json!({ "inputSchema": taking("n", &text) })),
        (
            format!("{SDK}n=$(mcp_args_get .n)\n[[ $n =~ ^[0-9]+$ ]] || exit 1\necho $(( n ))\n"),
            json!({ "inputSchema": taking("n", &text) }),
        ),
        (
            format!("{SDK}n=$(mcp_args_get .n)\ncase $n in ''|*[!0-9]*) exit 1;; esac\necho $(( n ))\n"),
            json!({ "inputSchema": taking("n", &text) }),
        ),
        (
            format!("{SDK}n=$(mcp_args_get .n)\necho \"${{#n}}\" $(( ${{#n}} + 1 ))\n"),
            json!({ "inputSchema": taking("n", &text) }),
        ),
        (
            "#!/bin/dash\necho $(( $1 ))\n".to_owned(),
            json!({ "argv": ["{n}"], "inputSchema": taking("n", &text) }),
        ),
        (
            "#!/bin/bash\n[ \"$1\" -gt 3 ] && echo many\ntrue\n".to_owned(),
            json!({ "argv": ["{n}"], "inputSchema": taking("n", &text) }),
        ),
        (
            "#!/bin/bash\nn=$(curl -s localhost:1 | jq -r .n)\necho $(( n ))\n".to_owned(),
            json!({ "inputSchema": taking("n", &text) }),
        ),
        (
            "#!/bin/bash\necho $(( $1 ))\n".to_owned(),
            json!({ "argv": ["{n}"], "inputSchema": taking("n", &text), "unrestrictedArguments": { "n": "only I call it" } }),
        ),
        (
            "#!/bin/bash\necho $(( $1 )) \"$2\"\n".to_owned(),
            json!({ "argv": ["5", "{n}"], "inputSchema": taking("n", &text) }),
        ),
    ] {
        let project = tool(&script, &metadata);
        assert_eq!(warnings(&project), Vec::<String>::new(), "{script}");
    }
    for schema in [
        json!({ "type": "boolean" }),
        json!({ "type": "number", "minimum": 0 }),
        json!({ "type": ["integer", "null"] }),
        json!({ "enum": ["small", "large"] }),
        json!({ "const": "x" }),
        json!({ "type": "string", "pattern": "^(?:[0-9]{1,3}|none)$" }),
        json!({ "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" }),
        json!({ "anyOf": [{ "type": "integer" }, { "enum": ["all"] }] }),
        json!({ "$ref": "#/$defs/count" }),
    ] {
        let mut input = taking("n", &schema);
        input["$defs"] = json!({ "count": { "type": "integer" } });
        let project =
            tool("#!/bin/bash\necho $(( $1 ))\n", &json!({ "argv": ["{n}"], "inputSchema": input }));
        assert_eq!(warnings(&project), Vec::<String>::new(), "{schema}");
    }
    for schema in [
        json!({}),
        json!({ "type": ["string", "integer"] }),
        json!({ "type": "string", "pattern": "[0-9]+" }),
        json!({ "type": "string", "pattern": "^[0-9]+" }),
        json!({ "type": "string", "minLength": 1 }),
        json!({ "anyOf": [{ "type": "integer" }, { "type": "string" }] }),
    ] {
        let input = taking("n", &schema);
        let project =
            tool("#!/bin/bash\necho $(( $1 ))\n", &json!({ "argv": ["{n}"], "inputSchema": input }));
        assert_eq!(warnings(&project), ["2 n"], "{schema}");
    }
}

#[test]
fn lists_parts_names_and_scripts_of_commands_are_judged_too() {
    let list = json!({ "type": "array", "items": { "type": "string" } });
    for (script, metadata, expected) in [
        (
            "for n in \"$@\"; do (( sum += n )); done\n",
            json!({ "argv": ["{n...}"], "inputSchema": taking("n", &list) }),
            "declare it with",
        ),
        (
            "IFS=: read -r h m <<< \"$1\"\necho $(( h * 60 + m ))\n",
            json!({ "argv": ["{n}"], "inputSchema": taking("n", &json!({ "type": "string" })) }),
            "that only the expected texts fit",
        ),
        (
            "if [[ $1 == all ]]; then echo all; else echo $(( $1 )); fi\n",
            json!({ "argv": ["{n}"], "inputSchema": taking("n", &json!({ "type": "string" })) }),
            "list its values in an `enum`",
        ),
        (
            "echo \"${!1}\"\n",
            json!({ "argv": ["{n}"], "inputSchema": taking("n", &json!({ "type": "string" })) }),
            "of letters, digits and `_`",
        ),
    ] {
        let project = tool(&format!("#!/bin/bash\n{script}"), &metadata);
        assert_eq!(warnings(&project).len(), 1, "{script}");
        assert!(findings(&project).contains(expected), "{script}\n{}", findings(&project));
    }
    let numbers = json!({ "type": "array", "items": { "type": "integer" } });
    let project = tool(
        "#!/bin/bash\nfor n in \"$@\"; do (( sum += n )); done\n",
        &json!({ "argv": ["{n...}"], "inputSchema": taking("n", &numbers) }),
    );
    assert_eq!(warnings(&project), Vec::<String>::new());
    for command in [json!(["./bin/it.sh", "{n}"]), json!(["bash", "bin/it.sh", "{n}"])] {
        let metadata = json!({ "name": "it", "description": "It", "command": command });
        let project = Project::new()
            .script("bin/it.sh", "#!/bin/bash\necho $(( $1 ))\n")
            .file("tools/it.meta.json", &metadata.to_string());
        assert_eq!(warnings(&project), ["2 n"], "{command}");
    }
}
