use crate::declarations::mapping::error::MappingError;
use crate::declarations::mapping::{Mapping, read};
use crate::declarations::metadata::Metadata;
use mcp_bash_hazards::HARMLESS;
use serde_json::value::RawValue;
use serde_json::{Value, json};

fn fitted(metadata: &Value) -> Result<Mapping, MappingError> {
    let read = read(&Metadata::from_json(&metadata.to_string()).unwrap()).map(Option::unwrap)?;
    let schema = match metadata.get("inputSchema") {
        Some(schema) => RawValue::from_string(schema.to_string()).unwrap(),
        None => read.derived_schema()?,
    };
    read.fitted_to(&schema).map(|read| read.mapping)
}

fn is_refused(metadata: &Value) -> bool {
    fitted(metadata).is_err_and(|refused| {
        let refused = refused.to_string();
        refused.contains("as code") && refused.contains("`unrestrictedArguments`")
    })
}

#[test]
fn a_value_is_never_code() {
    for command in [
        json!(["sh", "-c", "ls {path}"]),
        json!(["sh", ["-c", "echo {x}"]]),
        json!(["sh", ["-c", "echo {x}", "..."]]),
        json!(["env", ["sh", "-c", "{x}"]]),
        json!(["bash", "-c", ["{code}"]]),
        json!(["bash", { "flag": "-c", "if": "is_code" }, "{x}"]),
        json!(["bash", "{words...}"]),
        json!(["env", ["-i", "{words...}"]]),
        json!(["timeout", ["{words...}"]]),
        json!(["node", "--eval={x}"]),
        json!(["python3", { "word": "{x}", "allowDash": true }, "script.py"]),
        json!(["git", "-c", "{setting}"]),
    ] {
        assert!(is_refused(&json!({ "command": command })), "{command}");
        // The project's own script is the author's own code.
        let words = &command.as_array().unwrap()[1..];
        assert!(fitted(&json!({ "argv": words })).is_ok(), "{command}");
    }
    for stdin in [
        json!({ "command": ["sh"], "stdin": "{x}" }),
        json!({ "command": ["python3", "-"], "stdin": "x = {x}" }),
    ] {
        assert!(is_refused(&stdin), "{stdin}");
    }
    for command in [
        json!(["sh", "-c", "ls \"$1\"", "sh", "{path}"]),
        json!(["python3", "script.py", "-c", "{config}"]),
        json!(["grep", "-e", "{pattern}"]),
        json!(["du", "-sh", "{path}"]),
    ] {
        let mapping = fitted(&json!({ "command": command, "stdin": "{text}" })).unwrap();
        assert!(
            !["path", "config", "pattern", "text"].iter().any(|name| mapping.is_restricted(name)),
            "{command}"
        );
    }
}

#[test]
fn the_author_can_say_that_a_value_is_safe() {
    let command = json!(["sed", "-n", "{line}p", "{file}"]);
    let schema =
        |line: Value| json!({ "required": ["line", "file"], "properties": { "line": line, "file": {} } });
    let of = |line| json!({ "command": command, "inputSchema": schema(line) });
    assert!(is_refused(&of(json!({ "type": "string" }))));
    assert!(is_refused(&of(json!({ "type": ["integer", "string"] }))));
    assert!(fitted(&of(json!({ "type": "integer" }))).is_ok());
    assert!(fitted(&of(json!({ "type": "string", "enum": ["1", "$"] }))).is_ok());
    let declared = json!({ "command": command, "unrestrictedArguments": { "line": "callers are trusted" } });
    let mapping = fitted(&declared).unwrap();
    assert_eq!(mapping.unrestricted, [("line".to_owned(), "callers are trusted".to_owned())]);
    for wrong in [json!({}), json!([]), json!("line"), json!({ "line": "" }), json!({ "line": true })] {
        let refused =
            fitted(&json!({ "command": command, "unrestrictedArguments": wrong })).unwrap_err().to_string();
        assert!(refused.contains("each with the reason"), "{refused}");
    }
    let unknown = json!({ "command": ["ls", "{a}"], "unrestrictedArguments": { "b": "x" } });
    assert!(fitted(&unknown).unwrap_err().to_string().contains("names `b`, which nothing uses"));
}

#[test]
fn what_may_be_code_is_restricted_in_the_schema_too() {
    let metadata =
        json!({ "command": ["make", "greet", ["NAME={name}"], "{more...}"], "env": { "DEPTH": "{depth}" } });
    let read = read(&Metadata::from_json(&metadata.to_string()).unwrap()).unwrap().unwrap();
    let schema: Value = serde_json::from_str(read.derived_schema().unwrap().get()).unwrap();
    let text = json!({ "type": "string", "pattern": HARMLESS });
    assert_eq!(schema["properties"]["name"], text);
    assert_eq!(schema["properties"]["more"], json!({ "type": "array", "items": text }));
    assert_eq!(schema["properties"]["depth"], text);
    let declared = json!({ "command": ["make", "{x}"], "unrestrictedArguments": { "x": "why" } });
    assert!(!fitted(&declared).unwrap().is_restricted("x"));
}

#[test]
fn variables_that_decide_what_runs_are_the_authors_alone() {
    for name in
        ["PATH", "LD_PRELOAD", "MAKEFLAGS", "TAR_OPTIONS", "_JAVA_OPTIONS", "PERL5DB", "npm_config_prefix"]
    {
        let refused = fitted(&json!({ "env": { name: "{x}" } })).unwrap_err().to_string();
        assert!(refused.contains("decides what code is run"), "{refused}");
        assert!(fitted(&json!({ "env": { name: "fixed" } })).is_ok(), "{name}");
        let declared = json!({ "env": { name: "{x}" }, "unrestrictedArguments": { "x": "it is checked" } });
        assert!(fitted(&declared).is_ok(), "{name}");
    }
    for name in ["", "A=B", "MCP_TOOL_NAME", "MCPBASH_ROOTS"] {
        assert!(fitted(&json!({ "env": { name: "x" } })).is_err(), "{name}");
    }
    let is_restricted = |metadata: Value| fitted(&metadata).unwrap().is_restricted("x");
    // The author's own code may read any variable; another program takes settings from its variables.
    assert!(!is_restricted(json!({ "env": { "DEPTH": "{x}" } })));
    assert!(!is_restricted(json!({ "command": ["sh", "-c", "echo \"$TEXT\""], "env": { "TEXT": "{x}" } })));
    assert!(!is_restricted(json!({ "command": ["./bin/own"], "env": { "TEXT": "{x}" } })));
    assert!(is_restricted(json!({ "command": ["some-tool"], "env": { "TEXT": "{x}" } })));
    assert!(is_restricted(json!({ "env": { "SOME_TOOL_OPTIONS": "{x}" } })));
}
