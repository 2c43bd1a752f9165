//! Requests, answers and streams of a session, and clients that close, cancel or do not read.

use super::{STEP, call, project};
use crate::harness::http::{HttpServer, post, stateless};
use crate::harness::{Project, exists, wait_until, wait_until_gone};
use serde_json::json;

#[test]
fn closing_the_connection_cancels_only_without_a_session() {
    let project = project();
    let server = HttpServer::start(project.root());
    let mut alone = server.connect();
    alone.send(&stateless(1, "tools/call", &call("stuck")));
    let with_progress = json!({ "name": "waits", "arguments": {}, "_meta": { "progressToken": 1 } });
    let mut streaming = server.connect();
    streaming.send(&stateless(1, "tools/call", &with_progress));
    let mut streaming = streaming.events();
    let event = streaming.next_message().unwrap();
    assert_eq!(event.id, None, "whoever has an id would come back");
    let session = server.session("2025-11-25");
    let in_session = session.request(1, "tools/call", &call("stuck"));
    let pids = project.wait_for_started(3);
    drop((alone, streaming, in_session));
    let alive = wait_until("the two to go", || {
        let alive: Vec<_> = pids.iter().filter(|pid| exists(**pid)).collect();
        (alive.len() < 2).then_some(alive)
    });
    assert_eq!(alive.len(), 1);
    // A posted cancellation applies only to a request of the same session.
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    let other = server.session("2025-11-25");
    assert_eq!(other.send(&cancel).response().status, 202);
    assert_eq!(
        server.send(&post(&[("MCP-Protocol-Version", "2026-07-28")], &cancel.to_string())).status,
        202
    );
    server.expect_service();
    assert!(exists(*alive[0]));
    session.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    wait_until_gone(*alive[0]);
    server.finish();
}

#[test]
fn a_cancelled_request_gets_no_answer() {
    let project = project();
    let server = HttpServer::start(project.root());
    let session = server.session("2025-11-25");
    let mut waiting = session.request("a", "tools/call", &call("stuck"));
    let pid = project.wait_for_started(1)[0];
    session.notify("notifications/cancelled", &json!({ "requestId": "a" }));
    wait_until_gone(pid);
    let ended = waiting.response();
    assert!(ended.status == 200 && ended.is_events() && ended.body.is_empty(), "{ended:?}");
    // Its id can be reused.
    assert_eq!(session.ask("a", "tools/call", &call("hi"))["result"]["content"][0]["text"], "hi");
    server.finish();
}

#[test]
fn a_question_is_answered_by_another_post() {
    let script = "#!/usr/bin/env bash\nsource \"${MCP_SDK:?}/tool-sdk.sh\"\nmcp_elicit_string 'Who?' name\n";
    let project = Project::new().tool("asks", script);
    let server = HttpServer::start(project.root());
    for revision in ["2025-06-18", "2025-11-25"] {
        let capabilities = json!({ "elicitation": {} });
        let (session, other) = (
            server.session_offering(revision, &capabilities),
            server.session_offering(revision, &capabilities),
        );
        let mut events = session.request(1, "tools/call", &call("asks")).events();
        let question = events.next_message().unwrap();
        assert_eq!(question.message()["method"], "elicitation/create", "{question:?}");
        let answer = |name: &str| {
            let result = json!({ "action": "accept", "content": { "name": name } });
            json!({ "jsonrpc": "2.0", "id": question.message()["id"], "result": result })
        };
        // An answer from another session does not count, nor does an answer without a question.
        assert_eq!(other.send(&answer("Mallory")).response().status, 202);
        assert_eq!(session.send(&json!({ "jsonrpc": "2.0", "id": 99, "result": {} })).response().status, 202);
        // A client that lost the question can read it again.
        let id = question.id.clone().unwrap();
        let before = id.replace("-1", "-0");
        drop(events);
        let mut events = session.get(Some(&before)).events();
        assert_eq!(events.next_message().as_ref(), Some(&question));
        assert_eq!(session.send(&answer("Zoë")).response().status, 202);
        let answered = events.next_message().unwrap().message();
        assert!(answered["result"]["content"][0]["text"].as_str().unwrap().contains("Zoë"), "{answered}");
        assert_eq!(events.next(), None);
    }
    server.finish();
}

#[test]
fn batches_are_accepted_only_in_the_revision_that_has_them() {
    let project = project();
    let server = HttpServer::start(project.root());
    let batch = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "ping" },
        { "jsonrpc": "2.0", "method": "notifications/none" },
        { "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call("hi") },
        { "jsonrpc": "2.0", "id": 3, "method": "none" },
        7,
    ]);
    let session = server.session("2025-03-26");
    let answers = session.send(&batch).response().json();
    let mut ids: Vec<String> =
        answers.as_array().unwrap().iter().map(|answer| answer["id"].to_string()).collect();
    ids.sort();
    assert_eq!(ids, ["1", "2", "3", "null"], "{answers}");
    let quiet = json!([{ "jsonrpc": "2.0", "method": "notifications/none" }]);
    assert_eq!(session.send(&quiet).response().status, 202);
    assert_eq!(session.send(&json!([])).response().status, 400);
    let with_progress = json!([
        { "jsonrpc": "2.0", "id": 4, "method": "tools/call",
          "params": { "name": "steps", "_meta": { "progressToken": 4 } } },
        { "jsonrpc": "2.0", "id": 5, "method": "ping" },
    ]);
    let messages = session.send(&with_progress).events().messages();
    assert_eq!(messages.len(), 6, "{messages:?}");
    assert_eq!(messages[5].as_array().map(Vec::len), Some(2), "{messages:?}");
    for revision in ["2025-06-18", "2025-11-25"] {
        let refused = server.session(revision).send(&batch).response();
        assert_eq!((refused.status, &refused.json()["error"]["code"]), (400, &json!(-32600)));
    }
    server.finish();
}

