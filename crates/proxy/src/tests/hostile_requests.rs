//! Requests that are malformed, or made to be read in two ways.

use super::stage::{PUBLIC, Stage, echo};
use crate::Reason;
use mcp_bash_sandbox::BadHost;

async fn stage() -> Stage {
    let names: &[(&str, &[&str])] = &[("api.example", &[PUBLIC]), ("evil.example", &[PUBLIC])];
    Stage::new(&["api.example:443", "api.example:80"], names, Some(echo().await))
}

/// What must not become a connection, and the start of its answer.
async fn is_answered(stage: &Stage, request: impl AsRef<[u8]>, start: &str) {
    let request = request.as_ref();
    let answer = stage.ask(request).await;
    assert!(answer.starts_with(start), "{:?}: {answer}", String::from_utf8_lossy(request));
    assert_eq!(stage.connected(), Vec::<String>::new(), "{:?}", String::from_utf8_lossy(request));
}

#[tokio::test]
async fn what_is_no_request_for_a_proxy_is_a_bad_request() {
    let stage = stage().await;
    for request in [
        "GET / HTTP/1.1\r\nHost: api.example\r\n\r\n",
        "GET https://api.example/ HTTP/1.1\r\n\r\n",
        "GET ftp://api.example/ HTTP/1.1\r\n\r\n",
        "GET http:/api.example/ HTTP/1.1\r\n\r\n",
        "GET api.example:80 HTTP/1.1\r\n\r\n",
        "connect api.example:443 HTTP/1.1\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "CONNECT api.example:443 HTTP/3.0\r\n\r\n",
        "CONNECT api.example:443\r\n\r\n",
        "CONNECT  api.example:443 HTTP/1.1\r\n\r\n",
        "CONNECT api.example:443 HTTP/1.1 \r\n\r\n",
        "CONNECT\tapi.example:443\tHTTP/1.1\r\n\r\n",
        "CONNECT evil.example:443 api.example:443 HTTP/1.1\r\n\r\n",
        "G(T http://api.example/ HTTP/1.1\r\n\r\n",
        "GET http://api.example/\u{e9} HTTP/1.1\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01",
        "\x04\x01\x01\u{bb}",
        "\r\n\r\n",
        " CONNECT api.example:443 HTTP/1.1\r\n\r\n",
        "\0",
    ] {
        is_answered(&stage, request, "HTTP/1.1 400 Bad Request\r\nX-Proxy-Error: bad-request\r\n").await;
    }
    assert_eq!(stage.refusals(), []);
}

#[tokio::test]
async fn lines_that_servers_read_differently_are_a_bad_request() {
    let stage = stage().await;
    for lines in [
        "GET http://api.example/ HTTP/1.1\nHost: a\n\n",
        "GET http://api.example/ HTTP/1.1\r\nHost: a\n\r\n",
        "GET http://api.example/ HTTP/1.1\r\nX: a\rX-B: b\r\n\r\n",
        "GET http://api.example/ HTTP/1.1\r\nX: a\0b\r\n\r\n",
        "GET http://api.example/ HTTP/1.1\r\nX: a\r\n folded: b\r\n\r\n",
        "GET http://api.example/ HTTP/1.1\r\n X: a\r\n\r\n",
        "GET http://api.example/ HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n",
        "GET http://api.example/ HTTP/1.1\r\nno colon\r\n\r\n",
        "GET http://api.example/ HTTP/1.1\r\n: no name\r\n\r\n",
        "GET http://api.example/ HTTP/1.1\r\nX\u{e9}: a\r\n\r\n",
    ] {
        is_answered(&stage, lines, "HTTP/1.1 400 Bad Request\r\nX-Proxy-Error: bad-request\r\n").await;
    }
}

