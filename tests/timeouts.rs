//! How long a tool may take, what extends it, and what the model is told when it is over.

use crate::harness::{Project, Server};
use serde_json::{Value, json};

/// A tool that says something every 0.3 s, for `rounds` times, and what its metadata says about its time.
fn lively(metadata: &str, rounds: u32) -> Project {
    let script = format!(
        r#"#!/bin/sh
for round in $(seq {rounds}); do
    printf '{{"method":"notifications/progress","params":{{"progress":%s}}}}\n' "$round" >>"$MCP_PROGRESS_STREAM"
    sleep 0.3
done
echo lively
[ -z "$THEN_SILENT" ] || sleep 60
"#
    );
    Project::new().script("tools/slow/tool.sh", &script).file("tools/slow/tool.meta.json", metadata)
}

fn error_of(result: &Value) -> &Value {
    assert_eq!(result["isError"], true, "{result}");
    &result["structuredContent"]["error"]
}

#[test]
fn signs_of_life_extend_the_time() {
    let project = lively(r#"{"timeoutSecs": 1, "progressExtendsTimeout": true}"#, 5);
    // Whether or not the client wants to hear of them.
    let mut server = Server::ready(project.root());
    server.call(1, "slow");
    assert_eq!(server.receive()["result"]["content"][0]["text"], "lively");

    let settings = [("MCPBASH_PROGRESS_EXTENDS_TIMEOUT", "true")];
    let project = lively(r#"{"timeoutSecs": 1}"#, 5);
    let mut server = Server::ready_with(project.root(), &settings, "2025-11-25");
    server.call(1, "slow");
    assert_eq!(server.receive()["result"]["content"][0]["text"], "lively");
}

#[test]
fn without_being_asked_for_they_do_not() {
    let hinted = r#"{"timeoutSecs": 1, "timeoutHint": "Ask for fewer rounds"}"#;
    let project = lively(hinted, 100);
    let mut server = Server::ready(project.root());
    server.call(1, "slow");
    let result = server.receive()["result"].clone();
    let message = "Tool 'slow' timed out after 1 s and was ended";
    assert_eq!(
        *error_of(&result),
        json!({ "type": "timeout", "reason": "fixed", "timeoutSecs": 1, "exitCode": 124,
            "message": message, "hint": "Ask for fewer rounds" })
    );
    assert_eq!(result["content"][0]["text"], format!("{message}\nSuggestion: Ask for fewer rounds"));

    let settings = [("MCPBASH_PROGRESS_EXTENDS_TIMEOUT", "true")];
    let project = lively(r#"{"timeoutSecs": 1, "progressExtendsTimeout": false}"#, 100);
    let mut server = Server::ready_with(project.root(), &settings, "2025-11-25");
    server.call(1, "slow");
    assert_eq!(error_of(&server.receive()["result"])["reason"], "fixed");
}

#[test]
fn a_tool_that_falls_silent_is_ended() {
    let settings = [("MCPBASH_TOOL_ENV_MODE", "allowlist"), ("MCPBASH_TOOL_ENV_ALLOWLIST", "THEN_SILENT")];
    let project = lively(r#"{"timeoutSecs": 1, "progressExtendsTimeout": true, "maxTimeoutSecs": 50}"#, 4);
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root()).envs(settings).env("THEN_SILENT", "yes");
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    server.call(1, "slow");
    assert_eq!(
        *error_of(&server.receive()["result"]),
        json!({ "type": "timeout", "reason": "idle", "timeoutSecs": 1, "exitCode": 124,
            "message": "Tool 'slow' reported no progress for 1 s and was ended",
            "progressExtendsTimeout": true, "maxTimeoutSecs": 50 })
    );
}

#[test]
fn no_tool_lives_for_ever() {
    let project = lively(r#"{"timeoutSecs": 1, "progressExtendsTimeout": true, "maxTimeoutSecs": 2}"#, 100);
    let mut server = Server::ready(project.root());
    server.call(1, "slow");
    assert_eq!(
        *error_of(&server.receive()["result"]),
        json!({ "type": "timeout", "reason": "max_exceeded", "timeoutSecs": 1, "exitCode": 124,
            "message": "Tool 'slow' ran for 2 s, the most it may, and was ended",
            "progressExtendsTimeout": true, "maxTimeoutSecs": 2 })
    );
}
