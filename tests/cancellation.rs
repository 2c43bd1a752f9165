//! Cancelling: the work stops with all its processes, and nothing is sent for it.

use crate::harness::{Project, Server, wait_until, wait_until_gone};
use serde_json::json;

#[test]
fn a_cancelled_call_ends_with_its_processes_and_is_not_answered() {
    let project = Project::new().tool(
        "tree",
        "#!/bin/sh\nsleep 300 & echo $! >>started\n(sleep 300 & echo $! >>started; wait) &\necho $$ >>started\nwait\n",
    );
    let mut server = Server::ready(project.root());
    server.call(1, "tree");
    let pids = project.wait_for_started(3);
    server.notify("notifications/cancelled", &json!({ "requestId": 1, "reason": "changed my mind" }));
    server.expect_silence();
    pids.into_iter().for_each(wait_until_gone);
    server.expect_silence();
    server.call(1, "tree");
    project.wait_for_started(6);
}

#[test]
fn a_script_that_ignores_the_request_to_end_is_killed() {
    let project = Project::new()
        .tool("stubborn", "#!/bin/sh\ntrap '' TERM\necho $$ >>started\nwhile :; do sleep 0.1; done\n");
    let mut server = Server::ready(project.root());
    server.call(1, "stubborn");
    let pids = project.wait_for_started(1);
    server.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    wait_until_gone(pids[0]);
    server.expect_silence();
}

#[test]
fn cancelling_what_is_finished_or_unknown_changes_nothing() {
    let project = Project::with_hi();
    let mut server = Server::ready(project.root());
    server.call(1, "hi");
    assert_eq!(server.receive()["id"], 1);
    server.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    server.notify("notifications/cancelled", &json!({ "requestId": "init" }));
    server.expect_silence();
}

#[test]
fn the_race_with_a_finished_answer_is_decided_once() {
    let project = Project::with_hi();
    let mut server = Server::ready(project.root());
    let rounds = 200;
    let mut answered = 0;
    for round in 0..rounds {
        server.call(round, "hi");
        // At another moment each time, from at once to when the answer is likely out.
        std::thread::sleep(std::time::Duration::from_micros(20 * u64::try_from(round % 100).unwrap()));
        server.notify("notifications/cancelled", &json!({ "requestId": round }));
        server.request(format!("after {round}"), "ping", &json!({}));
        let mut next = server.receive();
        if next["id"] == round {
            answered += 1;
            next = server.receive();
        }
        assert_eq!(next["id"], format!("after {round}"), "nothing comes after the cancellation");
    }
    assert!(answered < rounds, "no call was ever cancelled");
}

#[test]
fn a_waiting_call_that_is_cancelled_never_starts() {
    let project = Project::new().waiting_tool("wait").tool("mark", "#!/bin/sh\ntouch marked\n");
    let mut server =
        Server::ready_with(project.root(), &[("MCPBASH_MAX_CONCURRENT_REQUESTS", "1")], "2025-11-25");
    server.call(1, "wait");
    server.call(2, "mark");
    project.wait_for_started(1);
    server.notify("notifications/cancelled", &json!({ "requestId": 2 }));
    project.go();
    assert_eq!(server.receive()["id"], 1);
    server.expect_silence();
    server.close_input();
    wait_until("the server to end", || server.child.try_wait().unwrap());
    assert!(!project.path("marked").exists());
}
