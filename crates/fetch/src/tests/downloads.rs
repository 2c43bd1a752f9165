//! Downloads to files.

use super::server::{Reply, Server, answer};
use crate::download::pause;
use crate::{Download, HostList, HostRules, HttpsPolicy, download};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;

fn request(out: &Path) -> Download {
    Download {
        url: "https://example.com/data".into(),
        out: out.to_owned(),
        allow: HostList::parse("example.com").unwrap(),
        deny: HostList::default(),
        max_bytes: None,
        timeout: None,
        user_agent: None,
        attempts: 3,
        delay: Duration::ZERO,
    }
}

/// The result as a script reads it.
async fn result(server: &Server, policy: HttpsPolicy, request: &Download) -> Value {
    match download(request, &server.https(policy)).await {
        Ok(downloaded) => downloaded.to_json(),
        Err(error) => error.to_json(),
    }
}

/// A server that gives these answers in order, and then repeats the last one.
async fn server(answers: &'static [(&'static str, &'static str)]) -> Server {
    let next = AtomicUsize::new(0);
    Server::start("example.com", move |_| {
        let (status, body) = answers[next.fetch_add(1, Ordering::Relaxed).min(answers.len() - 1)];
        answer(status, "Location: https://example.com/elsewhere\r\n", body)
    })
    .await
}

#[tokio::test]
async fn a_file_is_there_as_a_whole() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("data.bin");
    let server = server(&[("200 OK", "hello")]).await;
    let json = result(&server, HttpsPolicy::default(), &request(&out)).await;
    assert_eq!(json, json!({"success": true, "bytes": 5, "path": out.to_str().unwrap()}));
    assert_eq!(fs::read(&out).unwrap(), b"hello");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    let agent = format!("user-agent: mcpbash/{} (tool-sdk)", env!("CARGO_PKG_VERSION"));
    assert!(server.heads()[0].lines().any(|line| line == agent), "{}", server.heads()[0]);
}

#[tokio::test]
async fn a_file_that_was_there_is_replaced_and_a_link_not_followed() {
    let folder = TempDir::new().unwrap();
    let (out, target) = (folder.path().join("out"), folder.path().join("target"));
    fs::write(&target, "untouched").unwrap();
    symlink(&target, &out).unwrap();
    result(&server(&[("200 OK", "new")]).await, HttpsPolicy::default(), &request(&out)).await;
    assert_eq!(fs::read(&out).unwrap(), b"new");
    assert_eq!(fs::read(&target).unwrap(), b"untouched");
}

#[tokio::test]
async fn temporary_failures_are_retried() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let server = server(&[("503 Busy", ""), ("500 Oops", ""), ("200 OK", "third time")]).await;
    assert_eq!(result(&server, HttpsPolicy::default(), &request(&out)).await["bytes"], 10);
    assert_eq!(server.heads().len(), 3);
}

#[tokio::test]
async fn failures_have_types_and_are_tried_as_often_as_it_makes_sense() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let long = "x".repeat(100);
    for (status, kind, requests) in [
        ("503 Busy", "network_error", 3),
        ("404 Not Found", "network_error", 1),
        ("302 Found", "redirect", 1),
        ("200 OK", "size_exceeded", 1),
    ] {
        let long = long.clone();
        let reply = move |_: &_| answer(status, "Location: https://example.com/elsewhere\r\n", &long);
        let server = Server::start("example.com", reply).await;
        let limited = Download { max_bytes: Some(50), ..request(&out) };
        let json = result(&server, HttpsPolicy::default(), &limited).await;
        assert_eq!(json["success"], false);
        assert_eq!(json["error"]["type"], kind, "{json}");
        let location = (kind == "redirect").then_some("https://example.com/elsewhere");
        assert_eq!(json["error"]["location"].as_str(), location);
        assert_eq!(server.heads().len(), requests);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written");
    }
}

#[tokio::test]
async fn refusals_have_types() {
    let folder = TempDir::new().unwrap();
    let plain = request(&folder.path().join("out"));
    let deny = HostList::parse("example.com").unwrap();
    let denying = HttpsPolicy {
        hosts: HostRules { deny: deny.clone(), ..HostRules::default() },
        ..HttpsPolicy::default()
    };
    for (policy, request, kind) in [
        (
            HttpsPolicy::default(),
            Download { url: "http://example.com/".into(), ..plain.clone() },
            "invalid_url",
        ),
        (HttpsPolicy::default(), Download { url: String::new(), ..plain.clone() }, "invalid_url"),
        (HttpsPolicy::default(), Download { url: "https://127.1/".into(), ..plain.clone() }, "host_blocked"),
        (
            HttpsPolicy::default(),
            Download { url: "https://a.example/".into(), ..plain.clone() },
            "host_blocked",
        ),
        (HttpsPolicy::default(), Download { allow: HostList::default(), ..plain.clone() }, "host_blocked"),
        (HttpsPolicy::default(), Download { deny, ..plain.clone() }, "host_blocked"),
        // A script's own list does not override what the operator denies.
        (denying, plain.clone(), "host_blocked"),
        (
            HttpsPolicy::default(),
            Download { out: folder.path().join("no/such/folder"), ..plain.clone() },
            "write_error",
        ),
        (HttpsPolicy::default(), Download { out: folder.path().to_owned(), ..plain.clone() }, "write_error"),
    ] {
        let json = result(&server(&[("200 OK", "hello")]).await, policy, &request).await;
        assert_eq!(json["error"]["type"], kind, "{json}");
    }
}

#[tokio::test]
async fn a_server_that_stalls_is_left() {
    let folder = TempDir::new().unwrap();
    let server = Server::start("example.com", |_| Reply::Stall(Vec::new())).await;
    let hasty = Download {
        timeout: Some(Duration::from_millis(100)),
        attempts: 2,
        ..request(&folder.path().join("out"))
    };
    let json = result(&server, HttpsPolicy::default(), &hasty).await;
    assert_eq!(json["error"]["type"], "network_error");
    assert!(json["error"]["message"].as_str().unwrap().contains("MCPBASH_HTTPS_TIMEOUT"), "{json}");
}

#[test]
fn pauses_double_and_vary() {
    let second = Duration::from_secs(1);
    assert_eq!([1, 2, 3].map(|attempt| pause(second, attempt, 0.0).as_millis()), [1000, 2000, 4000]);
    assert_eq!([1, 2, 3].map(|attempt| pause(second, attempt, 1.0).as_millis()), [1500, 3000, 6000]);
    assert!(pause(second, u32::MAX, 1.0) > pause(second, 30, 0.0), "and never overflow");
}
