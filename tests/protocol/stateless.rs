//! The stateless era, side by side with the handshake era in the same process.

use crate::harness::{Project, Server, code, stateless_meta};
use serde_json::{Value, json};

/// A server without a handshake.
fn fresh() -> (Project, Server) {
    let project = Project::with_hi().file("server.d/server.instructions.md", "Be kind.");
    let server = Server::start(project.root());
    (project, server)
}

fn with_meta(mut params: Value) -> Value {
    params["_meta"] = stateless_meta();
    params
}

fn without(key: &str) -> Value {
    let mut meta = stateless_meta();
    meta.as_object_mut().unwrap().remove(&format!("io.modelcontextprotocol/{key}"));
    json!({ "_meta": meta })
}

fn with(key: &str, value: Value) -> Value {
    let mut meta = stateless_meta();
    meta[format!("io.modelcontextprotocol/{key}")] = value;
    json!({ "_meta": meta })
}

// Shows: discover, server-info
#[test]
fn discover_lists_the_capabilities() {
    let (project, mut server) = fresh();
    let result = server.ask("probe", "server/discover", &with_meta(json!({})))["result"].clone();
    let name = project.root().file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(
        result["capabilities"],
        json!({
            "logging": {},
            "tools": { "listChanged": true },
            "prompts": { "listChanged": true },
            "resources": { "subscribe": true, "listChanged": true },
            "completions": {},
        })
    );
    assert_eq!(result["instructions"], "Be kind.");
    assert!(result["ttlMs"].as_u64().is_some() && result["cacheScope"].is_string(), "{result}");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], name);
}

// Shows: result-type, caching
#[test]
fn tools_are_listed_and_called_without_a_handshake() {
    let (_project, mut server) = fresh();
    let list = server.ask(1, "tools/list", &with_meta(json!({})))["result"].clone();
    assert_eq!(list["tools"][0]["name"], "hi");
    assert_eq!((&list["resultType"], &list["cacheScope"]), (&json!("complete"), &json!("private")));
    assert!(list["ttlMs"].as_u64().is_some());
    let call = server.ask(2, "tools/call", &with_meta(json!({ "name": "hi" })))["result"].clone();
    assert_eq!(call["content"][0]["text"], "hi");
    assert_eq!(call["resultType"], "complete");
    assert!(call.get("ttlMs").is_none());
    assert!(call["_meta"]["io.modelcontextprotocol/serverInfo"]["version"].is_string());
}

// Shows: nothing-remembered
#[test]
fn nothing_is_remembered_from_one_request_to_the_next() {
    let (_project, mut server) = fresh();
    server.ask(1, "tools/list", &with_meta(json!({})));
    assert_eq!(code(&server.ask(2, "tools/list", &json!({}))), -32000, "no session came of it");
    let level = with("logLevel", json!("debug"));
    server.ask(3, "tools/list", &level);
    server.ask(4, "tools/call", &with_meta(json!({ "name": "hi" })));
}

// Shows: probe, result-type
#[test]
fn a_probe_selects_no_era_and_both_work_side_by_side() {
    let (_project, mut server) = fresh();
    server.ask("probe", "server/discover", &with_meta(json!({})));
    server.initialize("2025-06-18");
    let handshake = server.ask(1, "tools/list", &json!({}))["result"].clone();
    assert!(handshake.get("resultType").is_none() && handshake.get("ttlMs").is_none(), "{handshake}");
    let stateless = server.ask(2, "tools/list", &with_meta(json!({})))["result"].clone();
    assert_eq!(stateless["resultType"], "complete");
    let handshake = server.ask(3, "tools/call", &json!({ "name": "hi" }))["result"].clone();
    assert!(handshake.get("resultType").is_none(), "{handshake}");
    assert!(handshake["_meta"].get("io.modelcontextprotocol/serverInfo").is_none(), "{handshake}");
}

// Shows: meta-complete
#[test]
fn missing_meta_members_are_refused() {
    let (_project, mut server) = fresh();
    for key in ["protocolVersion", "clientCapabilities"] {
        let answer = server.ask(1, "tools/list", &without(key));
        assert_eq!(code(&answer), -32602, "{key}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(key), "{answer}");
    }
    assert!(server.ask(2, "tools/list", &without("clientInfo"))["result"].is_object());
    for (key, value) in [
        ("protocolVersion", json!(5)),
        ("clientCapabilities", json!([])),
        ("logLevel", json!("loud")),
        ("logLevel", json!(1)),
    ] {
        assert_eq!(code(&server.ask(3, "tools/list", &with(key, value))), -32602, "{key}");
    }
    let mut token = with_meta(json!({}));
    token["_meta"]["progressToken"] = json!(1.5);
    assert_eq!(code(&server.ask(4, "tools/list", &token)), -32602);
    let answer = server.ask(5, "server/discover", &json!({}));
    assert_eq!(code(&answer), -32602, "{answer}");
}

// Shows: version-unsupported
#[test]
fn other_versions_are_refused_with_the_supported_ones() {
    let (_project, mut server) = fresh();
    for version in ["2025-11-25", "1900-01-01", "2099-01-01"] {
        let answer = server.ask(1, "server/discover", &with("protocolVersion", json!(version)));
        assert_eq!(code(&answer), -32022);
        assert_eq!(answer["error"]["data"], json!({ "supported": ["2026-07-28"], "requested": version }));
    }
    let mut incomplete = without("clientCapabilities");
    incomplete["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("1900-01-01");
    assert_eq!(code(&server.ask(2, "tools/list", &incomplete)), -32602, "what is missing comes first");
}

// Shows: removed-methods
#[test]
fn removed_and_unknown_methods_are_not_found() {
    let (_project, mut server) = fresh();
    for method in
        ["initialize", "ping", "logging/setLevel", "shutdown", "exit", "resources/subscribe", "no/such"]
    {
        assert_eq!(code(&server.ask(1, method, &with_meta(json!({})))), -32601, "{method}");
    }
}

// Shows: reserved-codes
#[test]
fn errors_avoid_the_reserved_codes() {
    let (_project, mut server) = fresh();
    let answer = server.ask(1, "tools/call", &with_meta(json!({ "name": "no such" })));
    assert_eq!(code(&answer), -32602);
    server.initialize("2025-11-25");
    server.ask(2, "shutdown", &json!({}));
    assert_eq!(code(&server.ask(3, "tools/list", &with_meta(json!({})))), -32603);
}

// Shows: log-stateless
#[test]
fn logs_come_only_with_a_request_that_asks_for_them() {
    let project = Project::new().tool(
        "chatty",
        r#"#!/bin/sh
[ -n "$MCP_LOG_STREAM" ] || { echo "no stream"; exit 0; }
log() { printf '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"%s","logger":"chat","data":{"n":1.10}}}\n' "$1" >>"$MCP_LOG_STREAM"; }
log debug; log warning; log error
echo done
"#,
    );
    let mut server = Server::start(project.root());
    let quiet = server.ask(1, "tools/call", &with_meta(json!({ "name": "chatty" })));
    assert_eq!(quiet["result"]["content"][0]["text"], "no stream");

    let mut params = with("logLevel", json!("warning"));
    params["name"] = json!("chatty");
    server.request(2, "tools/call", &params);
    let levels: Vec<Value> = (0..2).map(|_| server.receive()["params"]["level"].clone()).collect();
    assert_eq!(levels, ["warning", "error"]);
    assert_eq!(server.receive()["result"]["content"][0]["text"], "done");
    server.finish();
}
