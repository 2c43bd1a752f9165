//! Whoever attacks the server over HTTP gets nothing done, and keeps nobody else from being served.

use crate::harness::http::{
    Http, HttpServer, Response, initialize, post, request, stateless, stateless_message, stateless_with,
};
use crate::harness::{Project, wait_until};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A server under attack, and what it had when it began.
struct Target {
    server: HttpServer,
    project: Project,
    descriptors: usize,
    kilobytes: u64,
}

/// More memory than this is not kept after an attack, whatever it was. What an allocator keeps for itself is less.
const MOST_KEPT: u64 = 32 * 1024;

/// The same for what is kept open to be used again.
const MOST_DESCRIPTORS_KEPT: usize = 4;

impl Target {
    fn new() -> Self {
        Self::with(&[], &[])
    }

    /// A server with a tool that leaves a trace, and limits that can be reached.
    fn with(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let project = Project::with_hi().tool("mark", "#!/bin/sh\necho called >>called\n");
        let patience = [("MCPBASH_HTTP_HEADER_TIMEOUT", "2"), ("MCPBASH_HTTP_STALL_TIMEOUT", "2")];
        let server =
            HttpServer::start_with(project.root(), arguments, &[&patience[..], environment].concat());
        // What is kept to be used again is there after the first call.
        server.expect_service();
        server.ask("tools/call", &json!({ "name": "hi", "arguments": {} }));
        let (descriptors, kilobytes) = (server.descriptors(), server.resident_kilobytes());
        Self { server, project, descriptors, kilobytes }
    }

    /// Sends bytes, and returns the statuses of all that comes back until the server closes the connection.
    fn statuses(&self, bytes: &[u8]) -> Vec<u16> {
        let mut http = self.server.connect();
        // The server may have had enough before the end.
        let _ = http.try_send(bytes);
        statuses(&http.rest())
    }

    fn status(&self, bytes: &[u8]) -> u16 {
        let mut http = self.server.connect();
        http.send(bytes);
        http.head().status
    }

    /// Nothing got in, nobody is kept from being served, and what the attack has cost is given back.
    fn expect_unharmed(self) {
        self.server.expect_service();
        assert!(!self.project.path("called").exists(), "a tool was called");
        wait_until("the descriptors to be closed", || {
            (self.server.descriptors() <= self.descriptors + MOST_DESCRIPTORS_KEPT).then_some(())
        });
        wait_until("the memory to be given back", || {
            (self.server.resident_kilobytes() <= self.kilobytes + MOST_KEPT).then_some(())
        });
        let log = self.server.finish();
        assert!(!log.contains("panic"), "{log}");
    }
}

/// The statuses of all answers in what a connection has said.
fn statuses(said: &[u8]) -> Vec<u16> {
    let text = String::from_utf8_lossy(said);
    let lines = text.split("\r\n").filter_map(|line| line.rsplit_once("HTTP/1.1 "));
    lines.filter_map(|(_, status)| status.get(..3)?.parse().ok()).collect()
}

/// A request that leaves a trace where it is served.
fn mark() -> Vec<u8> {
    stateless("smuggled", "tools/call", &json!({ "name": "mark", "arguments": {} }))
}

/// A harmless message, and what stands before it in a request.
fn discover() -> String {
    stateless_message(1, "server/discover", &json!({})).to_string()
}

const HEAD: &str = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
                    Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
                    Mcp-Method: server/discover\r\n";

