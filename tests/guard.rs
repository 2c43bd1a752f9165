//! The shared secret of gateways: every request shows it in its `_meta`.

use crate::harness::{Project, Server, code, stateless_meta};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

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
    project.go();
    assert_eq!(server.receive()["result"]["content"][0]["text"], "went", "a stranger cannot cancel");
}

#[test]
fn many_wrong_secrets_are_slowed_down_but_the_right_one_is_not() {
    let project = Project::with_hi();
    let environment = [("MCPBASH_REMOTE_TOKEN", SECRET), ("MCPBASH_REMOTE_TOKEN_MAX_FAILURES_PER_MIN", "3")];
    let mut server = Server::start_with(project.root(), &environment);
    for id in 0..3 {
        assert_eq!(server.ask(id, "ping", &json!({}))["error"]["message"], "Remote token missing or invalid");
    }
    let start = Instant::now();
    server.request("slow", "ping", &json!({}));
    server.request("right", "ping", &with("mcpbash/remoteToken", SECRET));
    assert_eq!(server.receive()["id"], "right");
    let slowed = server.receive();
    assert_eq!(slowed["error"]["message"], "Remote token missing or invalid (throttled)");
    assert!(start.elapsed() >= Duration::from_millis(900));
}

#[test]
fn a_weak_secret_is_refused_at_the_start_and_not_repeated() {
    let project = Project::with_hi();
    let mut server = Server::start_with(project.root(), &[("MCPBASH_REMOTE_TOKEN", "hunter2")]);
    assert_eq!(server.wait().code(), Some(2));
    let stderr = server.stderr();
    assert!(stderr.contains("MCPBASH_REMOTE_TOKEN") && !stderr.contains("hunter2"), "{stderr}");
}
