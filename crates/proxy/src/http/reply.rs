//! Replies of the proxy itself.

use crate::reach::Failure;
use crate::refusal::Reason;
use std::io;

pub(crate) const CONNECTED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// A reply with words for people in its body, and one word for programs in its headers.
pub(super) fn reply(status: &str, error: &str, words: &str) -> Vec<u8> {
    let length = words.len() + 1;
    format!(
        "HTTP/1.1 {status}\r\nX-Proxy-Error: {error}\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{words}\n"
    )
    .into_bytes()
}

pub(super) fn bad_request(words: &str) -> Vec<u8> {
    reply("400 Bad Request", "bad-request", words)
}

pub(super) fn too_long(limit: usize) -> Vec<u8> {
    let words = format!("the head of the request is longer than {limit} bytes");
    reply("431 Request Header Fields Too Large", "bad-request", &words)
}

pub(crate) fn timed_out() -> Vec<u8> {
    reply("408 Request Timeout", "timeout", "the head of the request did not arrive in time")
}

pub(crate) fn failed(failure: &Failure) -> Vec<u8> {
    let (status, error) = match failure {
        Failure::Refused(refusal) => match refusal.reason {
            Reason::BadHost(_) => ("400 Bad Request", "bad-host"),
            Reason::NotListed | Reason::NotPublic { .. } => ("403 Forbidden", "blocked-by-allowlist"),
        },
        Failure::Unreachable { error, .. } if error.kind() == io::ErrorKind::TimedOut => {
            ("504 Gateway Timeout", "timeout")
        }
        Failure::Unresolved { .. } => ("502 Bad Gateway", "unresolved"),
        Failure::Unreachable { .. } => ("502 Bad Gateway", "unreachable"),
    };
    reply(status, error, &failure.to_string())
}
