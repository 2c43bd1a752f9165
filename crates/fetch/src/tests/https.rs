//! HTTPS: reads over TLS, from a server of our own.

use super::server::{PUBLIC, Reply, Server, TestNetwork, answer};
use crate::{ErrorKind, FetchError, HostList, HostRules, Https, HttpsPolicy, Response, Trust};
use std::net::SocketAddr;
use std::time::Duration;

fn allowing(hosts: &str) -> HttpsPolicy {
    let hosts = HostRules { allow: HostList::parse(hosts).unwrap(), ..HostRules::default() };
    HttpsPolicy { hosts, ..HttpsPolicy::default() }
}

#[tokio::test]
async fn what_the_server_has() {
    let server =
        Server::start("example.com", |_| answer("200 OK", "Content-Type: text/x\r\n", "hello")).await;
    let policy = HttpsPolicy { user_agent: Some("me/1".into()), ..allowing("example.com") };
    let response = server.https(policy).get("HTTPS://Example.COM/a%20b?q=1&r=[2]#part").await.unwrap();
    assert_eq!(response, Response { bytes: b"hello".to_vec(), content_type: Some("text/x".into()) });
    let head = &server.heads()[0];
    assert!(head.starts_with("GET /a%20b?q=1&r=[2] HTTP/1.1\r\n"), "{head}");
    for line in ["host: example.com", "accept-encoding: identity", "user-agent: me/1"] {
        assert!(head.lines().any(|found| found == line), "{line} in {head}");
    }
}

#[tokio::test]
async fn bodies_of_every_kind() {
    for (reply, body) in [
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", "abcde"),
        ("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end", "until the end"),
        ("HTTP/1.0 200 OK\r\n\r\nold", "old"),
        ("HTTP/1.1 204 No Content\r\n\r\n", ""),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok"),
        ("HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 2\r\n\r\nok", "ok"),
    ] {
        let server = Server::start("example.com", move |_| reply.to_owned().into()).await;
        let response = server.https(allowing("example.com")).get("https://example.com").await;
        assert_eq!(String::from_utf8(response.unwrap().bytes).unwrap(), body);
    }
}

#[tokio::test]
async fn a_large_body_arrives_whole() {
    let body = "x".repeat(3_000_000);
    let server = Server::start("example.com", move |_| answer("200 OK", "", &body)).await;
    let response = server.https(allowing("example.com")).get("https://example.com/").await.unwrap();
    assert_eq!(response.bytes.len(), 3_000_000);
}

#[tokio::test]
async fn redirects_are_reported_and_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let reply =
            move |_: &_| answer(&format!("{status} Moved"), "Location: https://other.example/x\r\n", "");
        let server = Server::start("example.com", reply).await;
        let error = server
            .https(allowing("example.com other.example"))
            .get("https://example.com/")
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Redirect);
        assert_eq!(
            error.to_string(),
            format!(
                "`example.com` redirects ({status}) to `https://other.example/x`; ask for that address instead"
            )
        );
        assert_eq!(server.heads().len(), 1);
    }
}

#[tokio::test]
async fn statuses_other_than_success() {
    for (status, may_pass) in [(400, false), (404, false), (429, true), (500, true), (503, true)] {
        let server =
            Server::start("example.com", move |_| answer(&format!("{status} No"), "", "sorry")).await;
        let error = server.https(allowing("example.com")).get("https://example.com/").await.unwrap_err();
        assert_eq!(error.to_string(), format!("`example.com` answered with status {status}"));
        assert_eq!(error.may_pass(), may_pass);
    }
}

