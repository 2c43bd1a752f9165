//! HTTP connections of the tests and the soak: any bytes are sent, and responses are read strictly and piece by piece, so
//! that a client can stop anywhere. A response that breaks a rule is an error of kind `InvalidData`.
//!
//! The benchmarks have a reader of their own (`benches/src/http`), which checks less and copies nothing while the clock runs.

mod blocks;
mod head;

pub use blocks::EventBlocks;
pub use head::ResponseHead;

use head::Framing;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

#[derive(Debug)]
pub struct HttpConnection {
    pub stream: TcpStream,
    /// What was read and not used yet.
    unread: Vec<u8>,
    /// How the body that is being read is framed.
    framing: Framing,
}

impl HttpConnection {
    /// A connection on which each read and each write ends within `limit`.
    pub fn new(stream: TcpStream, limit: Duration) -> io::Result<Self> {
        stream.set_read_timeout(Some(limit))?;
        stream.set_write_timeout(Some(limit))?;
        Ok(Self { stream, unread: Vec::new(), framing: Framing::Over })
    }

    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Sends nothing more, and goes on to read.
    pub fn half_close(&self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Write)
    }

    /// Reads the beginning of a response, past those that only say that more is to come. `None` if the server has closed
    /// the connection instead.
    pub fn head(&mut self) -> io::Result<Option<ResponseHead>> {
        loop {
            let Some(bytes) = self.take_until(b"\r\n\r\n")? else { return Ok(None) };
            let head = ResponseHead::parse(&bytes)?;
            if head.status != 100 {
                self.framing = head.framing()?;
                return Ok(Some(head));
            }
        }
    }

    /// The next piece of the body. `None` when it has ended as it should.
    pub fn piece(&mut self) -> io::Result<Option<Vec<u8>>> {
        match self.framing {
            Framing::Over | Framing::Length(0) => {
                self.framing = Framing::Over;
                Ok(None)
            }
            Framing::Length(length) => {
                self.framing = Framing::Over;
                self.take(length).map(Some)
            }
            Framing::UntilClosed => {
                if self.unread.is_empty() && !self.read()? {
                    self.framing = Framing::Over;
                    return Ok(None);
                }
                Ok(Some(std::mem::take(&mut self.unread)))
            }
            Framing::Chunked => {
                let line = self.take_until(b"\r\n")?.ok_or(io::ErrorKind::UnexpectedEof)?;
                let line = String::from_utf8_lossy(&line);
                let length = usize::from_str_radix(line.trim_end(), 16);
                let length = length.map_err(|_| invalid(&format!("{line:?} is no length of a chunk")))?;
                let mut chunk = self.take(length + 2)?;
                if !chunk.ends_with(b"\r\n") {
                    return Err(invalid("a chunk is longer than it says"));
                }
                chunk.truncate(length);
                if length == 0 {
                    self.framing = Framing::Over;
                    return Ok(None);
                }
                Ok(Some(chunk))
            }
        }
    }

    /// The rest of the body.
    pub fn body(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece()? {
            body.extend(piece);
        }
        Ok(body)
    }

    /// Everything until the server closes the connection, however it does.
    pub fn rest(&mut self) -> Vec<u8> {
        while matches!(self.read(), Ok(true)) {}
        std::mem::take(&mut self.unread)
    }

    /// What was read and not used yet.
    pub fn unread(&self) -> &[u8] {
        &self.unread
    }

    fn take(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.unread.len() < length {
            if !self.read()? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(self.unread.drain(..length).collect())
    }

    /// All up to that mark, with it. `None` if the connection was closed before.
    fn take_until(&mut self, mark: &[u8]) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(at) = self.unread.windows(mark.len()).position(|window| window == mark) {
                return Ok(Some(self.unread.drain(..at + mark.len()).collect()));
            }
            match self.read() {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads what is there. False if the server has closed the connection.
    fn read(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 16 * 1024];
        let count = loop {
            match self.stream.read(&mut buffer) {
                // A read with a time limit is not restarted after a signal.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.unread.extend_from_slice(&buffer[..count]);
        Ok(count > 0)
    }
}

fn invalid(words: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, words.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// A connection to a server that sends this and closes.
    fn answered(bytes: &[u8]) -> HttpConnection {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        listener.accept().unwrap().0.write_all(bytes).unwrap();
        HttpConnection::new(stream, Duration::from_secs(60)).unwrap()
    }

    #[test]
    fn bodies_end_where_their_framing_says() {
        for (framing, body) in [
            ("Content-Length: 5", "hello and more"),
            ("Transfer-Encoding: chunked", "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\nand more"),
            ("Server: x", "hello"),
        ] {
            let go_on = "HTTP/1.1 100 Continue\r\n\r\n";
            let mut http = answered(format!("{go_on}HTTP/1.1 200 OK\r\n{framing}\r\n\r\n{body}").as_bytes());
            assert_eq!(http.head().unwrap().unwrap().status, 200);
            assert_eq!(http.body().unwrap(), b"hello", "{framing}");
        }
        assert!(answered(b"").head().unwrap().is_none());
    }

    #[test]
    fn what_breaks_a_rule_is_an_error() {
        for head in [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked",
            "HTTP/1.1 200 OK\r\nContent-Length: five",
            "HTTP/1.1 200 OK\r\nno header",
            "nonsense",
        ] {
            let error = answered(format!("{head}\r\n\r\n").as_bytes()).head().unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{head}");
        }
        for (body, kind) in [
            ("zz\r\n", io::ErrorKind::InvalidData),
            ("1\r\nhello\r\n0\r\n\r\n", io::ErrorKind::InvalidData),
            ("5\r\nhel", io::ErrorKind::UnexpectedEof),
        ] {
            let mut http =
                answered(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}").as_bytes());
            http.head().unwrap();
            assert_eq!(http.body().unwrap_err().kind(), kind, "{body}");
        }
    }
}
