//! A connection: sends any bytes that a test likes, and reads answers strictly.

use crate::harness::PATIENCE;
use serde_json::Value;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};

/// A connection.
pub(crate) struct Http {
    pub(crate) stream: TcpStream,
    /// Bytes that were read and not used yet.
    unread: Vec<u8>,
    /// The framing of the body that is being read.
    framing: Framing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length(usize),
    Chunked,
    UntilClosed,
    /// The body is complete.
    Over,
}

/// An answer, or the beginning of one whose body is a stream.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    /// The only value of that header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(is, _)| is.eq_ignore_ascii_case(name));
        let value = values.next().map(|(_, value)| &**value);
        assert!(values.next().is_none(), "{name} stands twice: {:?}", self.headers);
        value
    }

    pub(crate) fn is_events(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The message, which must be the whole body.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Http {
    pub(crate) fn new(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).expect("a time limit");
        stream.set_write_timeout(Some(PATIENCE)).expect("a time limit");
        Self { stream, unread: Vec::new(), framing: Framing::Over }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server reads");
    }

    /// Sends as much as the server accepts.
    pub(crate) fn try_send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Closes the writing side; the answer can still be read.
    pub(crate) fn half_close(&self) {
        self.stream.shutdown(Shutdown::Write).expect("a connection");
    }

    /// Reads a whole answer.
    pub(crate) fn response(&mut self) -> Response {
        let head = self.head();
        self.body_of(head)
    }

    /// Reads the rest of an answer whose head was read.
    pub(crate) fn body_of(&mut self, head: Response) -> Response {
        Response { body: self.body(), ..head }
    }

    /// Reads the head of an answer. Panics if the server closed the connection instead.
    pub(crate) fn head(&mut self) -> Response {
        self.try_head().unwrap_or_else(|| panic!("an answer, not only {:?}", lossy(&self.unread)))
    }

    /// Reads the head of an answer, if there is one.
    pub(crate) fn try_head(&mut self) -> Option<Response> {
        loop {
            let head = self.take_until(b"\r\n\r\n")?;
            let head = String::from_utf8(head).expect("a head is text");
            let mut lines = head.trim_end().split("\r\n");
            let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1.")).expect("HTTP/1");
            let status: u16 = status[2..5].parse().expect("a status");
            let headers: Vec<(String, String)> = lines
                .map(|line| line.split_once(": ").unwrap_or_else(|| panic!("a header: {line:?}")))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect();
            // An interim response, such as `100 Continue`.
            if status == 100 {
                continue;
            }
            let response = Response { status, headers, body: Vec::new() };
            self.framing = match (response.header("content-length"), response.header("transfer-encoding")) {
                _ if matches!(status, 204 | 304) => Framing::Over,
                (Some(length), None) => Framing::Length(length.parse().expect("a length")),
                (None, Some("chunked")) => Framing::Chunked,
                (None, None) => Framing::UntilClosed,
                framing => panic!("the body has no clear end: {framing:?}"),
            };
            return Some(response);
        }
    }

    pub(super) fn body(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece() {
            body.extend(piece);
        }
        body
    }

    /// The next piece of the body. None when it ended properly.
    fn piece(&mut self) -> Option<Vec<u8>> {
        self.try_piece().unwrap_or_else(|error| panic!("the rest of a body: {error}"))
    }

    pub(super) fn try_piece(&mut self) -> io::Result<Option<Vec<u8>>> {
        let broken = || io::Error::from(io::ErrorKind::UnexpectedEof);
        match self.framing {
            Framing::Over | Framing::Length(0) => {
                self.framing = Framing::Over;
                Ok(None)
            }
            Framing::Length(length) => {
                self.framing = Framing::Over;
                self.take(length)?.map(Some).ok_or_else(broken)
            }
            Framing::UntilClosed => {
                if self.unread.is_empty() && !self.read()? {
                    self.framing = Framing::Over;
                    return Ok(None);
                }
                Ok(Some(std::mem::take(&mut self.unread)))
            }
            Framing::Chunked => {
                let line = self.take_until(b"\r\n").ok_or_else(broken)?;
                let length = std::str::from_utf8(&line).expect("text").trim_end();
                let length = usize::from_str_radix(length, 16).expect("the length of a chunk");
                let chunk = self.take(length + 2)?.ok_or_else(broken)?;
                assert!(chunk.ends_with(b"\r\n"));
                if length == 0 {
                    self.framing = Framing::Over;
                    return Ok(None);
                }
                Ok(Some(chunk[..length].to_vec()))
            }
        }
    }

    /// Everything until the server closes the connection, no matter how.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        while matches!(self.read(), Ok(true)) {}
        std::mem::take(&mut self.unread)
    }

    /// Waits until the server closes the connection without sending anything.
    pub(crate) fn expect_closed(&mut self) {
        let rest = self.rest();
        assert!(rest.is_empty(), "{}", lossy(&rest));
    }

    fn take(&mut self, length: usize) -> io::Result<Option<Vec<u8>>> {
        while self.unread.len() < length {
            if !self.read()? {
                return Ok(None);
            }
        }
        Ok(Some(self.unread.drain(..length).collect()))
    }

    /// Everything up to and including the mark.
    fn take_until(&mut self, mark: &[u8]) -> Option<Vec<u8>> {
        loop {
            if let Some(at) = self.unread.windows(mark.len()).position(|window| window == mark) {
                return Some(self.unread.drain(..at + mark.len()).collect());
            }
            match self.read() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("{error}, after {:?}", lossy(&self.unread)),
            }
        }
    }

    /// Reads available bytes. False if the server closed the connection.
    fn read(&mut self) -> io::Result<bool> {
        let mut buffer = vec![0; 64 * 1024];
        let count = loop {
            match self.stream.read(&mut buffer) {
                // A read with a timeout does not restart by itself after a signal.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.unread.extend_from_slice(&buffer[..count]);
        Ok(count > 0)
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(2000).collect()
}
