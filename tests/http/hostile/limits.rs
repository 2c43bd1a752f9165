//! Clients that send too much, too slowly, or too often.

use super::{HEAD, MOST_DESCRIPTORS_KEPT, Target, statuses};
use crate::harness::http::{Http, initialize, post, request, stateless};
use crate::harness::wait_until;
use serde_json::json;

/// So many chunks of 64 KiB exceed what the server and the connection's buffers accept of a refused body.
const MOST_CHUNKS: usize = 16_384;

#[test]
fn endless_heads_are_cut_off() {
    let target = Target::new();
    let long = "x".repeat(100_000);
    for bytes in [
        request("GET", "/mcp", &[("X-Long", &long)], b""),
        request("GET", &format!("/mcp?{long}"), &[], b""),
        request("GET", "/mcp", &vec![("X", "y"); 1000], b""),
        request(&long, "/mcp", &[], b""),
        request("GET", "/mcp", &[(&long, "y")], b""),
        format!("GET /mcp HTTP/1.1\r\n{}", "X-Endless: y\r\n".repeat(100_000)).into_bytes(),
        vec![b'x'; 1_000_000],
        vec![b'\n'; 1_000_000],
    ] {
        let statuses = target.statuses(&bytes);
        assert!(matches!(statuses[..], [414 | 431]), "{statuses:?}");
    }
    target.expect_unharmed();
}

