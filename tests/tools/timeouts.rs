//! The timeout of a tool, how progress extends it, and the message for the model.

use crate::harness::{Project, Server, wait_until_gone};
use serde_json::{Value, json};

/// The settings that extend the timeout.
const LONGER: &str =
    "`timeoutSecs` in the call or in its metadata, or MCPBASH_DEFAULT_TOOL_TIMEOUT, gives it more";

/// A tool that reports progress until the gate opens, and then runs `then`; and one that reports nothing.
/// Both have this metadata.
fn lively(metadata: &str, then: &str) -> Project {
    let lively = r#"#!/bin/sh
(read _ <gate; touch over) &
round=0
until [ -e over ]; do
    round=$((round + 1))
    printf '{"method":"notifications/progress","params":{"progress":%s}}\n' "$round" >>"$MCP_PROGRESS_STREAM"
    sleep 0.05
done
"#;
    Project::new()
        .gate()
        .script("tools/slow/tool.sh", &format!("{lively}{then}\n"))
        .file("tools/slow/tool.meta.json", metadata)
        .script("tools/silent/tool.sh", "#!/bin/sh\nsleep 1000\n")
        .file("tools/silent/tool.meta.json", metadata)
}

/// Calls `slow`, whose client does not receive its progress, and waits until it has run longer than its
/// limit: `silent`, with the same limit and a later start, has timed out.
fn outlast_the_limit(server: &mut Server) {
    server.call("slow", "slow");
    let silent = server.ask("silent", "tools/call", &json!({ "name": "silent" }));
    assert_eq!(error_of(&silent["result"])["type"], "timeout");
}

/// The answer to a call of `slow`, whose client receives its progress.
fn call_slow(server: &mut Server) -> Value {
    server.request("slow", "tools/call", &json!({ "name": "slow", "_meta": { "progressToken": 1 } }));
    loop {
        let message = server.receive();
        if message["id"] == "slow" {
            return message["result"].clone();
        }
        assert_eq!(message["method"], "notifications/progress", "{message}");
    }
}

fn error_of(result: &Value) -> &Value {
    assert_eq!(result["isError"], true, "{result}");
    &result["structuredContent"]["error"]
}

