//! HTTP: `CONNECT`, and plain requests with absolute URLs.

mod forward;
mod head;
mod reply;

pub(crate) use forward::relay_response;
pub(crate) use reply::{CONNECTED, failed, timed_out};

use crate::request::{NoRequest, Protocol, Request, Target};
use head::{MAX_HEAD_BYTES, Reading, RequestHead, read_head};
use mcp_bash_sandbox::split_port;
use reply::{bad_request, too_long};
use tokio::net::TcpStream;

const FORMS: &str = "this is a proxy for HTTP and SOCKS5: send `CONNECT host:port`, or a request with a URL that begins with `http://`";

/// Reads a request, the first byte of which was read before.
pub(crate) async fn read(client: &mut TcpStream, first: u8) -> Result<Request, NoRequest> {
    if !first.is_ascii_alphabetic() {
        return Err(NoRequest::NotUnderstood(bad_request(FORMS)));
    }
    let mut bytes = vec![first];
    let end = match read_head(client, &mut bytes).await? {
        Reading::Complete(end) => end,
        Reading::TooLong => return Err(NoRequest::NotUnderstood(too_long(MAX_HEAD_BYTES))),
        Reading::Ended => return Err(NoRequest::Lost),
    };
    let (head, body) = bytes.split_at(end);
    let head = RequestHead::parse(head).map_err(not_understood)?;
    let (protocol, target, mut first_bytes) = if head.method == "CONNECT" {
        (Protocol::Tunnel, target(Protocol::Tunnel, head.target, None)?, Vec::new())
    } else {
        let (authority, path) = split_url(head.target).ok_or_else(|| not_understood(FORMS))?;
        let target = target(Protocol::Forward, authority, Some(80))?;
        let forwarded = forward::request_head(&head, &target, &path);
        (Protocol::Forward, target, forwarded)
    };
    first_bytes.extend_from_slice(body);
    Ok(Request { protocol, target, first_bytes })
}

fn not_understood(words: &str) -> NoRequest {
    NoRequest::NotUnderstood(bad_request(words))
}

fn target(protocol: Protocol, authority: &str, usual_port: Option<u16>) -> Result<Target, NoRequest> {
    let bad_port = || not_understood("the target must have a port from 1 to 65535");
    let (host, port) = split_port(authority).map_err(|_| bad_port())?;
    let port = port.or(usual_port).ok_or_else(bad_port)?;
    Target::new(host, port).map_err(|refusal| NoRequest::Refused(protocol, refusal))
}

/// The authority of an `http:` URL, and what follows it, as it is sent to a server.
fn split_url(url: &str) -> Option<(&str, String)> {
    let (scheme, rest) = url.split_at_checked("http://".len())?;
    if !scheme.eq_ignore_ascii_case("http://") {
        return None;
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let path = path.split('#').next().unwrap_or_default();
    let slash = if path.starts_with('/') { "" } else { "/" };
    Some((authority, format!("{slash}{path}")))
}
