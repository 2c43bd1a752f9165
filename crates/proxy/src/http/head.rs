//! Heads of HTTP messages: the lines before the body.

use std::io;
use tokio::io::{AsyncRead, AsyncReadExt};

pub(super) const MAX_HEAD_BYTES: usize = 16 * 1024;

pub(super) enum Reading {
    /// The head has this many bytes; what follows belongs to the body.
    Complete(usize),
    TooLong,
    /// The stream has ended before.
    Ended,
}

/// Reads more bytes until they hold a head.
pub(super) async fn read_head(
    stream: &mut (impl AsyncRead + Unpin),
    bytes: &mut Vec<u8>,
) -> io::Result<Reading> {
    let mut searched = 0;
    loop {
        if let Some(end) = end_of_head(bytes, searched) {
            return Ok(if end > MAX_HEAD_BYTES { Reading::TooLong } else { Reading::Complete(end) });
        }
        if bytes.len() >= MAX_HEAD_BYTES {
            return Ok(Reading::TooLong);
        }
        // The last two bytes may be the start of the end.
        searched = bytes.len().saturating_sub(2);
        if stream.read_buf(bytes).await? == 0 {
            return Ok(Reading::Ended);
        }
    }
}

/// The position behind the first empty line, which is searched for from `start` on. Line ends without CR are found too:
/// a client that sends them is refused at once, and does not wait for us.
fn end_of_head(bytes: &[u8], start: usize) -> Option<usize> {
    let mut line_ends = (start..bytes.len()).filter(|&at| bytes[at] == b'\n');
    line_ends.find_map(|at| match bytes[at + 1..] {
        [b'\n', ..] => Some(at + 2),
        [b'\r', b'\n', ..] => Some(at + 3),
        _ => None,
    })
}

/// The head of a request, strictly parsed: what is sent on can be read in one way only.
#[derive(Debug)]
pub(super) struct RequestHead<'a> {
    pub(super) method: &'a str,
    pub(super) target: &'a str,
    pub(super) version: &'a str,
    pub(super) headers: Vec<Header<'a>>,
}

#[derive(Debug)]
pub(super) struct Header<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a [u8],
}

impl<'a> RequestHead<'a> {
    /// Parses a complete head; an error is a sentence for the client.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, &'static str> {
        let mut lines = Vec::new();
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let line = line.strip_suffix(b"\r\n").ok_or("a line does not end with CR LF")?;
            if line.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
                return Err("a line has a control character");
            }
            lines.push(line);
        }
        // The last line is the empty one.
        lines.pop();
        let mut lines = lines.into_iter();
        let (method, target, version) = request_line(lines.next().unwrap_or_default())
            .ok_or("the first line must be a method, a target and `HTTP/1.1`, with a space between them")?;
        let headers = lines.map(|line| header(line).ok_or("a header is not `name: value`"));
        Ok(Self { method, target, version, headers: headers.collect::<Result<_, _>>()? })
    }
}

fn request_line(line: &[u8]) -> Option<(&str, &str, &str)> {
    let line = str::from_utf8(line).ok()?;
    let mut words = line.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    let is_sound = words.next().is_none()
        && is_token(method)
        && !target.is_empty()
        && target.bytes().all(|byte| byte.is_ascii_graphic())
        && matches!(version, "HTTP/1.0" | "HTTP/1.1");
    is_sound.then_some((method, target, version))
}

fn header(line: &[u8]) -> Option<Header<'_>> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    let name = str::from_utf8(&line[..colon]).ok().filter(|name| is_token(name))?;
    Some(Header { name, value: line[colon + 1..].trim_ascii() })
}

fn is_token(text: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_sign)
}
