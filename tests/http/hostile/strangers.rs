//! Other origins, other host names, and session ids of other callers.

use super::{HEAD, Target, discover};
use crate::harness::http::{initialize, post, request, stateless_with};
use serde_json::json;

#[test]
fn other_origins_and_host_names_are_refused() {
    let target = Target::new();
    let body = discover();
    let post = |headers: &[(&str, &str)]| {
        let usual = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "server/discover")];
        target.server.send(&post(&[&usual[..], headers].concat(), &body))
    };
    for host in [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evil.example:80",
        "127.0.0.1@evil.example",
        "evil.example#127.0.0.1",
        "127.1",
        "0.0.0.0",
        "0x7f000001",
        "192.168.0.1",
        "",
        "127.0.0.1, evil.example",
    ] {
        assert_eq!(post(&[("Host", host)]).status, 421, "{host:?}");
    }
    assert_eq!(post(&[("Host", "127.0.0.1"), ("Host", "127.0.0.1")]).status, 421);
    assert_eq!(post(&[("Host", "evil.example"), ("Host", "127.0.0.1")]).status, 421);
    for origin in [
        "null",
        "http://evil.example",
        "http://127.0.0.1.evil.example",
        "http://localhost.evil.example",
        "http://localhost@evil.example",
        "file://",
        "chrome-extension://abc",
        "http://",
        "",
        "http://localhost http://evil.example",
        "http://localhost, http://evil.example",
        "http://localhost/path",
    ] {
        let refused = post(&[("Origin", origin)]);
        assert_eq!(refused.status, 403, "{origin:?}");
        assert_eq!(refused.header("access-control-allow-origin"), None, "{origin:?}");
        assert_eq!(refused.header("www-authenticate"), None);
        let preflight = [("Origin", origin), ("Access-Control-Request-Method", "POST")];
        let refused = target.server.send(&request("OPTIONS", "/mcp", &preflight, b""));
        assert_eq!(
            (refused.status, refused.header("access-control-allow-origin")),
            (403, None),
            "{origin:?}"
        );
    }
    let twice = post(&[("Origin", "http://localhost"), ("Origin", "http://localhost")]);
    assert_eq!(twice.status, 403);
    let twice = post(&[("Origin", "http://localhost"), ("Origin", "http://evil.example")]);
    assert_eq!((twice.status, twice.header("access-control-allow-origin")), (403, None));
    // A full URL in the request line is compared with the header.
    for (target_url, host, status) in [
        ("http://evil.example/mcp", "127.0.0.1", 421),
        ("http://127.0.0.1/mcp", "evil.example", 421),
        ("http://evil.example/mcp", "evil.example", 421),
        ("http://127.0.0.1/mcp", "127.0.0.1", 400),
    ] {
        let headers = [("Host", host), ("Accept", "text/event-stream")];
        assert_eq!(target.status(&request("GET", target_url, &headers, b"")), status, "{target_url} {host}");
    }
    let missing =
        format!("{}Content-Length: {}\r\n\r\n{body}", HEAD.replace("Host: 127.0.0.1\r\n", ""), body.len());
    assert_eq!(target.status(missing.as_bytes()), 421);
    assert_eq!(target.status(missing.replace("HTTP/1.1", "HTTP/1.0").as_bytes()), 421);
    assert_eq!(post(&[("Origin", "http://localhost:6274")]).status, 200);
    target.expect_unharmed();
}

#[test]
fn a_session_requires_its_id() {
    let target = Target::new();
    let session = target.server.session("2025-11-25");
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "mark" } });
    let with = |headers: &[(&str, &str)]| target.server.send(&post(headers, &call.to_string()));
    let id = session.id.as_str();
    assert!(id.len() >= 32 && id.bytes().all(|byte| (0x21..0x7f).contains(&byte)), "{id}");
    let guesses = [
        id[..id.len() - 1].to_owned(),
        format!("{id}0"),
        id.to_uppercase(),
        id.chars().rev().collect(),
        format!("{id},{id}"),
        "0".repeat(id.len()),
        "../../etc/passwd".to_owned(),
        "*".to_owned(),
        "x".repeat(50_000),
        "é".to_owned(),
    ];
    for guess in guesses.iter().filter(|guess| *guess != id) {
        let refused = with(&[("Mcp-Session-Id", guess)]);
        assert_eq!(refused.status, 404, "{guess}");
        assert_eq!(refused.header("mcp-session-id"), None);
        assert_eq!(refused.json()["id"], 1);
    }
    for headers in [
        &[("Mcp-Session-Id", id), ("Mcp-Session-Id", id)][..],
        &[("Mcp-Session-Id", id), ("Mcp-Session-Id", "other")],
        &[("Mcp-Session-Id", ""), ("mcp-session-id", id)],
        &[("Mcp-Session-Id", "")],
    ] {
        assert_eq!(with(headers).status, 404, "{headers:?}");
    }
    assert_eq!(with(&[]).status, 400);
    for version in ["2099-01-01", "", "2025-11-25, 2025-06-18"] {
        let refused = with(&[("Mcp-Session-Id", id), ("MCP-Protocol-Version", version)]);
        assert_eq!(refused.status, 400, "{version}");
    }
    // A client cannot choose the id of a session.
    let chosen = post(&[("Mcp-Session-Id", "chosen")], &initialize("2025-11-25", &json!({})).to_string());
    let begun = target.server.send(&chosen);
    assert!(
        begun.status == 200 && begun.header("mcp-session-id").is_some_and(|id| id != "chosen"),
        "{begun:?}"
    );
    assert_eq!(with(&[("Mcp-Session-Id", "chosen")]).status, 404);
    let again = post(&session.headers(), &initialize("2025-11-25", &json!({})).to_string());
    assert_ne!(target.server.send(&again).header("mcp-session-id"), Some(id));
    // A session that could not begin has no id.
    let failed =
        target.server.send(&post(&[], r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":7}"#));
    assert_eq!(failed.header("mcp-session-id"), None, "{failed:?}");
    // The stateless era has no sessions, and a session id does not change that.
    let headers = [("Mcp-Session-Id", "nobody's")];
    let ignored = target.server.send(&stateless_with(&headers, 1, "server/discover", &json!({})));
    assert_eq!((ignored.status, ignored.header("mcp-session-id")), (200, None));
    target.expect_unharmed();
}
