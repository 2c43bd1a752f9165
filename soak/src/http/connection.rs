//! HTTP connection of a client that can be cut off anywhere.

use crate::run::TIMEOUT;
use mcp_bash_http_client::{EventBlocks, HttpConnection};
use serde_json::Value;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// The server closed the connection, or nothing arrived for too long.
#[derive(Debug)]
pub(crate) struct Broken(String);

impl From<Broken> for String {
    fn from(broken: Broken) -> Self {
        broken.0
    }
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self(match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "nothing comes".to_owned(),
            io::ErrorKind::UnexpectedEof => CLOSED.to_owned(),
            _ => format!("the connection broke: {error}"),
        })
    }
}

const CLOSED: &str = "the server closed the connection";

#[derive(Debug)]
pub(crate) struct Connection {
    http: HttpConnection,
    /// When it is no longer waited for an event, even if something comes meanwhile.
    until: Option<Instant>,
}

#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) is_events: bool,
    pub(crate) session: Option<String>,
}

/// An event that carries a message, or only an id.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) message: Option<Value>,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Result<Self, Broken> {
        Ok(Self { http: HttpConnection::new(TcpStream::connect(address)?, TIMEOUT)?, until: None })
    }

    /// A connection on which the next bytes, and events in all, are waited for no longer than this.
    pub(crate) fn open_for(address: SocketAddr, patience: Duration) -> Result<Self, Broken> {
        let http = HttpConnection::new(TcpStream::connect(address)?, patience)?;
        Ok(Self { http, until: Some(Instant::now() + patience) })
    }

    /// The address of this side.
    pub(crate) fn local_address(&self) -> Option<SocketAddr> {
        self.http.stream.local_addr().ok()
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        Ok(self.http.send(bytes)?)
    }

    /// Closes the writing side, and keeps reading.
    pub(crate) fn half_close(&self) -> Result<(), Broken> {
        Ok(self.http.half_close()?)
    }

    /// Waits until an answer starts, and leaves it unread.
    pub(crate) fn wait_for_answer(&self) -> Result<(), Broken> {
        match self.http.stream.peek(&mut [0])? {
            0 => Err(Broken(CLOSED.to_owned())),
            _ => Ok(()),
        }
    }

    pub(crate) fn head(&mut self) -> Result<Head, Broken> {
        let head = self.http.head()?.ok_or_else(|| Broken(CLOSED.to_owned()))?;
        let is_events = head.header("content-type")? == Some("text/event-stream");
        let session = head.header("mcp-session-id")?.map(str::to_owned);
        Ok(Head { status: head.status, is_events, session })
    }

    /// The whole body, which must be JSON or empty.
    pub(crate) fn json(&mut self) -> Result<Value, Broken> {
        let body = self.http.body()?;
        if body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&body).map_err(|error| Broken(format!("{error} in what should be JSON")))
    }

    /// The whole body.
    pub(crate) fn text(&mut self) -> Result<Vec<u8>, Broken> {
        Ok(self.http.body()?)
    }

    /// The next event. None where the stream ends as it should.
    pub(crate) fn event(&mut self, blocks: &mut EventBlocks) -> Result<Option<Event>, Broken> {
        while let Some(event) = blocks.next(&mut self.http)? {
            let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
            let message = field("data: ").map(serde_json::from_str).transpose();
            let message = message.map_err(|error| Broken(format!("{error} in an event")))?;
            let id = field("id: ").map(str::to_owned);
            if id.is_some() || message.is_some() {
                return Ok(Some(Event { id, message }));
            }
            if self.until.is_some_and(|until| Instant::now() >= until) {
                return Err(io::Error::from(io::ErrorKind::TimedOut).into());
            }
        }
        Ok(None)
    }
}