#[test]
fn bodies_that_are_too_long_are_refused_with_an_error() {
    let target = Target::new();
    // A client that declares the length need not send the body.
    let declared = format!("{HEAD}Content-Length: 4194305\r\n\r\n");
    assert_eq!(target.status(declared.as_bytes()), 413);
    let declared = format!("{HEAD}Content-Length: 1000000000000000\r\nExpect: 100-continue\r\n\r\n");
    let mut http = target.server.connect();
    http.send(declared.as_bytes());
    assert_eq!(statuses(&http.rest()), [413]);
    // A client that sends it anyway still reads why it was refused.
    for bytes in [5_000_000, 20_000_000] {
        let refused = target.server.send(&post(&[], &"x".repeat(bytes)));
        assert_eq!(refused.status, 413, "{bytes}");
        assert!(refused.json()["error"]["message"].as_str().unwrap().contains("4194304"), "{refused:?}");
    }
    let refused = target.server.send(&post(&[("Origin", "null")], &"x".repeat(3_000_000)));
    assert_eq!(refused.status, 403);
    // A client that never stops sending is cut off.
    let mut http = target.server.connect();
    http.send(format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n").as_bytes());
    let chunk = [&b"10000\r\n"[..], &vec![b' '; 0x10000], b"\r\n"].concat();
    let is_cut = (0..MOST_CHUNKS).any(|_| http.try_send(&chunk).is_err());
    assert!(is_cut, "it is read without end");
    target.expect_unharmed();
}

#[test]
fn slow_clients_are_cut_off() {
    let target = Target::new();
    let mut silent: Vec<Http> = (0..50).map(|_| target.server.connect()).collect();
    let mut heads: Vec<Http> = (0..50).map(|_| target.server.connect()).collect();
    for http in &mut heads {
        http.send(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ");
    }
    let mut bodies: Vec<Http> = (0..50).map(|_| target.server.connect()).collect();
    for http in &mut bodies {
        http.send(format!("{HEAD}Content-Length: 100\r\n\r\n{{").as_bytes());
    }
    let mut chunks: Vec<Http> = (0..50).map(|_| target.server.connect()).collect();
    for http in &mut chunks {
        http.send(format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\n{{\r\n").as_bytes());
    }
    // A client that trickles bytes for ever is cut off like a silent one.
    let mut drip = target.server.connect();
    drip.send(b"GET /mcp HTTP/1.1\r\nX: ");
    let dripping = std::thread::spawn(move || {
        wait_until("the one that drips to be cut off", || drip.try_send(b"y").is_err().then_some(()));
        statuses(&drip.rest())
    });
    target.server.expect_service();
    for http in silent.iter_mut().chain(&mut heads) {
        assert!(statuses(&http.rest()).iter().all(|status| *status == 408), "nothing else is said");
    }
    for http in bodies.iter_mut().chain(&mut chunks) {
        assert_eq!(statuses(&http.rest()), [408]);
    }
    assert!(dripping.join().unwrap().iter().all(|status| *status == 408), "too slow, not too long");
    target.expect_unharmed();
}

#[test]
fn new_sessions_are_rate_limited_per_caller() {
    let target = Target::with(&[], &[("MCPBASH_HTTP_MAX_SESSIONS", "50")]);
    let hello = post(&[], &initialize("2025-11-25", &json!({})).to_string());
    let mut http = target.server.connect();
    let mut begin = || {
        http.send(&hello);
        http.response()
    };
    let count = (0..2000).take_while(|_| begin().status == 200).count();
    assert!((600..2000).contains(&count), "600 in a minute, and not {count}");
    let refused = begin();
    assert_eq!((refused.status, refused.header("mcp-session-id")), (429, None));
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    assert!(refused.text().contains("MCPBASH_HTTP_MAX_SESSIONS_PER_MIN"), "{refused:?}");
    // Other requests of the same caller have no rate limit, and another caller can still begin sessions.
    target.server.expect_service();
    let mut other = target.server.connect_from([127, 0, 0, 2]);
    other.send(&hello);
    let answer = other.response();
    assert!(answer.status == 200 && answer.header("mcp-session-id").is_some(), "{answer:?}");
    drop((http, other));
    target.expect_unharmed();
}

#[test]
fn a_thousand_connections_are_served_and_released() {
    let target = Target::new();
    let mut all: Vec<Http> = (0..1000).map(|_| target.server.connect()).collect();
    for http in &mut all {
        http.send(&stateless(1, "server/discover", &json!({})));
    }
    for http in &mut all {
        assert_eq!(http.response().status, 200);
    }
    target.server.expect_service();
    drop(all);
    target.expect_unharmed();
}

#[test]
fn connections_beyond_the_limit_are_closed_and_the_others_stay() {
    let target = Target::with(&[], &[("MCPBASH_HTTP_MAX_CONNECTIONS", "20")]);
    let mut held: Vec<Http> = Vec::new();
    let mut refused = 0;
    for _ in 0..40 {
        let mut http = target.server.connect();
        let sent = http.try_send(&stateless(1, "server/discover", &json!({})));
        match sent.ok().and_then(|()| http.try_head()) {
            Some(answer) => {
                assert_eq!(answer.status, 200);
                held.push(http);
            }
            None => refused += 1,
        }
    }
    assert!(refused >= 20 && held.len() >= 10, "{refused} of 40 were refused");
    drop(held);
    wait_until("the connections to be gone", || {
        (target.server.descriptors() <= target.descriptors + MOST_DESCRIPTORS_KEPT).then_some(())
    });
    target.expect_unharmed();
}

#[test]
fn json_bombs_are_harmless() {
    let target = Target::new();
    let session = target.server.session("2025-11-25");
    let deep =
        |open: &str, close: &str, depth: usize| format!("{}{}", open.repeat(depth), close.repeat(depth));
    let wide = format!("[{}1]", "1,".repeat(1_900_000));
    let keys: String = (0..200_000).map(|number| ["\"", &number.to_string(), "\":0,"].concat()).collect();
    for (body, code) in [
        (deep("[", "]", 2_000_000), -32700),
        (deep(r#"{"a":"#, "}", 500_000), -32700),
        ("[".repeat(4_000_000), -32700),
        (r#"{"a":"#.repeat(500_000), -32700),
        (wide, -32600),
        (format!("{{{keys}\"x\":0}}"), -32600),
        (format!(r#"{{"jsonrpc":"2.0","id":{},"method":"ping"}}"#, "9".repeat(100_000)), -32600),
        (format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "a".repeat(3_000_000)), -32600),
        (String::from_utf8_lossy(b"\xef\xbb\xbf{}").into_owned(), -32700),
        ("\0".repeat(1000), -32700),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#.to_owned(), -32600),
    ] {
        let shown: String = body.chars().take(30).collect();
        for headers in [&session.headers()[..], &[("MCP-Protocol-Version", "2026-07-28")]] {
            let refused = target.server.send(&post(headers, &body));
            assert_eq!(refused.status, 400, "{shown}: {refused:?}");
            let answer = refused.json();
            let is_expected = answer["error"]["code"] == code || answer["error"]["code"] == -32600;
            assert!(is_expected, "{shown}: {answer}");
        }
    }
    let head = format!("{HEAD}Content-Length: 4\r\n\r\n");
    for bytes in [b"\xff\xfe\xfd\xfc", b"\"\xc3\x28\"", b"{\0}\0"] {
        assert_eq!(target.status(&[head.as_bytes(), bytes].concat()), 400);
    }
    target.expect_unharmed();
}
