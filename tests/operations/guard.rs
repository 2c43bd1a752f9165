//! The shared secret of gateways: every request carries it in its `_meta`.

use crate::harness::{Project, Server, code, request, stateless_meta};
use serde_json::{Value, json};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

fn with(key: &str, value: &str) -> Value {
    json!({ "_meta": { key: value } })
}

#[test]
fn requests_without_the_secret_are_refused_whatever_they_ask() {
    let project = Project::with_hi();
    let mut server = Server::start_with(project.root(), &[("MCPBASH_REMOTE_TOKEN", SECRET)]);
    let wrong = [
        json!({}),
        with("mcpbash/remoteToken", "wrong"),
        with("other", SECRET),
        with("mcpbash/remoteToken", ""),
    ];
    for params in &wrong {
        let answer = server.ask(1, "ping", params);
        assert_eq!(code(&answer), -32602);
        assert_eq!(answer["error"]["message"], "Remote token missing or invalid");
    }
    assert_eq!(code(&server.ask(2, "server/discover", &json!({ "_meta": stateless_meta() }))), -32602);
    assert_eq!(server.ask(3, "ping", &with("mcpbash/remoteToken", SECRET))["result"], json!({}));
    assert_eq!(server.ask(4, "ping", &with("remoteToken", SECRET))["result"], json!({}));
    let stderr = server.finish();
    assert!(stderr.contains("remote token rejected") && !stderr.contains(SECRET), "{stderr}");
}

#[test]
fn commands_run_with_the_secret_need_not_send_it() {
    let project = Project::with_hi()
        .tool("show", "#!/bin/sh\necho \"<$MCPBASH_REMOTE_TOKEN$COPY>\"\n")
        .file("tests/hi.yaml", "- { tool: hi, expect: { text: hi } }\n");
    for (words, shown) in
        [(&["list", "tools"][..], "hi"), (&["call", "show"], "<>"), (&["test", "--json"], "\"passed\":1")]
    {
        let mut command = Server::command();
        command.args(words).current_dir(project.root());
        command.env("MCPBASH_REMOTE_TOKEN", SECRET).env("COPY", SECRET);
        let output = command.output().expect("the binary runs");
        let stdout = String::from_utf8_lossy(&output.stdout).replace(' ', "");
        assert!(output.status.success() && stdout.contains(shown), "{words:?}: {output:?}");
    }
}

#[test]
fn a_session_works_with_the_secret_and_ignores_notifications_without_it() {
    let project = Project::new().waiting_tool("wait");
    let environment = [
        ("MCPBASH_REMOTE_TOKEN", SECRET),
        ("MCPBASH_REMOTE_TOKEN_KEY", "com.example/key"),
        ("MCPBASH_REMOTE_TOKEN_FALLBACK_KEY", ""),
    ];
    let mut server = Server::start_with(project.root(), &environment);
    let secret = || json!({ "com.example/key": SECRET });
    assert_eq!(
        code(&server.ask(0, "ping", &with("remoteToken", SECRET))),
        -32602,
        "the fallback is switched off"
    );
    server.ask(1, "initialize", &json!({ "protocolVersion": "2025-11-25", "_meta": secret() }));
    server.notify("notifications/initialized", &json!({ "_meta": secret() }));
    server.request(2, "tools/call", &json!({ "name": "wait", "_meta": secret() }));
    project.wait_for_started(1);
    server.notify("notifications/cancelled", &json!({ "requestId": 2 }));
    project.open_gate();
    assert_eq!(server.receive()["result"]["content"][0]["text"], "went", "a stranger cannot cancel");
}

#[test]
fn wrong_secrets_are_rate_limited_and_the_right_one_is_not() {
    let project = Project::with_hi();
    let environment = [("MCPBASH_REMOTE_TOKEN", SECRET), ("MCPBASH_REMOTE_TOKEN_MAX_FAILURES_PER_MIN", "3")];
    let mut server = Server::start_with(project.root(), &environment);
    for id in 0..3 {
        assert_eq!(server.ask(id, "ping", &json!({}))["error"]["message"], "Remote token missing or invalid");
    }
    let right = request("right", "ping", &with("mcpbash/remoteToken", SECRET));
    // The wrong one is sent first, and answered last.
    server.send_together(&[request("slow", "ping", &json!({})), right]);
    assert_eq!(server.receive()["id"], "right");
    let slowed = server.receive();
    assert_eq!(slowed["id"], "slow");
    assert_eq!(slowed["error"]["message"], "Remote token missing or invalid (throttled)");
}

