//! Ids: each belongs to one request until it is answered, and identifies only that request.

use crate::harness::{Project, Server, code, exists, stateless_meta, wait_until_asleep, wait_until_gone};
use serde_json::{Value, json};

// Shows: id-unique
#[test]
fn no_method_accepts_an_id_that_is_in_flight() {
    let project = Project::new().waiting_tool("wait");
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")], "2025-11-25");
    server.call(5, "wait");
    let pids = project.wait_for_started(1);
    let stateless = json!({ "_meta": stateless_meta() });
    let listen = json!({ "_meta": stateless_meta(), "notifications": { "toolsListChanged": true } });
    let requests = [
        ("ping", json!({})),
        ("initialize", json!({ "protocolVersion": "2025-11-25" })),
        ("tools/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/subscribe", json!({ "uri": "file://./x" })),
        ("resources/unsubscribe", json!({ "uri": "file://./x" })),
        ("resources/read", json!({ "uri": "file://./x" })),
        ("prompts/get", json!({ "name": "x" })),
        ("completion/complete", json!({})),
        ("logging/setLevel", json!({ "level": "debug" })),
        ("shutdown", json!({})),
        ("exit", json!({})),
        ("no/such/method", json!({})),
        ("server/discover", stateless.clone()),
        ("tools/list", stateless),
        ("subscriptions/listen", listen),
        ("tools/call", json!({ "name": "wait", "requestState": "x", "_meta": stateless_meta() })),
        ("tools/call", json!({ "name": "wait", "arguments": {} })),
    ];
    for (method, params) in &requests {
        let refused = server.ask(5, method, params);
        assert_eq!(code(&refused), -32600, "{method}: {refused}");
    }
    assert!(exists(pids[0]));
    server.expect_silence();
    project.open_gate();
    let answer = server.receive();
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(5), &json!("went")));
    assert_eq!(server.ask(5, "ping", &json!({}))["result"], json!({}), "it is free again");
}

#[test]
fn a_stream_keeps_its_id_while_it_listens() {
    let project = Project::with_hi();
    let mut server = Server::start_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")]);
    let listen = json!({ "_meta": stateless_meta(), "notifications": { "toolsListChanged": true } });
    server.request("stream", "subscriptions/listen", &listen);
    assert_eq!(server.receive()["method"], "notifications/subscriptions/acknowledged");
    let call = json!({ "name": "hi", "_meta": stateless_meta() });
    for (method, params) in [
        ("tools/list", &json!({ "_meta": stateless_meta() })),
        ("tools/call", &call),
        ("subscriptions/listen", &listen),
    ] {
        let refused = server.ask("stream", method, params);
        assert_eq!(code(&refused), -32600, "{method}: {refused}");
    }
    let project = project.tool("new", "#!/bin/sh\n");
    let told = server.receive();
    assert_eq!(told["method"], "notifications/tools/list_changed", "it goes on: {told}");
    server.notify("notifications/cancelled", &json!({ "requestId": "stream" }));
    let answer = server.ask("stream", "tools/call", &call);
    assert_eq!(answer["result"]["content"][0]["text"], "hi", "it is free again");
    drop(project);
}

// Shows: cancel-exact
#[test]
fn a_cancellation_matches_the_exact_id() {
    let project = Project::new().waiting_tool("wait");
    let mut server = Server::ready(project.root());
    server.call(1, "wait");
    let number = project.wait_for_started(1)[0];
    server.call("1", "wait");
    let word = project.wait_for_started(2)[1];
    for other in ["1.0", "1e0", "10e-1", "[1]", "null", "\"1.0\"", "\" 1\"", "\"01\"", "true", "11", "-1"] {
        let cancelled = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{other}}}}}"#
        );
        server.send_line(&cancelled);
    }
    server.expect_silence();
    wait_until_asleep(server.child.id());
    assert!(exists(number) && exists(word));
    server.notify("notifications/cancelled", &json!({ "requestId": "1" }));
    wait_until_gone(word);
    project.open_gate();
    let answer = server.receive();
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(1), &json!("went")));
    // A fraction is not an id, not even one with an integral value.
    for id in ["1.0", "1e0"] {
        server.send_line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        let refused = server.receive();
        assert_eq!((code(&refused), &refused["id"]), (-32600, &Value::Null));
    }
}

#[test]
fn a_cancellation_does_not_affect_the_next_request_with_its_id() {
    let project = Project::new().waiting_tool("wait");
    let mut server = Server::ready(project.root());
    server.call(1, "wait");
    let first = project.wait_for_started(1)[0];
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "wait" } });
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    server.send_bytes(format!("{cancel}\n{call}\n").as_bytes());
    project.wait_for_started(2);
    wait_until_gone(first);
    server.expect_silence();
    project.open_gate();
    let answer = server.receive();
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(1), &json!("went")));
    server.expect_silence();
}

// Shows: initialize-uncancellable
#[test]
fn initialize_cannot_be_cancelled() {
    let project = Project::with_hi();
    let mut server = Server::start(project.root());
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    server.send_bytes(format!("{cancel}\n{hello}\n{cancel}\n").as_bytes());
    assert_eq!(server.receive()["result"]["protocolVersion"], "2025-11-25");
    server.notify("notifications/initialized", &json!({}));
    server.call(1, "hi");
    assert_eq!(server.receive()["result"]["content"][0]["text"], "hi");
}

#[test]
fn an_id_occurs_once_in_a_batch() {
    let project = Project::with_hi();
    let mut server = Server::ready_with(project.root(), &[], "2025-03-26");
    server.send(&json!([
        { "jsonrpc": "2.0", "id": 1, "method": "ping" },
        { "jsonrpc": "2.0", "id": 1, "method": "ping" },
        { "jsonrpc": "2.0", "id": "1", "method": "ping" },
    ]));
    let answers = server.receive();
    assert_eq!((&answers[0]["result"], code(&answers[1])), (&json!({}), -32600), "{answers}");
    assert_eq!((&answers[2]["id"], &answers[2]["result"]), (&json!("1"), &json!({})), "{answers}");
}
