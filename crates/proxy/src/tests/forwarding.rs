//! Plain HTTP requests with absolute URLs.

use super::stage::{HttpServer, PUBLIC, Stage, read_all};
use tokio::io::AsyncWriteExt;

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

async fn stage(answer: &str) -> (Stage, HttpServer) {
    let server = HttpServer::start(answer).await;
    let names: &[(&str, &[&str])] = &[("api.example", &[PUBLIC])];
    let stage =
        Stage::new(&["api.example:80", "api.example:8080", "[2606:4700::1]:8080"], names, Some(server.port));
    (stage, server)
}

#[tokio::test]
async fn a_server_receives_the_request_as_if_it_came_without_a_proxy() {
    let (stage, server) = stage(ANSWER).await;
    let answer = stage
        .ask(
            "GET http://API.example/a?b=c HTTP/1.1\r\nHost: evil.example\r\nhost: other.example\r\nAccept: */*\r\n\
             Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic c2VjcmV0\r\nConnection: keep-alive, X-Own\r\n\
             X-Own: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\nUpgrade: h2c\r\nX-Empty:\r\n\r\n",
        )
        .await;
    assert_eq!(answer, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
    assert_eq!(
        server.requests(),
        ["GET /a?b=c HTTP/1.1\r\nHost: api.example\r\nAccept: */*\r\nX-Empty: \r\nConnection: close\r\n\r\n"]
    );
    assert_eq!(stage.connected(), [format!("{PUBLIC}:80")]);
}

#[tokio::test]
async fn the_forms_of_a_url() {
    for (url, line, host) in [
        ("http://api.example", "/", "api.example"),
        ("HTTP://api.example?q", "/?q", "api.example"),
        ("http://api.example/#part", "/", "api.example"),
        ("http://api.example:80/", "/", "api.example"),
        ("http://api.example:8080//x", "//x", "api.example:8080"),
        ("http://[2606:4700::1]:8080/", "/", "[2606:4700::1]:8080"),
    ] {
        let (stage, server) = stage(ANSWER).await;
        stage.ask(format!("GET {url} HTTP/1.0\r\n\r\n")).await;
        let expected = format!("GET {line} HTTP/1.0\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        assert_eq!(server.requests(), [expected], "{url}");
    }
}

#[tokio::test]
async fn a_body_passes_unchanged_even_if_connection_names_its_length() {
    let (stage, server) = stage(ANSWER).await;
    let body = "x".repeat(300_000);
    let head = format!(
        "POST http://api.example/ HTTP/1.1\r\nContent-Length: {}\r\nConnection: content-length, transfer-encoding\r\n\r\n",
        body.len()
    );
    let answer = stage.ask(head + &body).await;
    assert!(answer.ends_with("\r\n\r\nhi"), "{answer}");
    assert!(
        server.requests()[0]
            .starts_with("POST / HTTP/1.1\r\nHost: api.example\r\nContent-Length: 300000\r\n")
    );
    assert!(server.requests()[0].ends_with(&body));
}

#[tokio::test]
async fn a_server_that_keeps_the_connection_does_not_receive_the_next_request() {
    let (stage, server) = stage(
        "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\nContent-Length: 2\r\n\r\nhi",
    )
    .await;
    let mut client = stage.connect().await;
    client.write_all(b"GET http://api.example/ HTTP/1.1\r\n\r\n").await.unwrap();
    let head = super::stage::read_head(&mut client).await;
    assert_eq!(head, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn interim_responses_pass_before_the_final_one() {
    let (stage, _server) =
        stage("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n").await;
    let answer = stage.ask("GET http://api.example/ HTTP/1.1\r\nExpect: 100-continue\r\n\r\n").await;
    assert_eq!(
        answer,
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
    );
}

#[tokio::test]
async fn an_answer_that_is_no_http_passes_as_it_is() {
    for answer in ["", "hello", "HTTP/1.1 200 OK\nServer: old\n", &"x".repeat(100_000)] {
        let (stage, _server) = stage(answer).await;
        assert_eq!(stage.ask("GET http://api.example/ HTTP/1.1\r\n\r\n").await, answer);
    }
    let (stage, _server) = stage("HTTP/1.0 200 OK\nConnection: Keep-Alive\n\nbody").await;
    let answer = stage.ask("GET http://api.example/ HTTP/1.1\r\n\r\n").await;
    assert_eq!(answer, "HTTP/1.0 200 OK\nConnection: close\r\n\r\nbody");
}

#[tokio::test]
async fn a_refused_request_with_a_large_body_is_still_answered() {
    let (stage, server) = stage(ANSWER).await;
    let mut client = stage.connect().await;
    let body = vec![b'x'; 3_000_000];
    let head = format!("POST http://evil.example/ HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
    client.write_all(head.as_bytes()).await.unwrap();
    client.write_all(&body).await.unwrap();
    let answer = read_all(&mut client).await;
    assert!(
        answer.starts_with("HTTP/1.1 403 Forbidden\r\nX-Proxy-Error: blocked-by-allowlist\r\n"),
        "{answer}"
    );
    assert!(answer.contains("\"network\": [\"evil.example:80\"]"), "{answer}");
    assert_eq!(server.requests(), Vec::<String>::new());
}
