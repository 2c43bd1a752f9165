//! Forwarding of plain HTTP: one request and its response, after which the connection ends.

use super::head::{Header, Reading, RequestHead, read_head};
use crate::request::Target;
use std::io;
use std::pin::pin;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy};
use tokio::net::TcpStream;

/// Headers for the next recipient only, beside those that `Connection` names. The body passes unchanged, and
/// `Transfer-Encoding` with it.
const HOP_BY_HOP: [&str; 7] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "upgrade",
];

/// Headers that say where a body ends. `Connection` must not name them, and is ignored where it does.
const FRAMING: [&str; 2] = ["content-length", "transfer-encoding"];

/// The head as the server of the target gets it: without its own name in the first line, with it in `Host`.
pub(super) fn request_head(head: &RequestHead<'_>, target: &Target, path: &str) -> Vec<u8> {
    let authority = if target.port == 80 { target.host.to_string() } else { target.to_string() };
    let mut bytes = format!("{} {path} {}\r\nHost: {authority}\r\n", head.method, head.version).into_bytes();
    let connection = options(&head.headers);
    for Header { name, value } in &head.headers {
        let lower = name.to_ascii_lowercase();
        let is_dropped = lower == "host"
            || HOP_BY_HOP.contains(&lower.as_str())
            || connection.contains(&lower) && !FRAMING.contains(&lower.as_str());
        if !is_dropped {
            write_line(&mut bytes, &[name.as_bytes(), b": ", value]);
        }
    }
    write_line(&mut bytes, &[b"Connection: close\r\n"]);
    bytes
}

/// The names in the headers `Connection`, in lower case.
fn options(headers: &[Header<'_>]) -> Vec<String> {
    let connection = headers.iter().filter(|header| header.name.eq_ignore_ascii_case("connection"));
    let names = connection.flat_map(|header| header.value.split(|&byte| byte == b','));
    names.map(|name| String::from_utf8_lossy(name).trim().to_ascii_lowercase()).collect()
}

fn write_line(bytes: &mut Vec<u8>, parts: &[&[u8]]) {
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    bytes.extend_from_slice(b"\r\n");
}

/// Relays the body of the request and the response until the response ends.
pub(crate) async fn relay_response(client: &mut TcpStream, server: &mut TcpStream) {
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let mut request = pin!(async {
        copy(&mut from_client, &mut to_server).await?;
        to_server.shutdown().await
    });
    let mut response = pin!(async {
        relay_head(&mut from_server, &mut to_client).await?;
        copy(&mut from_server, &mut to_client).await?;
        to_client.shutdown().await
    });
    tokio::select! {
        _ = &mut response => {}
        // A server that reads no further may still answer.
        _ = &mut request => drop(response.await),
    }
}

/// Relays the head of the response, in which it says that the connection ends. A client that took the connection for a
/// lasting one would send its next request, for another host, to this server.
async fn relay_head(
    server: &mut (impl AsyncRead + Unpin),
    client: &mut (impl AsyncWrite + Unpin),
) -> io::Result<()> {
    let mut bytes = Vec::new();
    loop {
        let Reading::Complete(end) = read_head(server, &mut bytes).await? else {
            return client.write_all(&bytes).await;
        };
        let rest = bytes.split_off(end);
        if is_interim(&bytes) {
            client.write_all(&bytes).await?;
            bytes = rest;
            continue;
        }
        let mut edited = closing(&bytes);
        edited.extend_from_slice(&rest);
        return client.write_all(&edited).await;
    }
}

/// Whether another head follows this one.
fn is_interim(head: &[u8]) -> bool {
    let status = head.split(|&byte| byte == b' ').nth(1).unwrap_or_default();
    status.starts_with(b"1") && !status.starts_with(b"101")
}

/// The head of a response, with `Connection: close`.
fn closing(head: &[u8]) -> Vec<u8> {
    let mut edited = Vec::with_capacity(head.len() + 20);
    for line in head.split_inclusive(|&byte| byte == b'\n') {
        if line.trim_ascii().is_empty() {
            break;
        }
        let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
        let is_dropped = [&b"connection"[..], b"keep-alive", b"proxy-connection"]
            .iter()
            .any(|dropped| name.eq_ignore_ascii_case(dropped));
        if !is_dropped {
            edited.extend_from_slice(line);
        }
    }
    write_line(&mut edited, &[b"Connection: close\r\n"]);
    edited
}
