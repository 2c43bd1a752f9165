//! Batches: answered as one array in the revision that has them, refused in the others, or taken apart there.

use crate::harness::{Project, Server, code, stateless_meta};
use serde_json::{Value, json};

fn ids(answers: &Value) -> Vec<Value> {
    let mut ids: Vec<Value> =
        answers.as_array().expect("an array").iter().map(|answer| answer["id"].clone()).collect();
    ids.sort_by_key(Value::to_string);
    ids
}

// Shows: batches
#[test]
fn one_array_answers_all_requests_of_a_batch() {
    let project = Project::with_hi();
    let mut server = Server::ready_with(project.root(), &[], "2025-03-26");
    server.send(&json!([
        { "jsonrpc": "2.0", "id": 1, "method": "ping" },
        { "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 77 } },
        { "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "hi" } },
        { "jsonrpc": "2.0", "id": 3, "method": "no/such" },
        5,
        { "jsonrpc": "2.0", "id": 4, "result": {} },
    ]));
    let answers = server.receive();
    assert_eq!(ids(&answers), [json!(1), json!(2), json!(3), json!(null)]);
    server.expect_silence();
}

// Shows: batch-empty
#[test]
fn a_batch_of_notifications_is_not_answered_and_an_empty_one_is_refused() {
    let project = Project::with_hi();
    let mut server = Server::ready_with(project.root(), &[], "2025-03-26");
    server.send(&json!([{ "jsonrpc": "2.0", "method": "x" }, { "jsonrpc": "2.0", "id": 1, "result": 1 }]));
    server.expect_silence();
    server.send(&json!([]));
    let answer = server.receive();
    assert_eq!((code(&answer), &answer["id"]), (-32600, &json!(null)));
    server.send_line("[1, 2");
    assert_eq!(code(&server.receive()), -32700);
}

// Shows: batch-initialize
#[test]
fn initialize_and_stateless_requests_are_refused_in_a_batch() {
    let project = Project::with_hi();
    let mut server = Server::ready_with(project.root(), &[], "2025-03-26");
    server.send(&json!([
        { "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-03-26" } },
        { "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": { "_meta": stateless_meta() } },
    ]));
    let answers = server.receive();
    for answer in answers.as_array().unwrap() {
        assert_eq!(code(answer), -32600, "{answer}");
    }
}

#[test]
fn a_cancelled_request_is_left_out_of_its_array() {
    let project = Project::new().waiting_tool("wait");
    let mut server = Server::ready_with(project.root(), &[], "2025-03-26");
    server.send(&json!([
        { "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "wait" } },
        { "jsonrpc": "2.0", "id": 2, "method": "ping" },
    ]));
    project.wait_for_started(1);
    server.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    assert_eq!(ids(&server.receive()), [json!(2)]);
    server
        .send(&json!([{ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "wait" } }]));
    project.wait_for_started(2);
    server.notify("notifications/cancelled", &json!({ "requestId": 3 }));
    server.expect_silence();
}

// Shows: batches
#[test]
fn other_revisions_refuse_batches_unless_compatibility_is_asked_for() {
    let project = Project::with_hi();
    let batch = json!([{ "jsonrpc": "2.0", "id": 1, "method": "ping" }]);
    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut server = Server::ready_with(project.root(), &[], revision);
        server.send(&batch);
        let answer = server.receive();
        assert_eq!((code(&answer), &answer["id"]), (-32600, &json!(null)), "{revision}");
        server.expect_silence();

        let mut server = Server::ready_with(project.root(), &[("MCPBASH_COMPAT_BATCHES", "true")], revision);
        server.send(&batch);
        assert_eq!(server.receive(), json!({ "jsonrpc": "2.0", "id": 1, "result": {} }), "{revision}");
        server.expect_silence();
    }
    let mut fresh = Server::start(project.root());
    fresh.send(&batch);
    assert_eq!(code(&fresh.receive()), -32600);
}

#[test]
fn compatibility_answers_each_member_on_its_own_line() {
    let project = Project::new().waiting_tool("wait");
    let compatible = [("MCPBASH_COMPAT_BATCHES", "true")];
    let mut server = Server::start_with(project.root(), &compatible);
    server.send(&json!([
        { "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18" } },
        { "jsonrpc": "2.0", "method": "notifications/initialized" },
        { "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "wait" } },
        7,
        { "jsonrpc": "2.0", "id": 2, "method": "ping" },
        { "jsonrpc": "2.0", "id": 3, "method": "ping" },
    ]));
    assert_eq!(server.receive()["result"]["protocolVersion"], "2025-06-18");
    let refused = server.receive();
    assert_eq!((code(&refused), &refused["id"]), (-32600, &json!(null)), "a number is no message");
    assert_eq!(code(&server.receive()), -32600, "the id belongs to the call that still runs");
    assert_eq!(
        server.receive(),
        json!({ "jsonrpc": "2.0", "id": 3, "result": {} }),
        "no answer waits for others"
    );
    server.send(&json!([]));
    assert_eq!(code(&server.receive()), -32600);
    drop(server);

    let mut server = Server::ready_with(project.root(), &compatible, "2025-03-26");
    server.send(&json!([{ "jsonrpc": "2.0", "id": 1, "method": "ping" }]));
    assert_eq!(ids(&server.receive()), [json!(1)], "that revision says how");
}
