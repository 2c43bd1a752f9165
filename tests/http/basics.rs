//! Streamable HTTP for an ordinary client: the form of answers, the start and end of a session, and the
//! resumption of a stream that was cut off.

use crate::harness::Project;
use crate::harness::http::{Event, HttpServer, Response, initialize, post, request, stateless};
use serde_json::{Value, json};

/// A tool that prints only its result, and one that reports progress.
fn project() -> Project {
    Project::with_hi().tool(
        "works",
        "#!/usr/bin/env bash\nsource \"${MCP_SDK:?}/tool-sdk.sh\"\nmcp_progress 1 one\nmcp_progress 2 two\necho done\n",
    )
}

fn call(tool: &str) -> Value {
    json!({ "name": tool, "arguments": {}, "_meta": { "progressToken": "t" } })
}

/// The ids of messages; the methods of notifications.
fn short(message: &Value) -> String {
    message.get("id").or(message.get("method")).expect("a message").to_string()
}

const TOLD: [&str; 3] = ["\"notifications/progress\"", "\"notifications/progress\"", "7"];

// Shows: http-form
#[test]
fn an_answer_is_json_unless_a_notification_precedes_it() {
    let project = project();
    let server = HttpServer::start(project.root());
    let session = server.session("2025-11-25");
    let answers = [
        server.send(&stateless(7, "tools/call", &call("hi"))),
        session.request(7, "tools/call", &call("hi")).response(),
    ];
    for answer in answers {
        let message = answer.json();
        assert_eq!((answer.status, &message["id"]), (200, &json!(7)));
        assert_eq!(message["result"]["content"][0]["text"], "hi");
    }
    let mut http = server.connect();
    http.send(&stateless(7, "tools/call", &call("works")));
    for events in [http.events(), session.request(7, "tools/call", &call("works")).events()] {
        let told: Vec<_> = events.messages().iter().map(short).collect();
        assert_eq!(told, TOLD);
    }
}

// Shows: http-event-ids
#[test]
fn events_have_ids_where_the_revision_resumes_by_them() {
    let project = project();
    let server = HttpServer::start(project.root());
    let mut http = server.connect();
    http.send(&stateless(7, "tools/call", &call("works")));
    for event in http.events().all() {
        assert_eq!((event.id, event.retry), (None, None));
    }
    for (revision, is_primed) in [("2025-11-25", true), ("2025-06-18", false), ("2025-03-26", false)] {
        let session = server.session(revision);
        let events = session.request(7, "tools/call", &call("works")).events().all();
        let is_empty = |event: &Event| event.data.as_deref().unwrap_or_default().is_empty();
        assert_eq!(is_empty(&events[0]), is_primed, "{revision}: {events:?}");
        let mut ids: Vec<_> = events.iter().map(|event| event.id.clone().expect("an id")).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), events.len(), "{revision}: {events:?}");
        let messages = events.iter().filter(|event| !is_empty(event));
        assert_eq!(messages.map(|event| short(&event.message())).collect::<Vec<_>>(), TOLD, "{revision}");
    }
}

// Shows: http-resumption
#[test]
fn a_client_that_lost_a_stream_resumes_after_its_last_event() {
    let project = project();
    let server = HttpServer::start(project.root());
    let session = server.session("2025-11-25");
    let events = session.request(7, "tools/call", &call("works")).events().all();
    for (at, event) in events.iter().enumerate() {
        let rest = session.get(event.id.as_deref()).events().messages();
        let expected: Vec<_> = events[at + 1..].iter().map(Event::message).collect();
        assert_eq!(rest, expected, "after {event:?}");
    }
}

fn status_of_ping(server: &HttpServer, headers: &[(&str, &str)]) -> u16 {
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    server.send(&post(headers, &ping.to_string())).status
}

// Shows: http-sessions
#[test]
fn a_session_begins_with_the_handshake_and_ends_when_it_is_deleted() {
    let project = project();
    let server = HttpServer::start(project.root());
    let begun = server.send(&post(&[], &initialize("2025-11-25", &json!({})).to_string()));
    let id = begun.header("mcp-session-id").expect("the id of a session").to_owned();
    assert!(id.len() >= 20 && id.bytes().all(|byte| byte.is_ascii_graphic()), "{id}");
    let known = [("MCP-Session-Id", &*id), ("MCP-Protocol-Version", "2025-11-25")];
    assert_eq!(status_of_ping(&server, &known), 200);
    assert_eq!(status_of_ping(&server, &known[1..]), 400, "without a session");
    assert_eq!(status_of_ping(&server, &[("MCP-Session-Id", "unknown"), known[1]]), 404);
    let delete =
        |headers: &[(&str, &str)]| -> Response { server.send(&request("DELETE", "/mcp", headers, b"")) };
    assert!((200..300).contains(&delete(&known).status));
    assert_eq!(status_of_ping(&server, &known), 404, "it is over");
    assert_eq!(delete(&known).status, 404);
}

// Shows: http-notifications
#[test]
fn notifications_are_accepted_without_a_body() {
    let project = project();
    let server = HttpServer::start(project.root());
    let session = server.session("2025-11-25");
    session.notify("notifications/roots/list_changed", &json!({}));
    let unknown = json!({ "jsonrpc": "2.0", "id": "nobody asked", "result": {} });
    let taken = session.send(&unknown).response();
    assert_eq!((taken.status, taken.body.len()), (202, 0), "{taken:?}");
    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "notifications/cancelled")];
    let taken = server.send(&post(&headers, &cancelled.to_string()));
    assert_eq!((taken.status, taken.body.len()), (202, 0), "{taken:?}");
}
