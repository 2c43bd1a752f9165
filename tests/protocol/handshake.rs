//! The handshake era: negotiation, the fields that each revision receives, and which requests are valid when.

use crate::harness::{Project, Server, code};
use serde_json::{Value, json};

fn full_project() -> Project {
    Project::with_hi()
        .file(
            "server.d/server.meta.json",
            r#"{
              "name": "ops", "title": "Operations", "version": "3.2.1", "description": "Runs things",
              "websiteUrl": "https://example.com/ops",
              "icons": [ { "src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"] } ]
            }"#,
        )
        .file("server.d/server.instructions.md", "Ask before you delete.\n")
        .script("tools/full.sh", "#!/bin/sh\necho ok\n")
        .file(
            "tools/full.meta.json",
            r#"{
              "name": "full", "title": "Full", "description": "Has it all",
              "inputSchema": { "type": "object", "properties": { "n": { "type": "number", "default": 1.10 } } },
              "outputSchema": { "type": "object", "properties": {} },
              "annotations": { "readOnlyHint": true },
              "icons": [ { "src": "data:image/png;base64,AAAA" } ],
              "_meta": { "com.example/owner": "me" }
            }"#,
        )
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

// Shows: json-rpc, version-echoed, tools-list
#[test]
fn each_revision_receives_only_its_own_fields() {
    let project = full_project();
    let cases: [(&str, &[&str], &[&str]); 4] = [
        ("2024-11-05", &["name", "version"], &["description", "inputSchema", "name"]),
        ("2025-03-26", &["name", "version"], &["annotations", "description", "inputSchema", "name"]),
        (
            "2025-06-18",
            &["name", "title", "version"],
            &["_meta", "annotations", "description", "inputSchema", "name", "outputSchema", "title"],
        ),
        (
            "2025-11-25",
            &["description", "icons", "name", "title", "version", "websiteUrl"],
            &["_meta", "annotations", "description", "icons", "inputSchema", "name", "outputSchema", "title"],
        ),
    ];
    for (revision, info, tool) in cases {
        let mut server = Server::start(project.root());
        let hello = server.initialize(revision);
        assert_eq!(hello["protocolVersion"], revision);
        assert_eq!(keys(&hello["serverInfo"]), info, "{revision}");
        assert_eq!(hello["serverInfo"]["name"], "ops");
        assert_eq!(hello["serverInfo"]["version"], "3.2.1");
        let mut capabilities = json!({
            "logging": {},
            "tools": { "listChanged": true },
            "prompts": { "listChanged": true },
            "resources": { "subscribe": true, "listChanged": true },
        });
        if revision != "2024-11-05" {
            capabilities["completions"] = json!({});
        }
        assert_eq!(hello["capabilities"], capabilities, "{revision}");
        assert_eq!(hello["instructions"], "Ask before you delete.", "{revision}");

        let list = server.ask(1, "tools/list", &json!({}))["result"].clone();
        assert_eq!(keys(&list), ["_meta", "tools"], "{revision}");
        assert_eq!(keys(&list["tools"][0]), tool, "{revision}");
        assert_eq!(list["tools"][0]["inputSchema"]["properties"]["n"]["default"].to_string(), "1.1");
        server.finish();
    }
}

// Shows: tools-list
#[test]
fn metadata_passes_through_byte_for_byte() {
    let project = full_project();
    let mut server = Server::ready(project.root());
    server.request(1, "tools/list", &json!({}));
    let line = server.receive_line();
    assert!(line.contains(r#""n":{"type":"number","default":1.10}"#), "{line}");
}

// Shows: version-echoed
#[test]
fn an_unknown_revision_is_answered_with_the_newest_handshake() {
    let project = Project::with_hi();
    for unknown in ["2026-07-28", "2023-01-01", "tomorrow", ""] {
        let mut server = Server::start(project.root());
        assert_eq!(server.initialize(unknown)["protocolVersion"], "2025-11-25", "{unknown}");
    }
}

#[test]
fn a_client_without_a_version_gets_the_newest_one() {
    let project = Project::with_hi();
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize" }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": null } }),
    ] {
        let mut server = Server::start(project.root());
        server.send(&message);
        assert_eq!(server.receive()["result"]["protocolVersion"], "2025-11-25", "{message}");
        server.notify("notifications/initialized", &json!({}));
        assert!(server.ask(2, "tools/list", &json!({}))["result"].is_object(), "{message}");
    }
}

