//! How messages get to a server and back.

use crate::error::Error;
use crate::process::ServerProcess;
use mcp_bash_server::InMemoryConnection;

pub enum Connection {
    /// A server in this same process.
    InMemory(InMemoryConnection),
    /// A process that speaks the protocol on its standard streams.
    Process(ServerProcess),
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
        }
    }

    /// The next message, whatever it is. May be dropped while it waits, and loses nothing.
    pub async fn next(&mut self) -> Result<Vec<u8>, Error> {
        match self {
            Self::InMemory(connection) => connection.next().await.ok_or(Error::Ended(None)),
            Self::Process(process) => process.next().await,
        }
    }

    /// Lets the server end, and waits until it has.
    pub async fn end(self) {
        match self {
            Self::InMemory(_) => {}
            Self::Process(process) => process.end().await,
        }
    }

    /// The same for one who cannot wait until it has done what it does.
    pub async fn end_now(self) {
        match self {
            Self::InMemory(_) => {}
            Self::Process(process) => process.end_now().await,
        }
    }
}
