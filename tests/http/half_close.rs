//! Clients over HTTP that close their writing side after a request: waiting clients get their answers, and
//! disconnected clients are still detected.

use crate::harness::http::{Http, HttpServer, stateless};
use crate::harness::{Project, wait_until_gone};
use serde_json::{Value, json};

fn project() -> Project {
    Project::with_hi()
        .waiting_tool("stuck")
        .tool("large", "#!/bin/sh\necho $$ >>started\nread _ <gate\nhead -c 3000000 /dev/zero | tr '\\0' x\n")
}

/// Calls a tool without a session, and closes the writing side.
fn call_and_close(server: &HttpServer, tool: &str) -> Http {
    let mut http = server.connect();
    http.send(&stateless(1, "tools/call", &json!({ "name": tool, "arguments": {} })));
    http.half_close();
    http
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn a_waiting_client_gets_its_answer() {
    let project = project();
    let server = HttpServer::start(project.root());
    // The end of input may arrive before or after the request is handled.
    for _ in 0..100 {
        let mut answer = call_and_close(&server, "hi").incoming();
        assert_eq!(answer.status, 200);
        let message = answer.next().unwrap();
        assert!(message["id"] == 1 && !text(&message).is_empty(), "{message}");
    }
    server.finish();
}

#[test]
fn a_slow_answer_is_an_event() {
    let project = project();
    let server = HttpServer::start(project.root());
    let mut waiting = call_and_close(&server, "stuck").events();
    project.wait_for_started(1);
    // Until then the server sends comments, which show that the connection is open.
    waiting.wait_for_comment();
    waiting.wait_for_comment();
    project.open_gate();
    let answer = waiting.next_message().unwrap().message();
    assert!(answer["id"] == 1 && answer["error"].is_null(), "{answer}");
    assert!(waiting.next().is_none(), "the stream ends after the answer");
    server.finish();
}

#[test]
fn an_answer_larger_than_the_socket_buffer_arrives_completely() {
    let project = project();
    let server = HttpServer::start_with(project.root(), &[], &[("MCPBASH_MAX_RESULT_TEXT_BYTES", "5000000")]);
    let mut http = server.connect();
    http.send(&stateless(1, "tools/call", &json!({ "name": "large", "arguments": {} })));
    project.wait_for_started(1);
    project.open_gate();
    let head = http.head();
    assert!(head.status == 200 && !head.is_events());
    http.half_close();
    let length: usize = head.header("content-length").unwrap().parse().unwrap();
    assert!(length > 100_000, "{length}");
    assert_eq!(http.rest().len(), length);
    server.finish();
}

#[test]
fn calls_of_disconnected_clients_are_cancelled() {
    let project = project();
    let server = HttpServer::start(project.root());
    let mut silent = server.connect();
    silent.send(&stateless(1, "tools/call", &json!({ "name": "stuck", "arguments": {} })));
    let mut waiting = call_and_close(&server, "stuck").events();
    let pids = project.wait_for_started(2);
    waiting.wait_for_comment();
    drop(waiting);
    drop(silent);
    for pid in pids {
        wait_until_gone(pid);
    }
    server.finish();
}

#[test]
fn a_stream_whose_client_may_be_gone_can_be_taken_over() {
    let project = project();
    let server = HttpServer::start(project.root());
    let session = server.session("2025-11-25");
    let first = session.get(None);
    first.half_close();
    let mut first = first.events();
    first.wait_for_comment();
    let mut second = session.get(None).events();
    assert!(second.next().unwrap().id.is_some(), "no conflict: the first may be gone");
    while first.next().is_some() {}
    server.finish();
}
