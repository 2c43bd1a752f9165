//! Sessions of the handshake era: another server that has the keys goes on with them, for the same caller only.

use super::Fleet;
use crate::harness::http::{Response, initialize, post, request};
use crate::harness::{Project, wait_until};
use serde_json::{Value, json};
use std::thread;

pub(super) fn begin(fleet: &Fleet, server: usize) -> String {
    let greeted = send(fleet, server, None, &initialize("2025-06-18", &json!({ "elicitation": {} })));
    let id = greeted.header("mcp-session-id").expect("a session").to_owned();
    send(fleet, server, Some(&id), &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    id
}

fn send(fleet: &Fleet, server: usize, session: Option<&str>, message: &Value) -> Response {
    let mut headers = vec![("Authorization", fleet.token())];
    headers.extend(session.map(|id| ("Mcp-Session-Id", id)));
    fleet.servers[server].send(&post(&headers, &message.to_string()))
}

pub(super) fn call(fleet: &Fleet, server: usize, session: &str) -> Response {
    let params = json!({ "name": "hi", "arguments": {} });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    send(fleet, server, Some(session), &message)
}

#[test]
fn a_session_goes_on_at_any_server_until_its_client_ends_it() {
    let project = Project::new().tool("hi", "#!/bin/sh\necho hi\n");
    let fleet = Fleet::start(&project, 3);
    let session = begin(&fleet, 0);
    assert!(session.len() < 1000, "{}", session.len());
    for server in [1, 2, 0, 1] {
        let answer = call(&fleet, server, &session).json();
        assert_eq!(answer["result"]["content"][0]["text"], "hi", "{answer}");
    }
    let headers = [("Authorization", fleet.token()), ("Mcp-Session-Id", &*session)];
    assert_eq!(fleet.servers[2].send(&request("DELETE", "/mcp", &headers, b"")).status, 200);
    let mut fleet = fleet;
    fleet.add(&project);
    assert_eq!(call(&fleet, 3, &session).status, 404, "a server that never knew it does not begin it again");
}

/// Behind a load balancer without sticky sessions, each message may reach another server.
#[test]
fn a_session_begins_at_one_server_and_is_initialized_at_another() {
    let project = Project::new().tool("hi", "#!/bin/sh\necho hi\n");
    let fleet = Fleet::start(&project, 2);
    let greeted = send(&fleet, 0, None, &initialize("2025-06-18", &json!({})));
    let session = greeted.header("mcp-session-id").expect("a session").to_owned();
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(send(&fleet, 1, Some(&session), &initialized).status, 202);
    for server in [0, 1] {
        let answer = call(&fleet, server, &session).json();
        assert_eq!(answer["result"]["content"][0]["text"], "hi", "{answer}");
    }
}

#[test]
fn a_session_goes_on_with_what_its_client_can_do() {
    let script = "#!/usr/bin/env bash\necho \"$MCP_ELICIT_SUPPORTED\"\n";
    let project = Project::new().tool("hi", script);
    let fleet = Fleet::start(&project, 2);
    let session = begin(&fleet, 0);
    let [here, there] =
        [0, 1].map(|server| call(&fleet, server, &session).json()["result"]["content"].clone());
    assert_eq!(here, there);
    assert!(here.to_string().contains('1'), "{here}");
}

#[test]
fn an_id_that_was_changed_or_is_a_strangers_is_unknown() {
    let project = Project::with_hi();
    let fleet = Fleet::start(&project, 2);
    let session = begin(&fleet, 0);
    let mut changed = session.clone();
    let last = changed.pop().expect("a letter");
    changed.push(if last == 'A' { 'B' } else { 'A' });
    for id in [&*changed, "1.1.", "1.1.AAAA", &session[..session.len() / 2]] {
        assert_eq!(call(&fleet, 1, id).status, 404, "{id}");
    }
    let stranger = [("Authorization", fleet.strangers_token()), ("Mcp-Session-Id", &*session)];
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    assert_eq!(fleet.servers[1].send(&post(&stranger, &ping)).status, 404);
}

#[test]
fn requests_that_reach_another_server_at_once_are_all_of_the_session() {
    let project = Project::new().tool("hi", "#!/bin/sh\necho hi\n");
    let fleet = Fleet::start(&project, 2);
    for _ in 0..5 {
        let session = begin(&fleet, 0);
        let statuses: Vec<u16> = thread::scope(|scope| {
            let ping = |id: u32| {
                let message = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
                send(&fleet, 1, Some(&session), &message).status
            };
            let calls: Vec<_> = (0..6).map(|id| scope.spawn(move || ping(id))).collect();
            calls.into_iter().map(|call| call.join().expect("an answer")).collect()
        });
        assert_eq!(statuses, [200; 6]);
    }
}

#[test]
fn a_server_without_room_for_a_session_of_another_says_so_and_when_to_try_again() {
    let project = Project::new().tool("hi", "#!/bin/sh\necho hi\n");
    let fleet = Fleet::start_with(&project, 2, &[("MCPBASH_HTTP_MAX_SESSIONS", "1")]);
    let (first, second) = (begin(&fleet, 0), begin(&fleet, 1));
    let headers = [("Authorization", fleet.token()), ("Mcp-Session-Id", &*second)];
    let mut stream = fleet.servers[1].connect();
    stream.send(&request("GET", "/mcp", &[("Accept", "text/event-stream"), headers[0], headers[1]], b""));
    assert_eq!(stream.head().status, 200, "a session in use is kept");
    let refused = call(&fleet, 1, &first);
    assert_eq!((refused.status, refused.header("retry-after").is_some()), (503, true), "{refused:?}");
    drop(stream);
    wait_until("room for the session", || (call(&fleet, 1, &first).status == 200).then_some(()));
}

#[test]
fn a_session_that_its_client_ends_at_one_server_ends_at_the_others_that_have_it() {
    let project = Project::new().tool("hi", "#!/bin/sh\necho hi\n");
    // Servers look for ended sessions four times within this time.
    let fleet = Fleet::start_with(&project, 2, &[("MCPBASH_HTTP_SESSION_IDLE_TIMEOUT", "4")]);
    let session = begin(&fleet, 0);
    assert_eq!(call(&fleet, 1, &session).status, 200);
    let headers = [("Authorization", fleet.token()), ("Mcp-Session-Id", &*session)];
    assert_eq!(fleet.servers[1].send(&request("DELETE", "/mcp", &headers, b"")).status, 200);
    // It is in use all the time, so that it does not expire.
    wait_until("the session to end", || (call(&fleet, 0, &session).status == 404).then_some(()));
}
