//! Head of a response: its status and its headers, and how they frame the body.

use crate::invalid;
use std::io;

#[derive(Debug, Clone)]
pub struct ResponseHead {
    pub status: u16,
    pub headers: Vec<(String, String)>,
}

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    Length(usize),
    Chunked,
    UntilClosed,
    /// There is no more of it.
    Over,
}

impl ResponseHead {
    pub(crate) fn parse(bytes: &[u8]) -> io::Result<Self> {
        let text = str::from_utf8(bytes).map_err(|_| invalid("a head that is no text"))?;
        let mut lines = text.trim_end().split("\r\n");
        let first = lines.next().unwrap_or_default();
        let status = first.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok());
        let status = status.ok_or_else(|| invalid(&format!("{first:?} is no status")))?;
        let header = |line: &str| match line.split_once(": ") {
            Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
            None => Err(invalid(&format!("{line:?} is no header"))),
        };
        Ok(Self { status, headers: lines.map(header).collect::<io::Result<_>>()? })
    }

    /// The only value of that header; an error if there are several.
    pub fn header(&self, name: &str) -> io::Result<Option<&str>> {
        let mut values = self.headers.iter().filter(|(is, _)| is.eq_ignore_ascii_case(name));
        let value = values.next().map(|(_, value)| &**value);
        match values.next() {
            Some(_) => Err(invalid(&format!("two headers {name}: {:?}", self.headers))),
            None => Ok(value),
        }
    }

    pub(crate) fn framing(&self) -> io::Result<Framing> {
        match (self.header("content-length")?, self.header("transfer-encoding")?) {
            _ if matches!(self.status, 204 | 304) => Ok(Framing::Over),
            (Some(length), None) => match length.parse() {
                Ok(length) => Ok(Framing::Length(length)),
                Err(_) => Err(invalid(&format!("{length:?} is no length"))),
            },
            (None, Some("chunked")) => Ok(Framing::Chunked),
            (None, None) => Ok(Framing::UntilClosed),
            framing => Err(invalid(&format!("the body has no clear end: {framing:?}"))),
        }
    }
}
