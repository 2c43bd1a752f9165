//! A script receives the schema's default for an omitted argument.

use crate::harness::{Project, Server};
use serde_json::Value;

const SCHEMA: &str = r#"{"name": "cat", "inputSchema": {"type": "object", "required": ["needed"], "properties": {
    "needed": {"type": "string", "default": "x"}, "depth": {"type": "number", "default": 1.50},
    "nested": {"type": "object", "properties": {"inner": {"default": 1}}}}}}"#;

fn project() -> Project {
    Project::new()
        .script("tools/cat/tool.sh", "#!/bin/sh\ncat; echo; printf %s \"$MCP_TOOL_ARGS_JSON\"\n")
        .file("tools/cat/tool.meta.json", SCHEMA)
}

fn given(server: &mut Server, arguments: &str) -> Value {
    let call = r#"{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{"name":"cat","arguments":ARGUMENTS}}"#;
    server.send_line(&call.replace("ARGUMENTS", arguments));
    server.receive()["result"].clone()
}

#[test]
fn defaults_are_added_and_given_arguments_keep_their_bytes() {
    let project = project();
    // It prints two JSON values, of which the log would warn.
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "error")], "2025-11-25");
    for (arguments, expected) in [
        (r#"{"needed":"a"}"#, r#"{"needed":"a","depth":1.50}"#),
        (r#"{ "z": 1.10, "needed":"a" }"#, r#"{ "z": 1.10, "needed":"a" ,"depth":1.50}"#),
        (r#"{"needed":"a","depth":2.0,"nested":{}}"#, r#"{"needed":"a","depth":2.0,"nested":{}}"#),
    ] {
        let result = given(&mut server, arguments);
        assert_eq!(result["content"][0]["text"], format!("{expected}\n{expected}"), "{result}");
    }
}

#[test]
fn a_default_makes_no_required_argument_optional() {
    let project = project();
    let result = given(&mut Server::ready(project.root()), "{}");
    assert_eq!(result["isError"], true, "{result}");
    assert!(result["content"][0]["text"].as_str().unwrap().contains("needed"), "{result}");
}