#[tokio::test]
async fn too_much_is_too_much_however_it_is_sent() {
    let replies: [fn() -> Reply; 4] = [
        || answer("200 OK", "", &"x".repeat(1001)),
        // It announces a length, and never sends the body.
        || Reply::Stall(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n".to_vec()),
        || Reply::Stall(format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}", "x".repeat(1001)).into()),
        || {
            Reply::Stall(
                format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{}", "2\r\nxx\r\n".repeat(501))
                    .into(),
            )
        },
    ];
    for reply in replies {
        let server = Server::start("example.com", move |_| reply()).await;
        let policy = HttpsPolicy { max_bytes: 1000, ..allowing("example.com") };
        let error = server.https(policy).get("https://example.com/").await.unwrap_err();
        assert!(matches!(error, FetchError::TooLarge { limit: 1000, .. }), "{error}");
    }
    let server = Server::start("example.com", |_| answer("200 OK", "", &"x".repeat(1000))).await;
    let policy = HttpsPolicy { max_bytes: 1000, ..allowing("example.com") };
    assert_eq!(server.https(policy).get("https://example.com/").await.unwrap().bytes.len(), 1000);
}

#[tokio::test]
async fn servers_that_never_finish() {
    for head in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"] {
        let server = Server::start("example.com", move |_| Reply::Stall(head.into())).await;
        let policy = HttpsPolicy { timeout: Duration::from_millis(200), ..allowing("example.com") };
        let error = server.https(policy).get("https://example.com/").await.unwrap_err();
        assert!(matches!(error, FetchError::TimedOut { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_request_that_is_dropped_is_gone() {
    let server = Server::start("example.com", |_| Reply::Stall(Vec::new())).await;
    let https = server.https(allowing("example.com"));
    let reading = tokio::spawn(async move { https.get("https://example.com/").await });
    server.arrival().await;
    reading.abort();
    server.departure().await;
}

#[tokio::test]
async fn answers_that_cannot_be_believed() {
    for reply in [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "SSH-2.0-OpenSSH\r\n\r\n",
        "",
    ] {
        let server = Server::start("example.com", move |_| reply.to_owned().into()).await;
        let error = server.https(allowing("example.com")).get("https://example.com/").await.unwrap_err();
        assert!(matches!(error, FetchError::Protocol { .. }), "{reply}: {error}");
    }
    let endless_head = format!("HTTP/1.1 200 OK\r\n{}", "X: y\r\n".repeat(100_000));
    let server = Server::start("example.com", move |_| endless_head.clone().into()).await;
    let error = server.https(allowing("example.com")).get("https://example.com/").await.unwrap_err();
    assert!(matches!(error, FetchError::Protocol { .. }), "{error}");
}

#[tokio::test]
async fn compression_that_was_not_asked_for() {
    let server =
        Server::start("example.com", |_| answer("200 OK", "Content-Encoding: gzip\r\n", "\u{1f}")).await;
    let error = server.https(allowing("example.com")).get("https://example.com/").await.unwrap_err();
    assert!(error.to_string().contains("in the encoding `gzip`"), "{error}");
}

#[tokio::test]
async fn certificates_have_to_be_for_the_name_and_trusted() {
    let server = Server::start("other.example", |_| answer("200 OK", "", "secret")).await;
    let error = server.https(allowing("example.com")).get("https://example.com/").await.unwrap_err();
    assert!(matches!(error, FetchError::Unreachable { .. }), "{error}");

    let stranger = Server::start("example.com", |_| answer("200 OK", "", "")).await;
    let server = Server::start("example.com", |_| answer("200 OK", "", "secret")).await;
    let trust = Trust::Only(vec![stranger.certificate.clone()]);
    let https = Https::with(allowing("example.com"), server.network(), trust);
    let error = https.get("https://example.com/").await.unwrap_err();
    assert!(matches!(error, FetchError::Unreachable { .. }), "{error}");
    let by_the_system = Https::with(allowing("example.com"), server.network(), Trust::System);
    assert!(by_the_system.get("https://example.com/").await.is_err());
    assert_eq!(server.heads().len(), 0, "nothing is asked of a server that is not the right one");
}

#[tokio::test]
async fn an_address_that_is_dead_leaves_the_others() {
    let network = TestNetwork::new(vec![vec![PUBLIC, "8.8.8.8".parse().unwrap()]], None);
    let https =
        Https::with(allowing("example.com:8443"), network.clone(), Trust::Only(vec![certificate().await]));
    let error = https.get("https://example.com:8443/").await.unwrap_err();
    assert!(error.may_pass());
    assert_eq!(
        network.connected(),
        ["93.184.216.34:8443", "8.8.8.8:8443"].map(|a| a.parse::<SocketAddr>().unwrap())
    );
}

#[tokio::test]
async fn a_header_cannot_be_smuggled_in() {
    let server = Server::start("example.com", |_| answer("200 OK", "", "")).await;
    let policy = HttpsPolicy { user_agent: Some("a\r\nX-Evil: 1".into()), ..allowing("example.com") };
    assert!(server.https(policy).get("https://example.com/").await.is_err());
    assert_eq!(server.heads().len(), 0);
}

#[tokio::test]
async fn without_certificates_no_server_is_trusted() {
    let https =
        Https::with(allowing("example.com"), TestNetwork::new(vec![vec![PUBLIC]], None), Trust::Only(vec![]));
    let error = https.get("https://example.com/").await.unwrap_err();
    assert!(matches!(error, FetchError::NoCertificates), "{error}");
}

async fn certificate() -> tokio_rustls::rustls::pki_types::CertificateDer<'static> {
    Server::start("example.com", |_| answer("200 OK", "", "")).await.certificate
}
