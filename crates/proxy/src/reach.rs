//! Reaching a target: whether it is listed, where it is, and the connection to it.

use crate::refusal::{Reason, Refusal};
use crate::request::Target;
use mcp_bash_fetch::{AddressError, Network, connect_to, vetted};
use mcp_bash_sandbox::HostList;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// For the name and the connection together.
pub(crate) const CONNECT_TIME: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) enum Failure {
    Refused(Refusal),
    Unresolved { target: Target, error: io::Error },
    Unreachable { target: Target, error: io::Error },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Unresolved { target, error } => write!(f, "{target} has no address: {error}"),
            Self::Unreachable { target, error } => write!(f, "{target} cannot be reached: {error}"),
        }
    }
}

/// Connects to a target that the list allows.
pub(crate) async fn reach(
    network: &dyn Network,
    hosts: &HostList,
    target: &Target,
) -> Result<TcpStream, Failure> {
    if !hosts.allows_host(&target.host, target.port) {
        return Err(Failure::Refused(target.refused(Reason::NotListed)));
    }
    let unreachable = |error| Failure::Unreachable { target: target.clone(), error };
    let connected = timeout(CONNECT_TIME, async {
        let addresses = addresses(network, hosts, target).await?;
        connect_to(network, &addresses).await.map_err(unreachable)
    });
    connected.await.unwrap_or_else(|elapsed| Err(unreachable(elapsed.into())))
}

async fn addresses(
    network: &dyn Network,
    hosts: &HostList,
    target: &Target,
) -> Result<Vec<SocketAddr>, Failure> {
    // No DNS server decides what `localhost` is.
    if target.host.is_local_name() {
        return Ok(this_machine(target.port).to_vec());
    }
    let is_listed = |address| hosts.names_address(address, target.port);
    vetted(network, &target.host, target.port, is_listed).await.map_err(|error| match error {
        AddressError::Unresolved(error) => Failure::Unresolved { target: target.clone(), error },
        AddressError::NotPublic { address, what } => {
            Failure::Refused(target.refused(Reason::NotPublic { address, what }))
        }
    })
}

/// The loopback addresses of this machine, in the order in which they are tried.
pub(crate) fn this_machine(port: u16) -> [SocketAddr; 2] {
    [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()].map(|address| SocketAddr::new(address, port))
}