#[test]
fn request_ids_are_per_client() {
    let project = project();
    let server = HttpServer::start(project.root());
    let (one, two) = (server.session("2025-11-25"), server.session("2025-11-25"));
    let mut first = one.request(1, "tools/call", &call("stuck"));
    let mut second = two.request(1, "tools/call", &call("stuck"));
    let mut alone = server.connect();
    alone.send(&stateless(1, "tools/call", &call("stuck")));
    project.wait_for_started(3);
    let taken = one.request(1, "ping", &json!({})).response();
    assert_eq!(taken.json()["error"]["code"], -32600, "{taken:?}");
    project.open_gate();
    for http in [&mut first, &mut second, &mut alone] {
        let answer = http.response().json();
        assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(1), &json!("went")));
    }
    server.finish();
}

#[test]
fn a_client_that_does_not_read_blocks_no_other() {
    let script = format!(
        "#!/bin/bash\ntext=$(head -c 8000 /dev/zero | tr '\\0' x)\n{}for n in $(seq 1 1000); do step $n; done\n\
         echo $$ >>ended\necho done\n",
        STEP.replace("\"progress\":%s", "\"progress\":%s,\"message\":\"'$text'\"")
    );
    let project = Project::with_hi().tool("floods", &script);
    let server = HttpServer::start_with(
        project.root(),
        &[],
        &[("MCPBASH_MAX_PROGRESS_PER_MIN", "0"), ("MCPBASH_HTTP_STALL_TIMEOUT", "600")],
    );
    let params = json!({ "name": "floods", "arguments": {}, "_meta": { "progressToken": 1 } });
    let session = server.session("2025-11-25");
    let mut lazy = session.request(1, "tools/call", &params);
    let mut lazier = server.connect();
    lazier.send(&stateless(1, "tools/call", &params));
    // Both scripts finish although their output is not read.
    wait_until("the scripts to end", || (project.read("ended").lines().count() == 2).then_some(()));
    let mut diligent = server.connect();
    diligent.send(&stateless(2, "tools/call", &params));
    let messages = diligent.events().messages();
    assert_eq!(messages.last().unwrap()["result"]["content"][0]["text"], "done");
    assert_eq!(session.ask(2, "tools/call", &call("hi"))["result"]["content"][0]["text"], "hi");
    // A late reader has missed messages that may be dropped, and still gets its answer.
    for http in [&mut lazy, &mut lazier] {
        let text = String::from_utf8(http.response().body).unwrap();
        assert!(text.contains("\"text\":\"done\""), "{}", text.len());
    }
    server.finish();
}

#[test]
fn only_newlines_end_the_lines_of_an_event() {
    // A carriage return between the members of JSON would end a line of an event.
    let script = format!(
        "#!/bin/bash\n{STEP}step 1\nprintf '{{\"content\":\\r[{{\"type\":\"text\",\\r\\n\"text\":\"a\\\\r\\\\nb\"}}],\\r\
         \"structuredContent\":\\r{{\"x\":\\r1}}}}'\n"
    );
    let project = Project::new().tool("returns", &script);
    let server = HttpServer::start(project.root());
    let events = server.session("2025-11-25").call_with_progress(1, "returns").events().all();
    assert!(events.len() >= 3, "{events:?}");
    let last = events.last().unwrap();
    assert_eq!(last.message()["id"], 1);
    assert!(!last.data.as_ref().unwrap().contains('\r'));
    server.finish();
}

#[test]
fn streams_beyond_the_limit_are_refused_and_calls_still_answered() {
    let project = project();
    let server = HttpServer::start_with(project.root(), &[], &[("MCPBASH_HTTP_MAX_STREAMS", "2")]);
    let (first, second) = (server.session("2025-11-25"), server.session("2025-11-25"));
    let held = [first.get(None).events(), second.get(None).events()];
    let third = server.session("2025-11-25");
    let refused = third.get(None).response();
    assert_eq!(refused.status, 503);
    assert!(refused.header("retry-after").is_some());
    let mut listening = server.connect();
    listening.send(&stateless("l", "subscriptions/listen", &json!({ "notifications": {} })));
    assert_eq!(listening.response().status, 503);
    // Requests in progress are still answered.
    let answer = third.call_with_progress(1, "steps").events().messages();
    assert_eq!(answer.last().unwrap()["result"]["content"][0]["text"], "done", "{answer:?}");
    assert_eq!(third.ask(2, "tools/call", &call("hi"))["result"]["content"][0]["text"], "hi");
    drop(held);
    wait_until("room for a stream", || (third.get(None).head().status == 200).then_some(()));
    server.finish();
}
