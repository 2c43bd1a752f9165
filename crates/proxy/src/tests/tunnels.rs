//! `CONNECT`: tunnels to listed hosts.

use super::stage::{PUBLIC, Stage, echo, read_all};
use crate::{Reason, Refusal};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn a_listed_host_is_reached_at_the_address_that_was_judged() {
    let stage = Stage::new(&["api.example:443"], &[("api.example", &[PUBLIC])], Some(echo().await));
    let mut tunnel = stage.tunnel("API.example:443").await;
    tunnel.write_all(b"hello").await.unwrap();
    let mut bytes = [0; 5];
    tunnel.read_exact(&mut bytes).await.unwrap();
    assert_eq!(&bytes, b"hello");
    assert_eq!(stage.resolved(), ["api.example"], "its name is resolved once");
    assert_eq!(stage.connected(), [format!("{PUBLIC}:443")]);
    assert_eq!(stage.refusals(), []);
}

#[tokio::test]
async fn a_client_that_has_finished_sending_still_receives() {
    let stage = Stage::new(&["*.example:443"], &[("api.example", &[PUBLIC])], Some(echo().await));
    let mut tunnel = stage.tunnel("api.example:443").await;
    tunnel.write_all(b"hello ").await.unwrap();
    tunnel.shutdown().await.unwrap();
    assert_eq!(read_all(&mut tunnel).await, "hello end");
}

#[tokio::test]
async fn a_server_that_has_finished_sending_still_receives() {
    let (send, receive) = tokio::sync::oneshot::channel();
    let send = std::sync::Mutex::new(Some(send));
    let port = super::stage::serve("127.0.0.1".parse().unwrap(), move |mut stream| {
        let send = send.lock().unwrap().take().unwrap();
        async move {
            stream.write_all(b"greeting").await?;
            stream.shutdown().await?;
            let mut text = String::new();
            stream.read_to_string(&mut text).await?;
            send.send(text).unwrap();
            Ok(())
        }
    })
    .await;
    let stage = Stage::new(&["api.example:443"], &[("api.example", &[PUBLIC])], Some(port));
    let mut tunnel = stage.tunnel("api.example:443").await;
    assert_eq!(read_all(&mut tunnel).await, "greeting");
    tunnel.write_all(b"late").await.unwrap();
    tunnel.shutdown().await.unwrap();
    assert_eq!(receive.await.unwrap(), "late");
}

#[tokio::test]
async fn bytes_that_follow_the_head_at_once_are_not_lost() {
    let stage = Stage::new(&["api.example:443"], &[("api.example", &[PUBLIC])], Some(echo().await));
    let mut client = stage.connect().await;
    client.write_all(b"CONNECT api.example:443 HTTP/1.1\r\nHost: x\r\n\r\nearly ").await.unwrap();
    client.shutdown().await.unwrap();
    assert_eq!(read_all(&mut client).await, "HTTP/1.1 200 Connection established\r\n\r\nearly end");
}

#[tokio::test]
async fn megabytes_pass_in_both_directions_at_once() {
    let stage = Stage::new(&["api.example:443"], &[("api.example", &[PUBLIC])], Some(echo().await));
    let mut tunnel = stage.tunnel("api.example:443").await;
    let sent: Vec<u8> = (0..5_000_000_u32).map(|number| (number % 251) as u8).collect();
    let (mut from, mut to) = tunnel.split();
    let mut received = Vec::new();
    let (sending, receiving) = tokio::join!(
        async {
            to.write_all(&sent).await?;
            to.shutdown().await
        },
        from.read_to_end(&mut received)
    );
    sending.unwrap();
    receiving.unwrap();
    assert!(received.strip_suffix(b"end") == Some(&sent[..]));
}

#[tokio::test]
async fn a_host_that_is_not_listed_is_refused_and_not_resolved() {
    let names: &[(&str, &[&str])] = &[("api.example", &[PUBLIC]), ("evil.example", &[PUBLIC])];
    let stage = Stage::new(&["api.example:443"], names, Some(echo().await));
    let answer = stage.ask("CONNECT evil.example:443 HTTP/1.1\r\n\r\n").await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 403 Forbidden\r\nX-Proxy-Error: blocked-by-allowlist\r\n"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
    let words = "evil.example:443 may not be reached: the tool's sandbox does not list it; to allow it, add \
                 \"network\": [\"evil.example:443\"] to `sandbox` in the tool's metadata";
    assert_eq!(body, format!("{words}\n"));
    let refusal = Refusal { host: "evil.example".to_owned(), port: 443, reason: Reason::NotListed };
    assert_eq!(stage.refusals(), [refusal]);
    assert_eq!(stage.refusals()[0].to_string(), words);
    // A query would reach a DNS server of the host's owner.
    assert_eq!((stage.resolved(), stage.connected()), (vec![], vec![]));
    assert_eq!(stage.reached(), [""; 0]);
    drop(stage.tunnel("API.example:443").await);
    assert_eq!(stage.reached(), ["api.example:443"]);

    // Another port of a listed host is another service.
    let answer = stage.ask("CONNECT api.example:22 HTTP/1.1\r\n\r\n").await;
    assert!(answer.contains("\"network\": [\"api.example:22\"]"), "{answer}");
}

#[tokio::test]
async fn a_host_that_cannot_be_reached_is_no_refusal() {
    let stage = Stage::new(&["api.example:443", "gone.example:443"], &[("api.example", &[PUBLIC])], None);
    let answer = stage.ask("CONNECT api.example:443 HTTP/1.1\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 502 Bad Gateway\r\nX-Proxy-Error: unreachable\r\n"), "{answer}");
    assert!(answer.ends_with("api.example:443 cannot be reached: connection refused\n"), "{answer}");
    let answer = stage.ask("CONNECT gone.example:443 HTTP/1.1\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 502 Bad Gateway\r\nX-Proxy-Error: unresolved\r\n"), "{answer}");
    assert!(answer.contains("gone.example:443 has no address: "), "{answer}");
    assert_eq!(stage.refusals(), []);
}
