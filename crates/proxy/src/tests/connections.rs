//! Connections: how many there are, and when they end.

use super::stage::{PUBLIC, Stage, echo};
use crate::connections::{MAX_CONNECTIONS, serve_each};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test]
async fn dropping_the_proxy_ends_its_tunnels_and_its_socket() {
    let stage = Stage::new(&["api.example:443"], &[("api.example", &[PUBLIC])], Some(echo().await));
    let mut tunnel = stage.tunnel("api.example:443").await;
    let mut waiting = stage.connect().await;
    stage.task.abort();
    for stream in [&mut tunnel, &mut waiting] {
        // An end or a reset: nothing was sent.
        assert_eq!(stream.read_to_end(&mut Vec::new()).await.unwrap_or(0), 0);
    }
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, stage.port)).await.is_err());
}

#[tokio::test]
async fn a_connection_beyond_the_limit_waits_for_a_place() {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let served = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&served);
    let task = tokio::spawn(serve_each(listener, move |mut client| {
        count.fetch_add(1, Ordering::Relaxed);
        async move {
            let _ = client.write_all(b"!").await;
            let _ = client.read_u8().await;
        }
    }));
    let mut clients = Vec::new();
    for _ in 0..MAX_CONNECTIONS {
        let mut client = TcpStream::connect(address).await.unwrap();
        assert_eq!(client.read_u8().await.unwrap(), b'!');
        clients.push(client);
    }
    let mut last = TcpStream::connect(address).await.unwrap();
    // Every turn lets the accept loop and the driver of the sockets go on.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(served.load(Ordering::Relaxed), MAX_CONNECTIONS);
    clients.pop();
    assert_eq!(last.read_u8().await.unwrap(), b'!');
    assert_eq!(served.load(Ordering::Relaxed), MAX_CONNECTIONS + 1);
    task.abort();
}
