//! Connection: how messages get to a server and back.

use crate::error::Error;
use crate::http::HttpConnection;
use crate::process::ServerProcess;
use mcp_bash_server::InMemoryConnection;

pub enum Connection {
    /// A server in the same process.
    InMemory(InMemoryConnection),
    /// A process that speaks the protocol on its standard streams.
    Process(ServerProcess),
    /// A server over Streamable HTTP.
    Http(HttpConnection),
}

impl Connection {
    /// Sends one message, which holds no line break.
    pub fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        match self {
            Self::InMemory(connection) => {
                connection.send(message);
                Ok(())
            }
            Self::Process(process) => process.send(message),
            Self::Http(connection) => {
                connection.send(message);
                Ok(())
            }
        }
    }

    /// The connection over HTTP, if it is one: only there a server may need no session.
    pub(crate) fn as_http(&mut self) -> Option<&mut HttpConnection> {
        match self {
            Self::Http(connection) => Some(connection),
            Self::InMemory(_) | Self::Process(_) => None,
        }
    }

    /// The next message, of any kind. Cancel-safe.
    pub async fn next(&mut self) -> Result<Vec<u8>, Error> {
        match self {
            Self::InMemory(connection) => connection.next().await.ok_or(Error::Ended(None)),
            Self::Process(process) => process.next().await,
            Self::Http(connection) => connection.next().await,
        }
    }

    /// Lets the server shut down, and waits until it has.
    pub async fn end(self) {
        match self {
            Self::InMemory(_) => {}
            Self::Process(process) => process.end().await,
            Self::Http(connection) => connection.end().await,
        }
    }

    /// Shuts the server down without waiting for its current work.
    pub async fn end_now(self) {
        match self {
            Self::InMemory(_) => {}
            Self::Process(process) => process.end_now().await,
            Self::Http(connection) => connection.end().await,
        }
    }
}
