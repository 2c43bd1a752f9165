//! The transport of 2024-11-05: an event stream, and POST beside it.

use super::{call, project};
use crate::harness::http::{HttpServer, request};
use crate::harness::{Project, wait_until, wait_until_gone};
use rustix::process::Signal;
use serde_json::{Value, json};

/// A session of the transport of 2024-11-05: the stream, and the address for messages.
struct OldSession<'a> {
    server: &'a HttpServer,
    events: crate::harness::http::Events,
    target: String,
}

impl<'a> OldSession<'a> {
    fn open(server: &'a HttpServer) -> Self {
        let mut http = server.connect();
        http.send(&request("GET", "/sse", &[("Accept", "text/event-stream")], b""));
        let mut events = http.events();
        let first = events.next().unwrap();
        assert_eq!(first.name.as_deref(), Some("endpoint"));
        let mut session = Self { server, events, target: first.data.unwrap() };
        let initialize = crate::harness::http::initialize("2024-11-05", &json!({}));
        assert_eq!(session.post(&initialize), 202);
        assert_eq!(session.next()["result"]["protocolVersion"], "2024-11-05");
        assert_eq!(session.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })), 202);
        session
    }

    fn post(&self, message: &Value) -> u16 {
        let headers = [("Content-Type", "application/json")];
        self.server.send(&request("POST", &self.target, &headers, message.to_string().as_bytes())).status
    }

    fn call(&self, id: u32, tool: &str) {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call(tool) });
        assert_eq!(self.post(&message), 202);
    }

    fn next(&mut self) -> Value {
        let event = self.events.next_message().unwrap();
        assert_eq!(event.id, None, "nobody can come back");
        event.message()
    }
}

#[test]
fn the_oldest_transport_lives_as_long_as_its_stream() {
    let project = project();
    let server = HttpServer::start_with(project.root(), &["--legacy-sse"], &[]);
    let mut session = OldSession::open(&server);
    session.call(1, "hi");
    assert_eq!(session.next()["result"]["content"][0]["text"], "hi");
    let target = session.target.clone();
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    let headers = [("Content-Type", "application/json")];
    let post =
        |target: &str, body: &str| server.send(&request("POST", target, &headers, body.as_bytes())).status;
    for unknown in ["/messages", "/messages?sessionId=", "/messages?sessionId=x", &format!("{target}0")] {
        assert_eq!(post(unknown, &ping), 404, "{unknown}");
    }
    assert_eq!((post(&target, "{"), post(&target, "")), (400, 400));
    session.call(2, "stuck");
    let pid = project.wait_for_started(1)[0];
    drop(session);
    wait_until_gone(pid);
    wait_until("the session to end", || (post(&target, &ping) == 404).then_some(()));
    server.finish();
}

#[test]
fn unread_answers_are_bounded() {
    let project = Project::with_hi();
    let settings = [("MCPBASH_MAX_UNREAD_BYTES", "65536")];
    let server = HttpServer::start_with(project.root(), &["--legacy-sse"], &settings);
    let session = OldSession::open(&server);
    // An answer repeats the id of its request, which makes it long.
    let list = json!({ "jsonrpc": "2.0", "id": "x".repeat(20_000), "method": "tools/list" });
    // Besides the server's own buffers, the connection's buffers take some megabytes.
    let taken = (0..2_000).take_while(|_| session.post(&list) == 202).count();
    assert_eq!(session.post(&list), 503);
    // An answer of the client is still accepted, and other clients are not affected.
    assert_eq!(session.post(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} })), 202);
    server.expect_service();
    let mut session = session;
    for _ in 0..taken {
        assert!(session.next()["result"]["tools"].is_array());
    }
    wait_until("the stream to be read", || (session.post(&list) == 202).then_some(()));
    server.finish();
}

#[test]
fn the_oldest_transport_is_answered_at_shutdown_too() {
    let project = project();
    let mut server = HttpServer::start_with(project.root(), &["--legacy-sse"], &[]);
    let idle = OldSession::open(&server);
    let busy = OldSession::open(&server);
    busy.call(1, "stuck");
    project.wait_for_started(1);
    let (mut idle, mut busy) = (idle.events, busy.events);
    server.signal(Signal::TERM);
    while idle.next().is_some() {}
    project.open_gate();
    let last = std::iter::from_fn(|| busy.next_message()).last().unwrap().message();
    assert_eq!((&last["id"], &last["result"]["content"][0]["text"]), (&json!(1), &json!("went")));
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
}
