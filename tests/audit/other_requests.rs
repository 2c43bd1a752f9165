//! Requests besides calls: messages that are no requests, wrong hosts and origins, subscriptions, and timeouts of prompts and
//! resources.

use super::Audited;
use crate::harness::Project;
use crate::harness::http::{HttpServer, stateless_with};
use serde_json::{Value, json};

/// Event, outcome and type of error of each record.
fn outcomes(records: &[Value]) -> Vec<[&str; 3]> {
    let names = ["event.name", "outcome", "error.type"];
    records.iter().map(|record| names.map(|name| record[name].as_str().unwrap_or_default())).collect()
}

#[test]
fn a_message_that_is_no_request_is_recorded() {
    let audited = Audited::new(Project::with_hi());
    let mut server = audited.start(&[]);
    for line in ["{", r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, "[]"] {
        server.send_line(line);
        server.receive();
    }
    server.finish();
    let recorded = audited.requests();
    let refused = |code| ["mcp.refused", "refused", code];
    assert_eq!(outcomes(&recorded), [refused("-32700"), refused("-32600"), refused("-32600")]);
    assert_eq!(
        (&recorded[0]["jsonrpc.request.id"], &recorded[1]["jsonrpc.request.id"]),
        (&Value::Null, &json!("7"))
    );
    assert!(recorded.iter().all(|record| record["caller.known_by"] == "local"), "{recorded:?}");
    assert_eq!(audited.verify().code, 0);
}

#[test]
fn a_wrong_host_or_origin_is_recorded_with_its_address() {
    let audited = Audited::new(Project::with_hi());
    let log = audited.log();
    let server = HttpServer::start_with(audited.project.root(), &["--audit", log.to_str().unwrap()], &[]);
    let send = |name: &str, value: &str| {
        server.send(&stateless_with(&[(name, value)], 1, "tools/call", &json!({ "name": "hi" }))).status
    };
    assert_eq!(send("Origin", "https://evil.example"), 403);
    assert_eq!(send("Host", "evil.example"), 421);
    server.finish();
    let recorded = audited.requests();
    assert_eq!(
        outcomes(&recorded),
        [["mcp.refused", "refused", "origin"], ["mcp.refused", "refused", "host"]]
    );
    for record in &recorded {
        assert_eq!(record["client.address"], "127.0.0.1", "{record}");
        assert!(!record.to_string().contains("evil"), "{record}");
    }
}

#[test]
fn a_subscription_is_recorded_with_its_resource() {
    let project = Project::new()
        .file("resources/note.txt", "a note")
        .file("resources/note.meta.json", r#"{"name": "note", "uri": "file://./resources/note.txt"}"#);
    let audited = Audited::new(project);
    let mut server = audited.start(&[]);
    server.ask_past_news(1, "resources/subscribe", &json!({ "uri": "file://./resources/note.txt" }));
    server.ask_past_news(2, "resources/subscribe", &json!({ "uri": "file://./resources/none.txt" }));
    server.ask_past_news(3, "resources/unsubscribe", &json!({ "uri": "file://./resources/note.txt" }));
    server.ask_past_news(4, "resources/unsubscribe", &json!({}));
    server.finish();
    let recorded = audited.requests();
    let (begun, ended) = ("mcp.resources.subscribe", "mcp.resources.unsubscribe");
    let expected = [
        [begun, "success", ""],
        [begun, "error", "-32002"],
        [ended, "success", ""],
        [ended, "error", "-32602"],
    ];
    assert_eq!(outcomes(&recorded), expected);
    for record in [&recorded[0], &recorded[2]] {
        assert_eq!(record["mcp.resource.uri"], "file://./resources/note.txt");
    }
}

#[test]
fn prompts_and_resources_that_take_too_long_are_timeouts() {
    let project = Project::new()
        .script("prompts/slow.sh", "#!/bin/sh\n# mcp: {\"arguments\": []}\nsleep 60\n")
        .file("resources/slow.meta.json", r#"{"uri": "slow://a", "provider": "slow"}"#)
        .script("providers/slow.sh", "#!/bin/sh\nsleep 60\n");
    let audited = Audited::new(project);
    let mut server = audited.start(&[]);
    server.ask_past_news(1, "prompts/get", &json!({ "name": "slow", "timeoutSecs": 1 }));
    server.ask_past_news(2, "resources/read", &json!({ "uri": "slow://a", "timeoutSecs": 1 }));
    server.finish();
    assert_eq!(
        outcomes(&audited.requests()),
        [["mcp.prompts.get", "timeout", "timeout"], ["mcp.resources.read", "timeout", "timeout"]]
    );
}
