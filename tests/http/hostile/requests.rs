//! Requests that are malformed, smuggled, pipelined, or of the wrong type.

use super::{HEAD, Target, discover, statuses};
use crate::harness::http::{Response, post, request, stateless, stateless_message};
use serde_json::{Value, json};

/// A request that leaves a mark if it is served.
fn mark() -> Vec<u8> {
    stateless("smuggled", "tools/call", &json!({ "name": "mark", "arguments": {} }))
}

#[test]
fn no_request_is_hidden_in_another() {
    let target = Target::new();
    let discover = discover();
    let chunked = format!("{:x}\r\n{discover}\r\n0\r\n\r\n", discover.len());
    let length = discover.len();
    let both =
        ["Transfer-Encoding: chunked", &format!("Content-Length: {}", chunked.len())].map(str::to_owned);
    // A proxy in front could read these differently. The rest of the connection is never served.
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
fn invalid_chunks_close_the_connection() {
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
    // Valid chunks are served, even in pieces of one byte, with extensions and trailers.
    let pieces: String =
        discover.chars().map(|letter| ["1;a=b\r\n", &letter.to_string(), "\r\n"].concat()).collect();
    let bytes = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n{pieces}0\r\nX-Trailer: y\r\n\r\n");
    assert_eq!(target.status(bytes.as_bytes()), 200);
    target.expect_unharmed();
}

#[test]
fn non_http_input_is_not_served() {
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
    // Garbage after a request affects only itself. Empty lines are ignored.
    let mut bytes = format!("{HEAD}Content-Length: {length}\r\n\r\n{discover}").into_bytes();
    bytes.extend(b"}}}\r\n\r\n");
    assert_eq!(target.statuses(&bytes), [200, 400]);
    target.expect_unharmed();
}

#[test]
fn unknown_methods_and_paths_are_refused() {
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
    // A query does not change the path.
    assert_eq!(target.status(&request("DELETE", "/mcp?x=/..", &session.headers(), b"")), 200);
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
fn a_half_closed_connection_gets_its_answer() {
    let target = Target::new();
    let mut http = target.server.connect();
    http.send(&stateless(1, "server/discover", &json!({})));
    http.half_close();
    assert_eq!(statuses(&http.rest()), [200]);
    // A client that disconnects at any point leaves nothing behind.
    let whole = mark();
    for end in (0..whole.len()).step_by(7) {
        target.server.connect().send(&whole[..end]);
    }
    target.expect_unharmed();
}

#[test]
fn http_1_0_and_connection_close_are_honoured() {
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
    // A client that sends `Expect: 100-continue` receives the interim response to continue.
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
fn content_type_and_accept_are_checked() {
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

/// Checks run in a fixed order: a request that fails several gets the status of the first.
#[test]
fn the_first_failed_check_decides_the_status() {
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
