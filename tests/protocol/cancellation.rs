//! Cancellation: the work stops with all its processes, and no answer is sent.

use crate::harness::{ONE_AT_A_TIME, Project, Server, request, wait_until_gone};
use serde_json::{Value, json};

// Shows: cancel-silent
#[test]
fn a_cancelled_call_ends_with_its_processes_and_is_not_answered() {
    let project = Project::new().tool(
        "tree",
        "#!/bin/sh\nsleep 1000 & echo $! >>started\n(sleep 1000 & echo $! >>started; wait) &\necho $$ >>started\nwait\n",
    );
    let mut server = Server::ready_with(project.root(), &ONE_AT_A_TIME, "2025-11-25");
    server.call(1, "tree");
    let pids = project.wait_for_started(3);
    server.notify("notifications/cancelled", &json!({ "requestId": 1, "reason": "changed my mind" }));
    pids.into_iter().for_each(wait_until_gone);
    server.expect_silence_of_calls();
    server.call(1, "tree");
    project.wait_for_started(6);
}

#[test]
fn a_script_that_ignores_the_request_to_end_is_killed() {
    let project = Project::new()
        .tool("stubborn", "#!/bin/sh\ntrap '' TERM\necho $$ >>started\nwhile :; do sleep 0.1; done\n");
    let mut server = Server::ready_with(project.root(), &ONE_AT_A_TIME, "2025-11-25");
    server.call(1, "stubborn");
    let pids = project.wait_for_started(1);
    server.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    wait_until_gone(pids[0]);
    server.expect_silence_of_calls();
}

// Shows: cancel-unknown
#[test]
fn cancelling_a_finished_or_unknown_request_changes_nothing() {
    let project = Project::with_hi();
    let mut server = Server::ready(project.root());
    server.call(1, "hi");
    assert_eq!(server.receive()["id"], 1);
    server.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    server.notify("notifications/cancelled", &json!({ "requestId": "init" }));
    server.expect_silence();
}

// Shows: one-answer
#[test]
fn a_cancellation_that_races_with_the_answer_is_decided_once() {
    let project = Project::with_hi();
    let mut server = Server::ready(project.root());
    // The number of answers to the call before the answer to a ping that is sent now.
    let answers = |server: &mut Server, id: i32| {
        server.request("ping", "ping", &json!({}));
        let mut count = 0;
        loop {
            let message = server.receive();
            if message["id"] == "ping" {
                return count;
            }
            assert_eq!(message["id"], id, "{message}");
            count += 1;
        }
    };
    for id in 0..200 {
        let call = request(id, "tools/call", &json!({ "name": "hi" }));
        let cancel =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        // At a different moment each time, from at once to when the answer has probably been sent.
        let moments = id % 40;
        if moments == 0 {
            server.send_together(&[call, cancel]);
            assert_eq!(answers(&mut server, id), 0, "{id} was cancelled before it could be answered");
            continue;
        }
        server.send(&call);
        let before: i32 = (1..moments).map(|_| answers(&mut server, id)).sum();
        server.send(&cancel);
        assert!(before + answers(&mut server, id) <= 1, "{id} is answered twice");
    }
    server.close_input();
    assert_eq!(server.rest(), [] as [Value; 0], "nothing comes after the cancellation");
}

#[test]
fn a_waiting_call_that_is_cancelled_never_starts() {
    let project = Project::new().waiting_tool("wait").tool("mark", "#!/bin/sh\ntouch marked\n");
    let mut server = Server::ready_with(project.root(), &ONE_AT_A_TIME, "2025-11-25");
    server.call(1, "wait");
    server.call(2, "mark");
    project.wait_for_started(1);
    server.notify("notifications/cancelled", &json!({ "requestId": 2 }));
    project.open_gate();
    assert_eq!(server.receive()["id"], 1);
    server.expect_silence();
    server.close_input();
    server.wait();
    assert!(!project.path("marked").exists());
}