#[test]
fn no_request_is_hidden_in_another() {
    let target = Target::new();
    let discover = discover();
    let chunked = format!("{:x}\r\n{discover}\r\n0\r\n\r\n", discover.len());
    let length = discover.len();
    let both =
        ["Transfer-Encoding: chunked", &format!("Content-Length: {}", chunked.len())].map(str::to_owned);
    // Whoever stands before us could read these differently. What follows is never served.
    for headers in [
        format!("{}\r\n{}\r\n", both[0], both[1]),
        format!("{}\r\n{}\r\n", both[1], both[0]),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n"),
        format!("Content-Length: 0\r\n{}\r\n", both[0]),
        "transfer-encoding: chunked\r\nTRANSFER-ENCODING: chunked\r\nContent-Length: 4\r\n".to_owned(),
    ] {
        let mut bytes = format!("{HEAD}{headers}\r\n{chunked}").into_bytes();
        bytes.extend(mark());
        let statuses = target.statuses(&bytes);
        assert!(statuses.len() <= 1, "{headers}: {statuses:?}");
    }
    for headers in [
        format!("Content-Length: {length}\r\nContent-Length: {}\r\n", length + 1),
        format!("Content-Length: {length}, {}\r\n", length + 1),
        format!("Content-Length: +{length}\r\n"),
        format!("Content-Length: -{length}\r\n"),
        format!("Content-Length: 0x{length:x}\r\n"),
        format!("Content-Length: {length} 0\r\n"),
        format!("Content-Length : {length}\r\n"),
        format!("Content-Length: {length}\0\r\n"),
        format!("Content-Length:\r\n {length}\r\n"),
        format!("X-A: b\rContent-Length: {length}\r\n"),
        format!("X-A: b\0\r\nContent-Length: {length}\r\n"),
        "Content-Length: 99999999999999999999999\r\n".to_owned(),
        "Content-Length: 18446744073709551615\r\n".to_owned(),
        "Transfer-Encoding: identity\r\n".to_owned(),
        "Transfer-Encoding: chunked, identity\r\n".to_owned(),
        "Transfer-Encoding: xchunked\r\n".to_owned(),
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n".to_owned(),
        "Transfer-Encoding : chunked\r\n".to_owned(),
        "Transfer-Encoding\t: chunked\r\n".to_owned(),
        "Transfer-Encoding:\x0bchunked\r\n".to_owned(),
        "Transfer-Encoding:\r\n chunked\r\n".to_owned(),
        "X-A: b\r\n Transfer-Encoding: chunked\r\n".to_owned(),
        " Transfer-Encoding: chunked\r\n".to_owned(),
    ] {
        let body = if headers.contains("unked") { &chunked } else { &discover };
        let mut bytes = format!("{HEAD}{headers}\r\n{body}").into_bytes();
        bytes.extend(mark());
        let statuses = target.statuses(&bytes);
        assert!(statuses.iter().all(|status| *status >= 400), "{headers:?}: {statuses:?}");
        assert!(statuses.len() <= 1, "{headers:?}: {statuses:?}");
    }
    let old = HEAD.replace("HTTP/1.1", "HTTP/1.0");
    let mut bytes = format!("{old}Transfer-Encoding: chunked\r\n\r\n{chunked}").into_bytes();
    bytes.extend(mark());
    assert!(target.statuses(&bytes).iter().all(|status| *status >= 400));
    target.expect_unharmed();
}

#[test]
fn chunks_that_are_none_end_the_connection() {
    let target = Target::new();
    let discover = discover();
    let length = discover.len();
    for body in [
        format!("{length:x}\n{discover}\r\n0\r\n\r\n"),
        format!("{length:x}\r\n{discover}0\r\n\r\n"),
        format!("{:x}\r\n{discover}\r\n0\r\n\r\n", length - 1),
        format!("-{length:x}\r\n{discover}\r\n0\r\n\r\n"),
        format!("0x{length:x}\r\n{discover}\r\n0\r\n\r\n"),
        format!("\r\n{discover}\r\n0\r\n\r\n"),
        format!("ffffffffffffffff1\r\n{discover}\r\n0\r\n\r\n"),
        format!("ffffffffffffffff\r\n{discover}\r\n0\r\n\r\n"),
        format!("{length:x};{}\r\n{discover}\r\n0\r\n\r\n", "x".repeat(100_000)),
        format!("{length:x}\r\n{discover}\r\n0\r\n{}\r\n", "X-Trailer: y\r\n".repeat(10_000)),
        format!("{length:x}\r\n{discover}\r\n0\r\nbad trailer\r\n\r\n"),
        format!("zz\r\n{discover}\r\n0\r\n\r\n"),
        format!("{length:x} \r\n"),
    ] {
        let mut bytes = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n{body}").into_bytes();
        bytes.extend(mark());
        let statuses = target.statuses(&bytes);
        let shown: String = body.chars().take(40).collect();
        assert!(statuses.iter().all(|status| *status >= 400), "{shown:?}: {statuses:?}");
    }
    // What is right is served, also in pieces of one byte, with extensions and trailers.
    let pieces: String =
        discover.chars().map(|letter| ["1;a=b\r\n", &letter.to_string(), "\r\n"].concat()).collect();
    let bytes = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n{pieces}0\r\nX-Trailer: y\r\n\r\n");
    assert_eq!(target.status(bytes.as_bytes()), 200);
    target.expect_unharmed();
}

