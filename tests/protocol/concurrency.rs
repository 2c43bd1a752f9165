//! Requests run concurrently up to a limit; the rest wait in order; quick requests never wait.

use crate::harness::{Project, Server, code, wait_until_asleep};
use serde_json::json;

// Shows: tools-rate
#[test]
fn calls_run_side_by_side_and_the_rest_wait_in_order() {
    let project = Project::new()
        .waiting_tool("wait")
        .tool("order", "#!/bin/sh\necho \"$MCP_TOOL_ARGS_JSON\" >>order\n");
    let mut server =
        Server::ready_with(project.root(), &[("MCPBASH_MAX_CONCURRENT_REQUESTS", "2")], "2025-11-25");
    server.call("a", "wait");
    server.call("b", "wait");
    for number in 1..=5 {
        server.request(number, "tools/call", &json!({ "name": "order", "arguments": { "n": number } }));
    }
    project.wait_for_started(2);
    // Nothing more starts, and quick requests are still served at once.
    wait_until_asleep(server.child.id());
    server.expect_silence();
    assert!(server.ask("list", "tools/list", &json!({}))["result"].is_object());
    assert_eq!(project.read("order"), "");
    assert_eq!(project.wait_for_started(2).len(), 2);

    server.notify("notifications/cancelled", &json!({ "requestId": "b" }));
    for number in 1..=5 {
        assert_eq!(server.receive()["id"], number, "with one place the calls end in order");
    }
    let order: Vec<String> = (1..=5).map(|number| format!("{{\"n\":{number}}}")).collect();
    assert_eq!(project.read("order").lines().collect::<Vec<_>>(), order);
    project.open_gate();
    assert_eq!(server.receive()["id"], "a");
}

#[test]
fn a_second_request_with_an_id_in_flight_is_refused() {
    let project = Project::new().waiting_tool("wait").tool("hi", "#!/bin/sh\necho hi\n");
    let mut server = Server::ready(project.root());
    server.call("same", "wait");
    project.wait_for_started(1);
    server.call("same", "hi");
    assert_eq!(code(&server.receive()), -32600);
    project.open_gate();
    assert_eq!(server.receive()["result"]["content"][0]["text"], "went");
    server.call("same", "hi");
    assert_eq!(server.receive()["result"]["content"][0]["text"], "hi");
}

#[test]
fn ids_of_different_types_are_different() {
    let project = Project::new().waiting_tool("wait");
    let mut server = Server::ready(project.root());
    server.call(1, "wait");
    server.call("1", "wait");
    project.wait_for_started(2);
    project.open_gate();
    let mut ids = [server.receive()["id"].clone(), server.receive()["id"].clone()];
    ids.sort_by_key(ToString::to_string);
    assert_eq!(ids, [json!("1"), json!(1)]);
}

// Shows: tools-rate
#[test]
fn too_many_waiting_calls_are_refused_and_cancelling_makes_room() {
    let project = Project::new().waiting_tool("wait");
    let environment = [("MCPBASH_MAX_CONCURRENT_REQUESTS", "1"), ("MCPBASH_MAX_WAITING_REQUESTS", "2")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    for id in 1..=3 {
        server.call(id, "wait");
    }
    project.wait_for_started(1);
    server.call(4, "wait");
    let refused = server.receive();
    assert_eq!((code(&refused), &refused["id"]), (-32603, &json!(4)));
    assert!(refused["error"]["message"].as_str().unwrap().contains("MCPBASH_MAX_WAITING_REQUESTS"));
    server.notify("notifications/cancelled", &json!({ "requestId": 2 }));
    server.call(5, "wait");
    server.expect_silence();
    project.open_gate();
    let ids: Vec<_> = (0..3).map(|_| server.receive()["id"].clone()).collect();
    assert_eq!(ids, [json!(1), json!(3), json!(5)]);
}

#[test]
fn waiting_calls_may_hold_only_so_many_bytes() {
    let project = Project::new().waiting_tool("wait");
    let environment = [("MCPBASH_MAX_CONCURRENT_REQUESTS", "1"), ("MCPBASH_MAX_WAITING_BYTES", "2000")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    server.call(1, "wait");
    server.request(2, "tools/call", &json!({ "name": "wait", "arguments": { "x": "y".repeat(1500) } }));
    server.request(3, "tools/call", &json!({ "name": "wait", "arguments": { "x": "y".repeat(1500) } }));
    let refused = server.receive();
    assert_eq!((code(&refused), &refused["id"]), (-32603, &json!(3)));
    assert!(refused["error"]["message"].as_str().unwrap().contains("MCPBASH_MAX_WAITING_BYTES"));
    project.open_gate();
    assert_eq!(server.receive()["id"], 1);
    assert_eq!(server.receive()["id"], 2);
}
