//! Bridges: ports of this machine.

use super::stage::{echo, read_all, serve};
use crate::bridge;
use std::net::Ipv4Addr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// A client of a bridge to this port.
async fn client(port: u16) -> (TcpStream, JoinHandle<()>) {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move { drop(bridge(listener, port, || ()).await) });
    (TcpStream::connect(address).await.unwrap(), task)
}

#[tokio::test]
async fn bytes_pass_unchanged_and_half_closes_too() {
    let (mut client, task) = client(echo().await).await;
    // What would be a request for the proxy is just bytes here.
    client.write_all(b"\x05\x01\0CONNECT a:1 HTTP/1.1\r\n\r\n").await.unwrap();
    client.shutdown().await.unwrap();
    assert_eq!(read_all(&mut client).await, "\x05\x01\0CONNECT a:1 HTTP/1.1\r\n\r\nend");
    task.abort();
}

#[tokio::test]
async fn a_server_may_send_first() {
    let port = serve("127.0.0.1".parse().unwrap(), |mut stream| async move {
        stream.write_all(b"220 ready").await?;
        stream.read_u8().await.map(drop)
    })
    .await;
    let (mut client, task) = client(port).await;
    let mut bytes = [0; 9];
    client.read_exact(&mut bytes).await.unwrap();
    assert_eq!(&bytes, b"220 ready");
    task.abort();
    assert_eq!(client.read(&mut bytes).await.unwrap_or(0), 0, "it ends with its bridge");
}

#[tokio::test]
async fn a_server_of_ipv6_only_is_found() {
    let port =
        serve("::1".parse().unwrap(), |mut stream| async move { stream.write_all(b"six").await }).await;
    let (mut client, task) = client(port).await;
    assert_eq!(read_all(&mut client).await, "six");
    task.abort();
}

#[tokio::test]
async fn a_port_without_a_server_resets_the_connection() {
    // The port is free again after this.
    let port = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let (mut client, task) = client(port).await;
    let error = client.read_to_end(&mut Vec::new()).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    task.abort();
}