#[test]
fn an_invalid_initialize_is_refused_and_can_be_retried() {
    let project = Project::with_hi();
    let mut server = Server::start(project.root());
    for params in [
        json!({ "protocolVersion": 5 }),
        json!({ "protocolVersion": "2025-11-25", "capabilities": [] }),
        json!({ "protocolVersion": "2025-11-25", "clientInfo": "me" }),
    ] {
        assert_eq!(code(&server.ask(1, "initialize", &params)), -32602, "{params}");
    }
    server.initialize("2025-11-25");
    let again = server.ask(2, "initialize", &json!({ "protocolVersion": "2025-11-25" }));
    assert_eq!(code(&again), -32600);
}

// Shows: before-initialize
#[test]
fn before_initialize_only_ping_is_served() {
    let project = Project::with_hi();
    let mut server = Server::start(project.root());
    for method in ["tools/list", "tools/call", "logging/setLevel", "no/such"] {
        assert_eq!(code(&server.ask(1, method, &json!({}))), -32000, "{method}");
    }
    server.expect_silence();
    server.notify("notifications/initialized", &json!({}));
    assert_eq!(code(&server.ask(2, "tools/list", &json!({}))), -32000, "initialized without initialize");
    server.initialize("2025-11-25");
    assert!(server.ask(3, "tools/list", &json!({}))["result"].is_object());
}

// Shows: before-initialized
#[test]
fn until_initialized_clients_may_ping_and_set_the_level() {
    let project = Project::with_hi();
    let mut server = Server::start(project.root());
    server.ask(1, "initialize", &json!({ "protocolVersion": "2025-06-18" }));
    assert_eq!(code(&server.ask(2, "tools/list", &json!({}))), -32000);
    assert_eq!(server.ask(3, "logging/setLevel", &json!({ "level": "error" }))["result"], json!({}));
    server.expect_silence();
    server.notify("notifications/initialized", &json!({}));
    assert!(server.ask(4, "tools/list", &json!({}))["result"].is_object());
}

// Shows: log-level
#[test]
fn all_eight_levels_are_known_in_any_case_and_no_other() {
    let project = Project::with_hi();
    let mut server = Server::ready(project.root());
    for level in ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] {
        for level in [level.to_owned(), level.to_uppercase()] {
            assert_eq!(server.ask(1, "logging/setLevel", &json!({ "level": level }))["result"], json!({}));
        }
    }
    for params in
        [json!({ "level": "verbose" }), json!({ "level": "INFOS" }), json!({ "level": 3 }), json!({})]
    {
        let answer = server.ask(2, "logging/setLevel", &params);
        assert_eq!(code(&answer), -32602, "{params}");
    }
}

#[test]
fn shutdown_and_exit_follow_their_order() {
    let project = Project::with_hi();
    let mut server = Server::ready(project.root());
    assert_eq!(code(&server.ask(1, "exit", &json!({}))), -32005);
    server.notify("exit", &json!({}));
    server.expect_silence();
    assert_eq!(server.ask(2, "shutdown", &json!({}))["result"], json!({}));
    for method in ["tools/list", "tools/call", "logging/setLevel", "initialize", "no/such"] {
        assert_eq!(code(&server.ask(3, method, &json!({}))), -32003, "{method}");
    }
    server.expect_silence();
    assert_eq!(server.ask(4, "shutdown", &json!({}))["result"], json!({}));
    assert_eq!(server.ask(5, "exit", &json!({}))["result"], json!({}));
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn exit_as_a_notification_stops_the_server_too() {
    let project = Project::with_hi();
    let mut server = Server::ready(project.root());
    server.ask(1, "shutdown", &json!({}));
    server.notify("exit", &json!({}));
    assert_eq!(server.wait().code(), Some(0));
}