#[test]
fn what_is_no_http_is_not_served() {
    let target = Target::new();
    let discover = discover();
    let length = discover.len();
    for bytes in [
        &b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0"[..],
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\r\n\r\n\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /mcp\r\n\r\n",
        b"GET /mcp HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /mcp HTTP/1.1 \r\nHost: 127.0.0.1\r\n\r\n",
        b"GET  /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"G\0T /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /m\0cp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\r\n\r\n",
        b"GET /mcp HTTP/1.1\r\nHost 127.0.0.1\r\n\r\n",
        b"GET /mcp HTTP/1.1\r\n: 127.0.0.1\r\n\r\n",
        b"GET /mcp HTTP/1.1\r\nHo st: 127.0.0.1\r\n\r\n",
    ] {
        let statuses = target.statuses(bytes);
        let shown = String::from_utf8_lossy(bytes).into_owned();
        assert!(statuses.iter().all(|status| (400..500).contains(status)), "{shown:?}: {statuses:?}");
    }
    // Garbage behind a request spoils nothing but itself. Lines alone are none.
    let mut bytes = format!("{HEAD}Content-Length: {length}\r\n\r\n{discover}").into_bytes();
    bytes.extend(b"}}}\r\n\r\n");
    assert_eq!(target.statuses(&bytes), [200, 400]);
    target.expect_unharmed();
}

#[test]
fn methods_and_paths_that_are_not_there_are_refused() {
    let target = Target::new();
    let session = target.server.session("2025-11-25");
    for method in ["PUT", "PATCH", "HEAD", "TRACE", "CONNECT", "PROPFIND", "post", "PRI", "X"] {
        assert_eq!(target.status(&request(method, "/mcp", &session.headers(), b"")), 405, "{method}");
    }
    for path in
        ["/", "/mcp/x", "/mcp//", "//mcp", "/MCP", "/mcp%00", "/%6dcp", "/../mcp", "/sse", "/messages", "*"]
    {
        for method in ["POST", "GET", "DELETE", "OPTIONS"] {
            assert_eq!(
                target.status(&request(method, path, &session.headers(), b"")),
                404,
                "{method} {path}"
            );
        }
    }
    assert_eq!(target.status(&request("CONNECT", "127.0.0.1:80", &[], b"")), 404);
    assert_eq!(target.status(&request("GET", "/metrics", &[], b"")), 404);
    // With a query it is the same place.
    assert_eq!(target.status(&request("DELETE", "/mcp?x=/..", &session.headers(), b"")), 200);
    target.expect_unharmed();
}

