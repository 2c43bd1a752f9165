//! HTTP connection: just enough HTTP for a client that can disconnect anywhere.

use crate::run::PATIENCE;
use serde_json::Value;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

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
            _ => format!("the connection broke: {error}"),
        })
    }
}

#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    unread: Vec<u8>,
    framing: Framing,
}

#[derive(Debug, Clone, Copy)]
enum Framing {
    Length(usize),
    Chunked,
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
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream, unread: Vec::new(), framing: Framing::Length(0) })
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        Ok(self.stream.write_all(bytes)?)
    }

    /// Closes the writing side, and keeps reading.
    pub(crate) fn half_close(&self) -> Result<(), Broken> {
        Ok(self.stream.shutdown(Shutdown::Write)?)
    }

    /// Waits until an answer starts, and leaves it unread.
    pub(crate) fn wait_for_answer(&self) -> Result<(), Broken> {
        match self.stream.peek(&mut [0])? {
            0 => Err(Broken("the server closed the connection".to_owned())),
            _ => Ok(()),
        }
    }

    pub(crate) fn head(&mut self) -> Result<Head, Broken> {
        let head = String::from_utf8_lossy(&self.take_until(b"\r\n\r\n")?).into_owned();
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.get(9..12)?.parse().ok());
        let mut head = Head { status: status.unwrap_or_default(), is_events: false, session: None };
        self.framing = Framing::Length(0);
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            match &*name.to_ascii_lowercase() {
                "content-length" => self.framing = Framing::Length(value.parse().unwrap_or_default()),
                "transfer-encoding" => self.framing = Framing::Chunked,
                "content-type" => head.is_events = value == "text/event-stream",
                "mcp-session-id" => head.session = Some(value.to_owned()),
                _ => {}
            }
        }
        Ok(head)
    }

    /// The whole body, which must be JSON or empty.
    pub(crate) fn json(&mut self) -> Result<Value, Broken> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece()? {
            body.extend(piece);
        }
        if body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&body).map_err(|error| Broken(format!("{error} in what should be JSON")))
    }

    /// The next event. None if the stream ended properly.
    pub(crate) fn event(&mut self, text: &mut String) -> Result<Option<Event>, Broken> {
        loop {
            if let Some(end) = text.find("\n\n") {
                let event: String = text.drain(..end + 2).collect();
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                let message = match field("data: ") {
                    Some(data) => {
                        let message = serde_json::from_str(data);
                        Some(message.map_err(|error| Broken(format!("{error} in an event")))?)
                    }
                    None => None,
                };
                let id = field("id: ").map(str::to_owned);
                if id.is_some() || message.is_some() {
                    return Ok(Some(Event { id, message }));
                }
                continue;
            }
            let Some(piece) = self.piece()? else { return Ok(None) };
            text.push_str(&String::from_utf8_lossy(&piece));
        }
    }

    fn piece(&mut self) -> Result<Option<Vec<u8>>, Broken> {
        match self.framing {
            Framing::Length(0) => Ok(None),
            Framing::Length(length) => {
                self.framing = Framing::Length(0);
                self.take(length).map(Some)
            }
            Framing::Chunked => {
                let line = self.take_until(b"\r\n")?;
                let digits = String::from_utf8_lossy(&line);
                let length = usize::from_str_radix(digits.trim_end(), 16);
                let length = length.map_err(|_| Broken(format!("{digits:?} is no length of a chunk")))?;
                let mut chunk = self.take(length + 2)?;
                chunk.truncate(length);
                if length == 0 {
                    self.framing = Framing::Length(0);
                    return Ok(None);
                }
                Ok(Some(chunk))
            }
        }
    }

    fn take_until(&mut self, mark: &[u8]) -> Result<Vec<u8>, Broken> {
        loop {
            if let Some(at) = memchr::memmem::find(&self.unread, mark) {
                return Ok(self.unread.drain(..at + mark.len()).collect());
            }
            self.read()?;
        }
    }

    fn take(&mut self, length: usize) -> Result<Vec<u8>, Broken> {
        while self.unread.len() < length {
            self.read()?;
        }
        Ok(self.unread.drain(..length).collect())
    }

    fn read(&mut self) -> Result<(), Broken> {
        let mut buffer = [0; 16 * 1024];
        let count = self.stream.read(&mut buffer)?;
        if count == 0 {
            return Err(Broken("the server closed the connection".to_owned()));
        }
        self.unread.extend_from_slice(&buffer[..count]);
        Ok(())
    }
}
