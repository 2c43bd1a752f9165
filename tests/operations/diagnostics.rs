//! The server's reports about itself: on standard error, to its client, and in a private record.

use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

fn events(stderr: &str) -> Vec<Value> {
    stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not an event: {line}")))
        .collect()
}

#[test]
fn events_are_json_lines_on_standard_error_at_the_level_that_is_set() {
    let project = Project::with_hi();
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "debug")], "2025-11-25");
    server.send_line("rubbish");
    while server.receive().get("error").is_none() {}
    let stderr = server.finish();
    let logged = events(&stderr);
    assert!(logged.iter().all(|event| event["time"].is_string() && event["level"].is_string()), "{stderr}");
    let connected =
        logged.iter().find(|event| event["message"] == "client connected").expect("the client is named");
    assert_eq!((&connected["client"], &connected["revision"]), (&json!("test 1"), &json!("2025-11-25")));
    assert!(logged.iter().any(|event| event["level"] == "debug"));

    let quiet = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "error")], "2025-11-25");
    assert_eq!(quiet.finish(), "");
    // An ordinary connection is not worth an event.
    assert_eq!(Server::ready(project.root()).finish(), "");
}

// Shows: log-filter
#[test]
fn a_session_receives_the_same_events_at_its_own_level() {
    let project = Project::with_hi();
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "error")], "2025-11-25");
    server.send_line("rubbish");
    assert!(server.receive().get("error").is_some(), "nothing below the level is told");
    server.ask(1, "logging/setLevel", &json!({ "level": "debug" }));
    server.send_line("rubbish");
    let told = server.receive();
    assert_eq!(told["method"], "notifications/message");
    assert_eq!(
        (&told["params"]["level"], &told["params"]["data"]["message"]),
        (&json!("debug"), &json!("message refused"))
    );
    assert!(server.receive().get("error").is_some());
    server.ask(2, "logging/setLevel", &json!({ "level": "emergency" }));
    server.send_line("rubbish");
    assert!(server.receive().get("error").is_some());
}

// Shows: log-secrets
#[test]
fn arguments_results_and_secrets_are_never_logged() {
    let leak =
        "#!/bin/sh\ncat\necho s3cr3t-result\necho s3cr3t-error >&2\necho failed for a reason >&2\nexit 3\n";
    let project = Project::new().tool("leak", leak);
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "debug")], "2025-11-25");
    let params = json!({ "name": "leak", "arguments": { "password": "s3cr3t-argument" }, "_meta": { "k": "s3cr3t-meta" } });
    server.request(1, "tools/call", &params);
    loop {
        let message = server.receive();
        if message.get("id").is_some() {
            break;
        }
        assert!(!message.to_string().contains("s3cr3t"), "{message}");
    }
    let stderr = server.finish();
    assert!(!stderr.contains("s3cr3t") && !stderr.contains("failed for a reason"), "{stderr}");
    let failed = events(&stderr).into_iter().find(|event| event["message"] == "a call failed").unwrap();
    assert_eq!((&failed["tool"], &failed["exitCode"]), (&json!("leak"), &json!(3)), "{failed}");
}

