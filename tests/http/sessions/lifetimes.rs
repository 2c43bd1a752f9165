//! The lifetime of sessions, and their maximum number.

use super::{call, project};
use crate::harness::http::{Event, HttpServer, HttpSession, post, request};
use crate::harness::metrics::{gauge, start_with};
use crate::harness::{exists, wait_until, wait_until_gone};
use serde_json::json;

#[test]
fn idle_sessions_expire_and_the_others_do_not() {
    let project = project();
    let (server, metrics) = start_with(&project, &[("MCPBASH_HTTP_SESSION_IDLE_TIMEOUT", "1")]);
    let (idle, listening, working) =
        (server.session("2025-11-25"), server.session("2025-11-25"), server.session("2025-06-18"));
    let mut stream = listening.get(None).events();
    stream.next();
    let call = working.request(1, "tools/call", &call("stuck"));
    let pid = project.wait_for_started(1)[0];
    let ping = |session: &HttpSession<'_>| session.request("p", "ping", &json!({})).response().status;
    // Observed in the metrics, because a request would use the session.
    wait_until("the session to end", || (gauge(metrics, "mcp_server_sessions") == 2).then_some(()));
    assert_eq!(ping(&idle), 404);
    assert_eq!((ping(&listening), ping(&working)), (200, 200));
    assert!(exists(pid));
    drop(call);
    drop(stream);
    server.finish();
    wait_until_gone(pid);
}

#[test]
fn the_least_recently_used_session_is_evicted() {
    let project = project();
    let server = HttpServer::start_with(project.root(), &[], &[("MCPBASH_HTTP_MAX_SESSIONS", "2")]);
    let (first, second) = (server.session("2025-11-25"), server.session("2025-11-25"));
    let ping = |session: &HttpSession<'_>| session.request("p", "ping", &json!({})).response().status;
    assert_eq!((ping(&second), ping(&first)), (200, 200));
    let third = server.session("2025-11-25");
    assert_eq!((ping(&first), ping(&second), ping(&third)), (200, 404, 200));
    // Sessions in use stay, and there is no room for more.
    let streams = [first.get(None).events(), third.get(None).events()];
    let initialize = crate::harness::http::initialize("2025-11-25", &json!({})).to_string();
    let refused = server.send(&post(&[], &initialize));
    assert_eq!((refused.status, refused.header("mcp-session-id")), (503, None));
    assert!(refused.header("retry-after").is_some());
    drop(streams);
    server.finish();
}

#[test]
fn deleting_a_session_cancels_its_calls() {
    let project = project();
    let server = HttpServer::start(project.root());
    let session = server.session("2025-11-25");
    let mut unasked = session.get(None).events();
    let mut streaming = session.call_with_progress(1, "waits").events();
    streaming.next_message().unwrap();
    let mut silent = session.request(2, "tools/call", &call("stuck"));
    let pids = project.wait_for_started(2);
    assert_eq!(session.delete().status, 200);
    for pid in pids {
        wait_until_gone(pid);
    }
    let told: Vec<Event> = std::iter::from_fn(|| streaming.next_message()).collect();
    assert!(told.iter().all(|event| event.message().get("id").is_none()), "{told:?}");
    let ended = silent.response();
    assert!(ended.body.is_empty(), "{ended:?}");
    while unasked.next().is_some() {}
    for gone in
        [session.delete(), session.get(None).response(), session.request(3, "ping", &json!({})).response()]
    {
        assert_eq!(gone.status, 404);
    }
    let mut initialized = server.session("2025-11-25").request(1, "ping", &json!({}));
    assert_eq!(initialized.response().status, 200);
    server.finish();
}

// Shows: http-version
#[test]
fn an_unsupported_version_is_refused() {
    let project = project();
    let server = HttpServer::start(project.root());
    // A client that asks for an unknown revision is offered a supported one.
    for (asked, agreed) in
        [("2099-01-01", "2025-11-25"), ("2026-07-28", "2025-11-25"), ("2024-11-05", "2024-11-05")]
    {
        assert_eq!(server.session(asked).revision, agreed, "{asked}");
    }
    let session = server.session("2025-11-25");
    let with_version = |version: &str| {
        let headers = [("MCP-Session-Id", session.id.as_str()), ("MCP-Protocol-Version", version)];
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
        let get = [("Accept", "text/event-stream"), headers[0], headers[1]];
        let delete = server.send(&request("DELETE", "/mcp", &headers, b"")).status;
        (
            server.send(&post(&headers, &ping)).status,
            server.send(&request("GET", "/mcp", &get, b"")).status,
            delete,
        )
    };
    assert_eq!(with_version("1.0"), (400, 400, 400));
    assert_eq!(with_version("2026-07-28"), (400, 405, 405));
    let headers = [("MCP-Session-Id", session.id.as_str())];
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    assert_eq!(server.send(&post(&headers, &ping)).status, 200, "the header may be left out");
    server.finish();
}
