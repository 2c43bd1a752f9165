//! HTTP connection: sends each request when the previous one is answered.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::message::{Head, header};
use super::{HttpServer, Post};

/// The answer to a request.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
    /// The session that the answer begins.
    pub session: Option<String>,
    /// From before the request is written until its answer is complete.
    pub took: Duration,
}

/// A connection that stays open.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    host: String,
    path: String,
    received: Vec<u8>,
    filled: usize,
}

impl Connection {
    pub fn open(server: &HttpServer) -> io::Result<Self> {
        let stream = TcpStream::connect(server.address())?;
        stream.set_nodelay(true)?;
        let (host, path) = (server.address().to_string(), server.path().to_owned());
        Ok(Self { stream, host, path, received: vec![0; 16 * 1024], filled: 0 })
    }

    /// Sends a request and waits for its whole answer.
    pub fn exchange(&mut self, post: &Post) -> Result<Answer, String> {
        let request = post.render(&self.host, &self.path);
        let began = Instant::now();
        self.send(&request)?;
        let (head, end) = loop {
            let head = self.read_head()?;
            if let Some(end) = head.end(&self.received[..self.filled]) {
                break (head, end);
            }
            self.read_more()?;
        };
        let took = began.elapsed();
        let session = header(&self.received[..head.length], b"mcp-session-id");
        let session = session.map(|value| String::from_utf8_lossy(value).into_owned());
        let body = head.body(&self.received[..end]);
        self.received.copy_within(end..self.filled, 0);
        self.filled -= end;
        Ok(Answer { status: head.status, body, session, took })
    }

    /// Begins a session and returns its id, if the server gives it one.
    pub fn begin_session(&mut self) -> Result<Option<String>, String> {
        let answer = self.exchange(&Post::initialize())?;
        answer.check(b"\"protocolVersion\"")?;
        let ready = self.exchange(&Post::initialized(answer.session.as_deref()))?;
        match ready.status {
            202 => Ok(answer.session),
            status => Err(format!("it answered a notification with {status}")),
        }
    }

    /// Sends a request whose answer does not end, and waits for `expected`. Later data is not read.
    pub(super) fn open_stream(&mut self, post: &Post, expected: &[u8]) -> Result<(), String> {
        self.send(&post.render(&self.host, &self.path))?;
        let head = self.read_head()?;
        if head.status != 200 {
            return Err(format!("it answers a request for a stream with {}", head.status));
        }
        while memchr::memmem::find(&self.received[..self.filled], expected).is_none() {
            self.read_more()?;
        }
        Ok(())
    }

    /// The bare connection, without buffers of this side.
    pub(super) fn into_stream(self) -> TcpStream {
        self.stream
    }

    fn send(&mut self, request: &[u8]) -> Result<(), String> {
        self.stream.write_all(request).map_err(|error| format!("it takes no request: {error}"))
    }

    fn read_head(&mut self) -> Result<Head, String> {
        loop {
            if let Some(head) = Head::read(&self.received[..self.filled])? {
                return Ok(head);
            }
            self.read_more()?;
        }
    }

    fn read_more(&mut self) -> Result<(), String> {
        if self.filled == self.received.len() {
            self.received.resize(2 * self.filled, 0);
        }
        match self.stream.read(&mut self.received[self.filled..]) {
            Ok(0) => Err("it closed the connection".to_owned()),
            Ok(count) => {
                self.filled += count;
                Ok(())
            }
            Err(error) => Err(format!("the connection: {error}")),
        }
    }
}

impl Answer {
    /// Checks that the answer is a success that contains `expected`.
    pub fn check(&self, expected: &[u8]) -> Result<(), String> {
        if self.status == 200 && memchr::memmem::find(&self.body, expected).is_some() {
            return Ok(());
        }
        let quoted = String::from_utf8_lossy(&self.body[..self.body.len().min(300)]);
        Err(format!("it answered {} with «{quoted}»", self.status))
    }
}