#[tokio::test]
async fn bad_ports_are_a_bad_request() {
    let stage = stage().await;
    for authority in [
        "api.example",
        "api.example:",
        "api.example:0",
        "api.example:65536",
        "api.example:+443",
        "api.example:443:80",
        "api.example:443/",
        "api.example:4 43",
        "evil.example:443#api.example:443",
        "::1:443",
        "[::1:443",
    ] {
        is_answered(&stage, format!("CONNECT {authority} HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 ").await;
    }
    is_answered(&stage, "GET http://api.example:/ HTTP/1.1\r\n\r\n", "HTTP/1.1 400 ").await;
}

#[tokio::test]
async fn hosts_that_can_be_read_in_two_ways_are_refused_and_reported() {
    let long = "a".repeat(300);
    for (host, error) in [
        ("2130706433", BadHost::UnusualAddress),
        ("0x7f.1", BadHost::UnusualAddress),
        ("0x7f000001", BadHost::UnusualAddress),
        ("0177.0.0.1", BadHost::UnusualAddress),
        ("127.1", BadHost::UnusualAddress),
        ("1.2.3.4.5", BadHost::UnusualAddress),
        ("api.example.", BadHost::TrailingDot),
        ("localhost.", BadHost::TrailingDot),
        ("evil.example@api.example", BadHost::BadCharacter('@')),
        ("api.example%00.evil.example", BadHost::BadCharacter('%')),
        ("api.example\\evil.example", BadHost::BadCharacter('\\')),
        ("*.example", BadHost::BadCharacter('*')),
        ("[::1]x", BadHost::BadBrackets),
        ("[fe80::1%25eth0]", BadHost::BadBrackets),
        ("[api.example]", BadHost::BadBrackets),
        (&long, BadHost::BadLabel),
        ("", BadHost::Empty),
    ] {
        let stage = stage().await;
        let start = "HTTP/1.1 400 Bad Request\r\nX-Proxy-Error: bad-host\r\n";
        is_answered(&stage, format!("CONNECT {host}:443 HTTP/1.1\r\n\r\n"), start).await;
        is_answered(&stage, format!("GET http://{host}/ HTTP/1.1\r\n\r\n"), start).await;
        assert_eq!(stage.reasons(), [Reason::BadHost(error.clone()), Reason::BadHost(error)], "{host}");
        assert!(stage.refusals()[0].host.chars().count() <= 254);
        assert_eq!(stage.resolved(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn userinfo_does_not_hide_the_host() {
    let stage = stage().await;
    for url in
        ["http://api.example@evil.example/", "http://api.example:80@evil.example/", "http://a:b@api.example/"]
    {
        is_answered(&stage, format!("GET {url} HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 ").await;
    }
}

#[tokio::test]
async fn addresses_are_judged_as_what_they_are() {
    let stage = stage().await;
    for host in [
        "127.0.0.1",
        "0.0.0.0",
        "169.254.169.254",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:127.0.0.1]",
        "[::127.0.0.1]",
        PUBLIC,
        "localhost",
        "a.localhost",
    ] {
        is_answered(&stage, format!("CONNECT {host}:443 HTTP/1.1\r\n\r\n"), "HTTP/1.1 403 ").await;
    }
    assert!(stage.reasons().iter().all(|reason| *reason == Reason::NotListed));
    assert_eq!(stage.refusals()[5].host, "127.0.0.1");
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused_before_it_ends() {
    let stage = stage().await;
    let too_long = "HTTP/1.1 431 Request Header Fields Too Large\r\n";
    is_answered(&stage, format!("CONNECT api.example:443 HTTP/1.1\r\nX: {}", "x".repeat(20_000)), too_long)
        .await;
    is_answered(&stage, "A".repeat(1_000_000), too_long).await;
    let headers = "X: y\r\n".repeat(3_000);
    is_answered(&stage, format!("CONNECT api.example:443 HTTP/1.1\r\n{headers}\r\n"), too_long).await;
    // A long one that still fits.
    let authority = "api.example:443";
    let mut client = stage.connect().await;
    let head = format!("CONNECT {authority} HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(16_000));
    tokio::io::AsyncWriteExt::write_all(&mut client, head.as_bytes()).await.unwrap();
    assert!(super::stage::read_head(&mut client).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn a_head_may_arrive_byte_by_byte() {
    let stage = stage().await;
    let mut client = stage.connect().await;
    client.set_nodelay(true).unwrap();
    for byte in b"CONNECT api.example:443 HTTP/1.1\r\nX: y\r\n\r\n" {
        tokio::io::AsyncWriteExt::write_all(&mut client, &[*byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert!(super::stage::read_head(&mut client).await.starts_with("HTTP/1.1 200 "));
}
