//! HTTP server on this machine.

use std::net::SocketAddr;
use std::process::{ChildStdin, ChildStdout};
use std::thread;
use std::time::Duration;

use crate::process::ServerProcess;
use crate::{Failure, Launch};

/// The polling interval for a server that was just started.
const LOOK: Duration = Duration::from_millis(1);

/// A server process that prints its address on standard error, as `http://127.0.0.1:PORT/PATH`.
#[derive(Debug)]
pub struct HttpServer {
    process: ServerProcess,
    /// Kept open, since a server may exit when they are closed.
    _pipes: (ChildStdin, ChildStdout),
    address: SocketAddr,
    path: String,
}

impl HttpServer {
    /// Starts the server and waits until it has printed its address.
    pub fn start(launch: &Launch) -> Result<Self, Failure> {
        let (mut process, stdin, stdout) = ServerProcess::start(launch)?;
        loop {
            if let Some((address, path)) = find_address(&process.last_words()) {
                return Ok(Self { process, _pipes: (stdin, stdout), address, path });
            }
            if process.has_ended() {
                return Err(process.failure("it did not say where it can be reached"));
            }
            thread::sleep(LOOK);
        }
    }

    pub fn name(&self) -> &str {
        self.process.name()
    }

    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// How long ago the process was started.
    pub fn age(&self) -> Duration {
        self.process.age()
    }

    /// The address of its endpoint.
    pub fn path(&self) -> &str {
        &self.path
    }

    pub fn begin_measure(&self) {
        self.process.begin_measure();
    }

    /// A failure of this server, with its exit status and the end of its standard error, if any.
    pub fn failure(&mut self, what: &str) -> Failure {
        self.process.failure(what)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

/// The first address in a server's output, once its line is complete.
fn find_address(words: &str) -> Option<(SocketAddr, String)> {
    let (_, rest) = words.split_once("http://")?;
    let url = rest.split_whitespace().next()?;
    let (address, path) = url.split_once('/')?;
    Some((address.parse().ok()?, format!("/{path}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_found_in_a_servers_output() {
        let found = find_address("warning: x\nServing /a at http://127.0.0.1:80/mcp\nmore").unwrap();
        assert_eq!(found, ("127.0.0.1:80".parse().unwrap(), "/mcp".to_owned()));
        assert_eq!(find_address("Serving at http://127.0."), None);
    }
}
