//! Shutdown while streams are open.

use super::{call, project, short};
use crate::harness::http::{HttpServer, stateless};
use crate::harness::wait_until_gone;
use rustix::process::Signal;
use serde_json::{Value, json};

/// Listens for changes without a session.
fn listen(server: &HttpServer, params: &Value) -> crate::harness::http::Events {
    let mut http = server.connect();
    http.send(&stateless("l", "subscriptions/listen", &json!({ "notifications": params })));
    http.events()
}

#[test]
fn shutdown_finishes_running_calls() {
    let project = project().file("resources/a.txt", "a");
    let mut server = HttpServer::start(project.root());
    let mut lists = listen(&server, &json!({ "toolsListChanged": true }));
    let mut resources = listen(&server, &json!({ "resourceSubscriptions": [] }));
    for events in [&mut lists, &mut resources] {
        let ack = events.next_message().unwrap().message();
        assert_eq!(ack["method"], "notifications/subscriptions/acknowledged");
    }
    let session = server.session("2025-11-25");
    let mut unasked = session.get(None).events();
    unasked.next();
    let mut in_session = session.request(1, "tools/call", &call("stuck"));
    let mut streaming = session.call_with_progress(2, "waits").events();
    streaming.next_message().unwrap();
    let mut alone = server.connect();
    alone.send(&stateless(3, "tools/call", &call("stuck")));
    project.wait_for_started(3);
    let mut idle = server.connect();
    idle.send(&stateless(1, "server/discover", &json!({})));
    idle.response();
    server.signal(Signal::TERM);
    // Listening streams end at once, while the calls still run.
    for mut events in [lists, resources] {
        let last = events.next_message().unwrap().message();
        assert!(last["id"] == "l" && last.get("result").is_some(), "{last}");
        assert_eq!(events.next(), None);
    }
    let farewell = std::iter::from_fn(|| unasked.next()).last().unwrap();
    assert!(farewell.retry.is_some(), "{farewell:?}");
    idle.expect_closed();
    assert!(server.child.try_wait().unwrap().is_none(), "calls are still running");
    project.open_gate();
    for (http, id) in [(&mut in_session, 1), (&mut alone, 3)] {
        let answer = http.response();
        assert_eq!(answer.header("connection"), Some("close"), "{answer:?}");
        assert_eq!(
            (&answer.json()["id"], &answer.json()["result"]["content"][0]["text"]),
            (&json!(id), &json!("went"))
        );
    }
    let rest: Vec<String> =
        std::iter::from_fn(|| streaming.next_message()).map(|event| short(&event)).collect();
    assert_eq!(rest.last().map(String::as_str), Some("done"));
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    assert!(!server.log().contains("panic"), "{}", server.log());
}

#[test]
fn a_connection_that_was_open_at_shutdown_is_answered_once() {
    let project = project();
    let mut server = HttpServer::start(project.root());
    let mut idle = server.connect();
    idle.send(&stateless(1, "server/discover", &json!({})));
    idle.response();
    let (mut late, mut silent) = (server.connect(), server.connect());
    server.signal(Signal::TERM);
    idle.expect_closed();
    late.send(&stateless(2, "tools/call", &call("stuck")));
    project.wait_for_started(1);
    project.open_gate();
    let answer = late.response();
    assert_eq!(answer.header("connection"), Some("close"), "{answer:?}");
    assert_eq!(answer.json()["id"], 2);
    silent.expect_closed();
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
}

#[test]
fn calls_that_outlast_the_shutdown_timeout_get_an_error() {
    let project = project();
    let mut server = HttpServer::start_with(project.root(), &[], &[("MCPBASH_HTTP_DRAIN_TIMEOUT", "1")]);
    let session = server.session("2025-11-25");
    let mut in_session = session.request(1, "tools/call", &call("stuck"));
    let mut streaming = session.call_with_progress(2, "waits").events();
    streaming.next_message().unwrap();
    let mut alone = server.connect();
    alone.send(&stateless(3, "tools/call", &call("stuck")));
    let pids = project.wait_for_started(3);
    server.signal(Signal::TERM);
    for http in [&mut in_session, &mut alone] {
        let answer = http.response().json();
        assert!(answer.get("error").is_some() || answer["result"]["isError"] == true, "{answer}");
    }
    let last = std::iter::from_fn(|| streaming.next_message()).last().unwrap().message();
    assert!(last["id"] == 2 && (last.get("error").is_some() || last["result"]["isError"] == true), "{last}");
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    for pid in pids {
        wait_until_gone(pid);
    }
}
