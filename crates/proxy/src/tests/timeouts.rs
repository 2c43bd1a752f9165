//! Time limits, with a clock that the tests advance.

use super::stage::{PUBLIC, SILENT, Stage, UNANSWERED, echo, read_all};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test(start_paused = true)]
async fn a_silent_client_is_disconnected() {
    let stage = Stage::new(&["api.example:443"], &[], None);
    assert_eq!(stage.ask("").await, "");
    assert_eq!(stage.ask([5, 1, 0, 5, 1]).await, "\u{5}\0");
}

#[tokio::test(start_paused = true)]
async fn a_head_that_does_not_end_is_answered() {
    let stage = Stage::new(&["api.example:443"], &[], None);
    let answer = stage.ask("CONNECT api.example:443 HTTP/1.1\r\nX: y").await;
    assert!(answer.starts_with("HTTP/1.1 408 Request Timeout\r\nX-Proxy-Error: timeout\r\n"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_answer_in_time_is_unreachable() {
    let unanswered = format!("{UNANSWERED}:443");
    let stage = Stage::new(&["api.example:443", &unanswered], &[("api.example", &[SILENT; 8])], None);
    for target in ["api.example:443", &unanswered] {
        let answer = stage.ask(format!("CONNECT {target} HTTP/1.1\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 504 Gateway Timeout\r\nX-Proxy-Error: timeout\r\n"), "{answer}");
        assert!(answer.contains(&format!("{target} cannot be reached: ")), "{answer}");
    }
}

#[tokio::test]
async fn an_idle_tunnel_stays_open() {
    let stage = Stage::new(&["api.example:443"], &[("api.example", &[PUBLIC])], Some(echo().await));
    let mut tunnel = stage.tunnel("api.example:443").await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(24 * 3600)).await;
    tunnel.write_all(b"still there ").await.unwrap();
    let mut bytes = [0; 12];
    tunnel.read_exact(&mut bytes).await.unwrap();
    tunnel.shutdown().await.unwrap();
    assert_eq!(read_all(&mut tunnel).await, "end");
}