#[test]
fn a_delayed_refusal_keeps_its_id() {
    let project = Project::with_hi();
    let environment = [("MCPBASH_REMOTE_TOKEN", SECRET), ("MCPBASH_REMOTE_TOKEN_MAX_FAILURES_PER_MIN", "1")];
    let mut server = Server::start_with(project.root(), &environment);
    assert_eq!(code(&server.ask(0, "ping", &json!({}))), -32602);
    let right = request(1, "ping", &with("mcpbash/remoteToken", SECRET));
    server.send_together(&[request(1, "ping", &json!({})), right]);
    assert_eq!(code(&server.receive()), -32600);
    // The delayed answer arrives even if the client sends nothing more.
    server.close_input();
    let rest = server.rest();
    assert_eq!((rest.len(), &rest[0]["id"], code(&rest[0])), (1, &json!(1), -32602), "{rest:?}");
}

#[test]
fn no_script_ever_sees_the_secret() {
    let print =
        "#!/bin/sh\n# mcp: {}\nenv\n[ -z \"${MCP_TOOL_META_FILE-}\" ] || cat \"$MCP_TOOL_META_FILE\"\n";
    let project = Project::new()
        .tool("print", print)
        .script("prompts/print.sh", print)
        .script("providers/print.sh", print)
        .script("completions/print.sh", print)
        .file(
            "server.d/register.json",
            r#"{"version": 1, "completions": [{"name": "print", "path": "completions/print.sh"}]}"#,
        )
        .file("resources/print.meta.json", r#"{"uri": "print://x", "provider": "print"}"#)
        .file(
            "server.d/policy.sh",
            "mcp_tools_policy_check() { :; }\nenv >>\"$MCPBASH_PROJECT_ROOT/policy.env\"\n",
        )
        .file("server.d/health-checks.sh", "env >>\"$MCPBASH_PROJECT_ROOT/health.env\"\n");
    let bearer = format!("Bearer {SECRET}");
    let plain = [
        ("MCPBASH_REMOTE_TOKEN", SECRET),
        ("MCP_COPY", SECRET),
        ("MCPBASH_HEADER", &*bearer),
        ("OTHER_COPY", SECRET),
        ("MCP_KEPT", "kept"),
        ("MCPBASH_TOOL_ENV_ALLOWLIST", "MCPBASH_REMOTE_TOKEN,OTHER_COPY"),
        ("MCPBASH_PROVIDER_ENV_ALLOWLIST", "MCPBASH_REMOTE_TOKEN,OTHER_COPY"),
        ("MCPBASH_TOOL_ENV_INHERIT_ALLOW", "true"),
        ("MCPBASH_PROVIDER_ENV_INHERIT_ALLOW", "true"),
    ];
    for mode in ["minimal", "allowlist", "inherit"] {
        let mut environment = plain.to_vec();
        environment.extend([("MCPBASH_TOOL_ENV_MODE", mode), ("MCPBASH_PROVIDER_ENV_MODE", mode)]);
        if mode == "minimal" {
            environment.retain(|(name, _)| *name != "MCPBASH_PROVIDER_ENV_MODE");
            environment.push(("MCPBASH_ENV_PAYLOAD_THRESHOLD", "0"));
        }
        let mut server = Server::start_with(project.root(), &environment);
        let mut meta = stateless_meta();
        meta["remoteToken"] = json!(SECRET);
        meta["mcpbash/remoteToken"] = json!(SECRET);
        meta["com.example/copy"] = json!({ "deep": [bearer] });
        meta["com.example/tenant"] = json!("acme");
        let mut answers = String::new();
        let completion = json!({ "ref": { "type": "ref/prompt", "name": "print" }, "argument": { "name": "a", "value": "" } });
        for (method, mut params) in [
            ("tools/call", json!({ "name": "print", "arguments": {} })),
            ("prompts/get", json!({ "name": "print" })),
            ("resources/read", json!({ "uri": "print://x" })),
            ("completion/complete", completion),
        ] {
            params["_meta"] = meta.clone();
            let answer = server.ask(method, method, &params).to_string();
            assert!(answer.contains("MCP_KEPT=kept"), "{method}, {mode}: {answer}");
            answers += &answer;
        }
        assert!(!answers.contains(SECRET), "{mode}: {answers}");
        assert!(answers.contains("acme") && answers.contains("protocolVersion"), "{mode}: {answers}");
        let stderr = server.finish();
        assert!(!stderr.contains(SECRET), "{mode}: {stderr}");
    }
    let mut command = Server::command();
    command.arg("--health").arg("--project-root").arg(project.root()).envs(plain);
    command.output().unwrap();
    for file in ["policy.env", "health.env"] {
        let seen = project.read(file);
        assert!(seen.contains("MCP_KEPT=kept") && !seen.contains(SECRET), "{file}: {seen}");
    }
}

#[test]
fn a_weak_secret_is_refused_at_the_start_and_not_repeated() {
    let project = Project::with_hi();
    let mut server = Server::start_with(project.root(), &[("MCPBASH_REMOTE_TOKEN", "hunter2")]);
    assert_eq!(server.wait().code(), Some(2));
    let stderr = server.stderr();
    assert!(stderr.contains("MCPBASH_REMOTE_TOKEN") && !stderr.contains("hunter2"), "{stderr}");
}
