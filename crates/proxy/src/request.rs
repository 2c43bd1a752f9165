//! Requests of clients, whatever the protocol.

use crate::refusal::{Reason, Refusal};
use mcp_bash_sandbox::Host;
use std::fmt;
use std::io;

/// A host and a port to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) host: Host,
    pub(crate) port: u16,
}

impl Target {
    /// The host is text of a client. A number that some program would take for an address is refused.
    pub(crate) fn new(host: &str, port: u16) -> Result<Self, Refusal> {
        match Host::parse(host) {
            // An IPv4 address in the form of IPv6 is judged as what it is.
            Ok(Host::Address(address)) => Ok(Self { host: Host::Address(address.to_canonical()), port }),
            Ok(host) => Ok(Self { host, port }),
            Err(error) => Err(Refusal::new(host, port, Reason::BadHost(error))),
        }
    }

    pub(crate) fn refused(&self, reason: Reason) -> Refusal {
        Refusal::new(&self.host.to_string(), self.port, reason)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Socks,
    /// HTTP `CONNECT`.
    Tunnel,
    /// A plain HTTP request with an absolute URL.
    Forward,
}

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) protocol: Protocol,
    pub(crate) target: Target,
    /// The bytes that the server receives before any others.
    pub(crate) first_bytes: Vec<u8>,
}

/// Why there is no request.
#[derive(Debug)]
pub(crate) enum NoRequest {
    /// The client is gone.
    Lost,
    /// It is not understood. These bytes tell the client.
    NotUnderstood(Vec<u8>),
    Refused(Protocol, Refusal),
}

impl From<io::Error> for NoRequest {
    fn from(_: io::Error) -> Self {
        Self::Lost
    }
}