#[test]
fn pages_of_strangers_and_their_names_are_turned_away() {
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
    // A whole URL in the request line is held against the header.
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
fn heads_without_end_are_cut() {
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
fn bodies_that_are_too_long_are_refused_and_the_sender_is_told() {
    let target = Target::new();
    // One who says so beforehand need not send it.
    let declared = format!("{HEAD}Content-Length: 4194305\r\n\r\n");
    assert_eq!(target.status(declared.as_bytes()), 413);
    let declared = format!("{HEAD}Content-Length: 1000000000000000\r\nExpect: 100-continue\r\n\r\n");
    let mut http = target.server.connect();
    http.send(declared.as_bytes());
    assert_eq!(statuses(&http.rest()), [413]);
    // One who sends it all the same still reads why it was refused.
    for bytes in [5_000_000, 20_000_000] {
        let refused = target.server.send(&post(&[], &"x".repeat(bytes)));
        assert_eq!(refused.status, 413, "{bytes}");
        assert!(refused.json()["error"]["message"].as_str().unwrap().contains("4194304"), "{refused:?}");
    }
    let refused = target.server.send(&post(&[("Origin", "null")], &"x".repeat(3_000_000)));
    assert_eq!(refused.status, 403);
    // One who never ends is cut off.
    let mut http = target.server.connect();
    http.send(format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n").as_bytes());
    let chunk = [&b"10000\r\n"[..], &vec![b' '; 0x10000], b"\r\n"].concat();
    let begun = Instant::now();
    while http.try_send(&chunk).is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it is read without end");
    }
    target.expect_unharmed();
}

#[test]
fn whoever_keeps_the_server_waiting_is_cut_off() {
    let target = Target::new();
    let begun = Instant::now();
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
    // One that never stops is no better than one that says nothing.
    let mut drip = target.server.connect();
    drip.send(b"GET /mcp HTTP/1.1\r\n");
    let dripping = std::thread::spawn(move || {
        while drip.try_send(b"X: y\r\n").is_ok() {
            assert!(begun.elapsed() < Duration::from_secs(60), "it is read without end");
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    target.server.expect_service();
    for http in silent.iter_mut().chain(&mut heads) {
        assert!(statuses(&http.rest()).iter().all(|status| *status == 408), "nothing else is said");
    }
    for http in bodies.iter_mut().chain(&mut chunks) {
        assert_eq!(statuses(&http.rest()), [408]);
    }
    dripping.join().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(60));
    target.expect_unharmed();
}

#[test]
fn requests_in_a_row_are_answered_in_order() {
    let target = Target::new();
    let mut http = target.server.connect();
    let call = |number: u32| {
        let tool = if number.is_multiple_of(3) { "tools/call" } else { "tools/list" };
        stateless(number, tool, &json!({ "name": "hi", "arguments": {} }))
    };
    let all: Vec<u8> = (0..30).flat_map(call).collect();
    http.send(&all);
    for number in 0..30 {
        let answer = http.response();
        assert_eq!((answer.status, &answer.json()["id"]), (200, &json!(number)));
    }
    drop(http);
    target.expect_unharmed();
}

#[test]
fn one_who_says_no_more_gets_its_answer() {
    let target = Target::new();
    let mut http = target.server.connect();
    http.send(&stateless(1, "server/discover", &json!({})));
    http.half_close();
    assert_eq!(statuses(&http.rest()), [200]);
    // One that goes in the middle of anything leaves nothing behind.
    let whole = mark();
    for end in (0..whole.len()).step_by(7) {
        target.server.connect().send(&whole[..end]);
    }
    target.expect_unharmed();
}

#[test]
fn sessions_are_begun_at_a_rate_and_a_flood_of_them_costs_nobody_else() {
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
    // Other requests of the same caller have no rate, and another caller may begin sessions.
    target.server.expect_service();
    let mut other = target.server.connect_from([127, 0, 0, 2]);
    other.send(&hello);
    let answer = other.response();
    assert!(answer.status == 200 && answer.header("mcp-session-id").is_some(), "{answer:?}");
    drop((http, other));
    target.expect_unharmed();
}

#[test]
fn a_thousand_connections_cost_little_and_go_again() {
    let target = Target::new();
    let mut all: Vec<Http> = (0..1000).map(|_| target.server.connect()).collect();
    for http in &mut all {
        http.send(&stateless(1, "server/discover", &json!({})));
    }
    for http in &mut all {
        assert_eq!(http.response().status, 200);
    }
    target.server.expect_service();
    let each = target.server.resident_kilobytes().saturating_sub(target.kilobytes) / 1000;
    assert!(each < 64, "{each} kB for each of them");
    drop(all);
    target.expect_unharmed();
}

#[test]
fn connections_beyond_the_limit_are_closed_and_the_others_go_on() {
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
fn old_clients_are_served_and_told_when_it_is_over() {
    let target = Target::new();
    let body = discover();
    let old = HEAD.replace("HTTP/1.1", "HTTP/1.0");
    let mut http = target.server.connect();
    http.send(format!("{old}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    let answer = http.response();
    assert_eq!(answer.status, 200, "{answer:?}");
    http.expect_closed();
    let mut http = target.server.connect();
    let length = body.len();
    http.send(format!("{HEAD}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}").as_bytes());
    assert_eq!(http.response().header("connection"), Some("close"));
    http.expect_closed();
    // One who asks before it sends is asked to.
    let mut http = target.server.connect();
    http.send(format!("{HEAD}Expect: 100-continue\r\nContent-Length: {length}\r\n\r\n").as_bytes());
    let mut go_on = [0; 25];
    std::io::Read::read_exact(&mut http.stream, &mut go_on).unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    http.send(body.as_bytes());
    assert_eq!(http.response().status, 200);
    drop(http);
    target.expect_unharmed();
}

#[test]
fn a_session_is_only_for_who_knows_its_id() {
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
    // Nobody chooses the id of a session.
    let chosen = post(&[("Mcp-Session-Id", "chosen")], &initialize("2025-11-25", &json!({})).to_string());
    let begun = target.server.send(&chosen);
    assert!(
        begun.status == 200 && begun.header("mcp-session-id").is_some_and(|id| id != "chosen"),
        "{begun:?}"
    );
    assert_eq!(with(&[("Mcp-Session-Id", "chosen")]).status, 404);
    let again = post(&session.headers(), &initialize("2025-11-25", &json!({})).to_string());
    assert_ne!(target.server.send(&again).header("mcp-session-id"), Some(id));
    // One that could not begin has none.
    let failed =
        target.server.send(&post(&[], r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":7}"#));
    assert_eq!(failed.header("mcp-session-id"), None, "{failed:?}");
    // The stateless era has no sessions, and no session makes it one.
    let headers = [("Mcp-Session-Id", "nobody's")];
    let ignored = target.server.send(&stateless_with(&headers, 1, "server/discover", &json!({})));
    assert_eq!((ignored.status, ignored.header("mcp-session-id")), (200, None));
    target.expect_unharmed();
}

#[test]
fn bombs_of_json_do_not_go_off() {
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

#[test]
fn only_json_is_taken_and_only_by_who_takes_what_we_send() {
    let target = Target::new();
    let body = discover();
    let with = |headers: &[(&str, &str)]| -> Response {
        let usual = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "server/discover")];
        target.server.send(&post(&[&usual[..], headers].concat(), &body))
    };
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonx",
        "text/json",
        "application/json-rpc, application/json",
        "",
        ";application/json",
    ] {
        assert_eq!(with(&[("Content-Type", kind)]).status, 415, "{kind}");
    }
    let twice = [("Content-Type", "application/json"), ("Content-Type", "text/plain")];
    assert_eq!(with(&twice).status, 415);
    for kind in ["application/json;charset=utf-8", "APPLICATION/JSON", " application/json ; x=y"] {
        assert_eq!(with(&[("Content-Type", kind)]).status, 200, "{kind}");
    }
    for accept in ["text/html", "application/json", "text/event-stream", "", "*/*;q=0", "application/*"] {
        assert_eq!(with(&[("Accept", accept)]).status, 406, "{accept}");
    }
    for accept in ["*/*", "text/*, application/*", "text/event-stream;q=0.1,application/json"] {
        assert_eq!(with(&[("Accept", accept)]).status, 200, "{accept}");
    }
    target.expect_unharmed();
}

/// Statuses come in the order of the checks: whoever fails several learns of the first.
#[test]
fn the_first_thing_that_is_wrong_is_told() {
    let target = Target::new();
    let wrong = [("Host", "evil.example"), ("Origin", "null"), ("Content-Type", "x"), ("Accept", "x")];
    let junk = "x".repeat(5_000_000);
    let fix = |count: usize| {
        let right = [
            ("Host", "127.0.0.1"),
            ("Origin", "http://localhost"),
            ("Content-Type", "application/json"),
            ("Accept", "*/*"),
        ];
        [&right[..count], &wrong[count..]].concat()
    };
    let status = |method: &str, headers: &[(&str, &str)], body: &str| {
        target.server.send(&request(method, "/mcp", headers, body.as_bytes())).status
    };
    assert_eq!(status("PUT", &fix(0), &junk), 405);
    assert_eq!(status("POST", &fix(0), &junk), 421);
    assert_eq!(status("POST", &fix(1), &junk), 403);
    assert_eq!(status("POST", &fix(2), &junk), 415);
    assert_eq!(status("POST", &fix(3), &junk), 406);
    assert_eq!(status("POST", &fix(4), &junk), 413);
    let stateless = [&fix(4)[..], &[("MCP-Protocol-Version", "2026-07-28")]].concat();
    let answer = |body: &str| {
        let answer = target.server.send(&request("POST", "/mcp", &stateless, body.as_bytes()));
        (
            answer.status,
            answer.json()["error"]["code"].as_i64().unwrap_or_default(),
            answer.json()["id"].clone(),
        )
    };
    let request =
        |params: Value| json!({ "jsonrpc": "2.0", "id": 7, "method": "x", "params": params }).to_string();
    let version = "io.modelcontextprotocol/protocolVersion";
    let of_version = |value: &str| {
        let mut message = stateless_message(7, "x", &json!({}));
        message["params"]["_meta"][version] = json!(value);
        message.to_string()
    };
    assert_eq!(answer("{"), (400, -32700, Value::Null));
    assert_eq!(answer(r#"{"id":7}"#).1, -32600);
    assert_eq!(answer(&request(json!({}))), (400, -32602, json!(7)));
    assert_eq!(answer(&of_version("2025-11-25")).1, -32020);
    assert_eq!(answer(&of_version("2026-07-28")), (400, -32020, json!(7)), "Mcp-Method is missing");
    target.expect_unharmed();
}