#[test]
fn progress_extends_the_timeout() {
    let by_setting = [("MCPBASH_PROGRESS_EXTENDS_TIMEOUT", "true")];
    for (metadata, settings) in [
        (r#"{"timeoutSecs": 3, "progressExtendsTimeout": true}"#, &[][..]),
        (r#"{"timeoutSecs": 3}"#, &by_setting),
    ] {
        let project = lively(metadata, "echo lively");
        let mut server = Server::ready_with(project.root(), settings, "2025-11-25");
        outlast_the_limit(&mut server);
        project.open_gate();
        assert_eq!(server.receive()["result"]["content"][0]["text"], "lively");
    }
}

#[test]
fn progress_does_not_extend_the_timeout_by_default() {
    let hinted = r#"{"timeoutSecs": 1, "timeoutHint": "Ask for fewer rounds"}"#;
    let project = lively(hinted, "echo lively");
    let mut server = Server::ready(project.root());
    let result = call_slow(&mut server);
    let message = format!("Tool 'slow' timed out after 1 s and was ended; {LONGER}");
    assert_eq!(result["structuredContent"]["success"], false);
    assert_eq!(result["_meta"]["exitCode"], 124);
    assert_eq!(
        *error_of(&result),
        json!({ "type": "timeout", "reason": "fixed", "timeoutSecs": 1, "exitCode": 124,
            "message": message, "hint": "Ask for fewer rounds" })
    );
    assert_eq!(result["content"][0]["text"], format!("{message}\nSuggestion: Ask for fewer rounds"));

    let settings = [("MCPBASH_PROGRESS_EXTENDS_TIMEOUT", "true")];
    let project = lively(r#"{"timeoutSecs": 1, "progressExtendsTimeout": false}"#, "echo lively");
    let mut server = Server::ready_with(project.root(), &settings, "2025-11-25");
    assert_eq!(error_of(&call_slow(&mut server))["reason"], "fixed");
}

#[test]
fn a_tool_that_stops_reporting_times_out() {
    let metadata = r#"{"timeoutSecs": 3, "progressExtendsTimeout": true, "maxTimeoutSecs": 50}"#;
    let project = lively(metadata, "sleep 1000");
    let mut server = Server::ready(project.root());
    outlast_the_limit(&mut server);
    project.open_gate();
    assert_eq!(
        *error_of(&server.receive()["result"]),
        json!({ "type": "timeout", "reason": "idle", "timeoutSecs": 3, "exitCode": 124,
            "message": format!("Tool 'slow' timed out: it reported no progress for 3 s and was ended; {LONGER}"),
            "progressExtendsTimeout": true, "maxTimeoutSecs": 50 })
    );
}

// Shows: tools-rate
#[test]
fn the_maximum_timeout_applies_despite_progress() {
    let project =
        lively(r#"{"timeoutSecs": 3, "progressExtendsTimeout": true, "maxTimeoutSecs": 4}"#, "echo lively");
    let mut server = Server::ready(project.root());
    assert_eq!(
        *error_of(&call_slow(&mut server)),
        json!({ "type": "timeout", "reason": "max_exceeded", "timeoutSecs": 3, "exitCode": 124,
            "message": "Tool 'slow' timed out: it ran for 4 s, the most it may, and was ended; `maxTimeoutSecs` in its \
                metadata, or MCPBASH_MAX_TIMEOUT_SECS, gives it more",
            "progressExtendsTimeout": true, "maxTimeoutSecs": 4 })
    );
}

/// A project whose `env.sh` records that it is sourced, and waits until the gate opens.
fn waiting_environment() -> Project {
    let waits = "echo sourced >>sourced\nread _ <gate\nexport FROM_ENV=yes\n";
    Project::new().gate().file("server.d/env.sh", waits).tool("says", "#!/bin/sh\necho \"$FROM_ENV\"\n")
}

fn call_on_command_line(project: &Project, words: &[&str]) -> (Option<i32>, String) {
    let output = Server::command().args(words).current_dir(project.root()).output().unwrap();
    (
        output.status.code(),
        [output.stdout, output.stderr].concat().iter().map(|byte| char::from(*byte)).collect(),
    )
}

#[test]
fn preparation_counts_against_the_timeout() {
    let told = "was not started within 1 s: server.d/env.sh or server.d/policy.sh takes longer";
    for command in ["call", "run-tool"] {
        let (code, said) = call_on_command_line(&waiting_environment(), &[command, "says", "--timeout", "1"]);
        assert!(code == Some(5) && said.contains(told), "{code:?}: {said}");
    }
    let policy = "mcp_tools_policy_check() { read _ <gate; }\n";
    let project = Project::with_hi().gate().file("server.d/policy.sh", policy);
    let (code, said) = call_on_command_line(&project, &["call", "hi", "--timeout", "1"]);
    assert!(code == Some(5) && said.contains(told), "{code:?}: {said}");
    let provider = "#!/bin/sh\n# tells of its inputSchema\necho $$ >>started\nread _ <gate\n";
    let project = Project::with_hi().gate().script("tools/many", provider);
    let (code, said) = call_on_command_line(&project, &["call", "hi", "--timeout", "1"]);
    assert!(code == Some(5) && said.contains("the project could not be read within 1 s"), "{code:?}: {said}");
    project.wait_for_started(1).into_iter().for_each(wait_until_gone);
}

#[test]
fn an_environment_too_late_for_one_call_serves_the_next() {
    let project = waiting_environment();
    let mut server = Server::ready(project.root());
    let late = server.ask("late", "tools/call", &json!({ "name": "says", "timeoutSecs": 1 }));
    assert_eq!(error_of(&late["result"])["reason"], "not_started", "{late}");
    project.open_gate();
    let next = server.ask("next", "tools/call", &json!({ "name": "says" }));
    assert_eq!(next["result"]["content"][0]["text"], "yes", "{next}");
    assert_eq!(project.read("sourced"), "sourced\n");
}