/// Each way in which a call can fail with its own message: the message reaches the caller, and never the log.
#[test]
fn error_messages_of_a_call_go_only_to_its_caller() {
    let says = |rest: &str| format!("#!/usr/bin/env bash\n{rest}\n");
    let schema = r#"{"description": "x", "outputSchema": {"type": "object", "additionalProperties": false}}"#;
    let provider = "#!/bin/sh\n[ $1 != list ] || { echo '{\"name\":\"provided\",\"inputSchema\":{\"type\":\"object\"}}'; exit; }\necho '{\"s3cr3t\":1}'\n";
    let python = "from mcp_bash import ToolError, prompt, resource, tool\n\n@tool\ndef raises() -> int:\n    print('s3cr3t')\n    raise ValueError('s3cr3t')\n\n@tool\ndef advises() -> int:\n    raise ToolError('s3cr3t')\n\n@resource('odd://r')\ndef odd() -> str:\n    raise ValueError('s3cr3t')\n\n@prompt\ndef plan() -> str:\n    raise ValueError('s3cr3t')\n";
    let project = Project::new()
        .tool("exits", &says("echo s3cr3t >&2; exit 3"))
        .tool("prints", &says("echo s3cr3t; exit 4"))
        .tool("signalled", &says("echo s3cr3t >&2; kill -9 $$"))
        .tool("fails", &says(r#". "$MCP_SDK/tool-sdk.sh"; mcp_fail -32050 s3cr3t '"s3cr3t"'"#))
        .tool("old", &says(r#"echo '{"code": -32051, "message": "s3cr3t"}'; exit 1"#))
        .tool("odd", &says(r#"echo '{"content": [{"type": "text", "s3cr3t": 1}]}'"#))
        .tool("files", &says(r#"echo /s3cr3t >"$MCP_TOOL_RESOURCES_FILE""#))
        .tool("schema", &says(r#"echo '{"s3cr3t": 1}'"#))
        .file("tools/schema/tool.meta.json", schema)
        .tool("nojson", &says("echo s3cr3t"))
        .file("tools/nojson/tool.meta.json", schema)
        .tool("options", &says("echo"))
        .file(
            "tools/options/tool.meta.json",
            r#"{"description": "x", "argv": ["{a}"], "inputSchema": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}}"#,
        )
        .script("tools/provider.sh", provider)
        .file("tools/functions.py", python)
        .script("providers/mine.sh", "#!/bin/sh\necho s3cr3t >&2\nexit 5\n")
        .file("resources/r.meta.json", r#"{"uri": "mine://r", "name": "r", "provider": "mine"}"#)
        .script("prompts/p/prompt.sh", "#!/bin/sh\necho s3cr3t >&2\nexit 5\n")
        .file("prompts/p/prompt.meta.json", r#"{"name": "p"}"#);
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "debug")], "2025-11-25");
    server.ask("level", "logging/setLevel", &json!({ "level": "emergency" }));
    let tools = [
        "exits",
        "prints",
        "signalled",
        "fails",
        "old",
        "odd",
        "schema",
        "nojson",
        "provided",
        "raises",
        "advises",
        "options",
    ];
    let calls = tools.iter().map(|tool| {
        let arguments = if *tool == "options" { json!({ "a": "-s3cr3t" }) } else { json!({}) };
        ("tools/call", json!({ "name": tool, "arguments": arguments }))
    });
    let reads = [
        ("resources/read", json!({ "uri": "mine://r" })),
        ("resources/read", json!({ "uri": "odd://r" })),
        ("prompts/get", json!({ "name": "p" })),
        ("prompts/get", json!({ "name": "plan" })),
    ];
    for (method, params) in calls.chain(reads) {
        let answer = server.ask("asked", method, &params);
        // An argument that cannot be passed is named without its value.
        let is_quoted = params["name"] != "options";
        assert_eq!(answer.to_string().contains("s3cr3t"), is_quoted, "{method} {params}: {answer}");
    }
    server.ask("files", "tools/call", &json!({ "name": "files" }));
    let stderr = server.finish();
    assert!(!stderr.contains("s3cr3t"), "{stderr}");
    let failed: Vec<Value> =
        events(&stderr).into_iter().filter(|event| event["message"] == "a call failed").collect();
    for tool in tools {
        assert_eq!(failed.iter().filter(|event| event["tool"] == tool).count(), 1, "{tool}: {stderr}");
    }
}

#[test]
fn payloads_are_recorded_without_secrets_in_a_private_folder() {
    let project = Project::with_hi();
    let temporary = tempfile::tempdir().unwrap();
    let environment = [
        ("MCPBASH_DEBUG_PAYLOADS", "true"),
        ("MCPBASH_PRESERVE_STATE", "true"),
        ("TMPDIR", temporary.path().to_str().unwrap()),
    ];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    server.request(
        1,
        "tools/call",
        &json!({ "name": "hi", "arguments": { "api_key": "hunter2", "city": "Bern" } }),
    );
    server.receive();
    server.send_bytes(b"not json but secret=hunter2\n");
    server.receive();
    server.finish();
    let folder = std::fs::read_dir(temporary.path()).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    let record = folder.join("payloads.log");
    assert_eq!(std::fs::metadata(&record).unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(record).unwrap();
    assert!(text.contains("< {") && text.contains("> {") && text.contains("Bern"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");

    let mut server = Server::ready_with(project.root(), &environment[..1], "2025-11-25");
    server.expect_silence();
}

#[test]
fn the_log_can_go_to_a_private_file() {
    let project = Project::with_hi();
    let path = project.path("server.log");
    let start = || {
        let mut command = Server::command();
        command.arg("--project-root").arg(project.root()).arg("--log-file").arg(&path);
        command.env("MCPBASH_LOG_LEVEL", "debug");
        Server::spawn(command)
    };
    let mut server = start();
    server.initialize("2025-11-25");
    server.finish();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.lines().any(|line| line.contains("client connected")), "{text}");

    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let mut server = start();
    assert_eq!(server.wait().code(), Some(2));
    assert!(server.stderr().contains("chmod 600"));
}
