//! A connection: sends any bytes that a test likes, and reads answers strictly.

use crate::harness::TIMEOUT;
use mcp_bash_http_client::{HttpConnection, ResponseHead};
use serde_json::Value;
use std::io;
use std::net::TcpStream;
use std::ops::{Deref, DerefMut};

/// A connection that panics where the server breaks a rule.
pub(crate) struct Http(HttpConnection);

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
        Self(HttpConnection::new(stream, TIMEOUT).expect("a time limit"))
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.try_send(bytes).expect("the server reads");
    }

    /// Sends as much as the server accepts.
    pub(crate) fn try_send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.send(bytes)
    }

    /// Closes the writing side; the answer can still be read.
    pub(crate) fn half_close(&self) {
        self.0.half_close().expect("a connection");
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
        self.try_head().unwrap_or_else(|| panic!("an answer, not only {:?}", lossy(self.unread())))
    }

    /// Reads the head of an answer, if there is one.
    pub(crate) fn try_head(&mut self) -> Option<Response> {
        let head = self.0.head().unwrap_or_else(|error| panic!("{error}, after {:?}", lossy(self.unread())));
        head.map(|ResponseHead { status, headers }| Response { status, headers, body: Vec::new() })
    }

    pub(super) fn body(&mut self) -> Vec<u8> {
        self.0.body().unwrap_or_else(|error| panic!("the rest of a body: {error}"))
    }

    /// Waits until the server closes the connection without sending anything.
    pub(crate) fn expect_closed(&mut self) {
        let rest = self.rest();
        assert!(rest.is_empty(), "{}", lossy(&rest));
    }
}

impl Deref for Http {
    type Target = HttpConnection;

    fn deref(&self) -> &HttpConnection {
        &self.0
    }
}

impl DerefMut for Http {
    fn deref_mut(&mut self) -> &mut HttpConnection {
        &mut self.0
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(2000).collect()
}
