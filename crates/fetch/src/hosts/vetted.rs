//! Vetted addresses: the addresses of a host, after each was checked.

use super::address::not_public;
use super::network::Network;
use super::url::HttpsUrl;
use crate::error::FetchError;
use mcp_bash_sandbox::Host;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// More than enough for a second try.
const MAX_ADDRESSES: usize = 8;

/// The connect timeout of one address, so that a dead address does not use up the time of the others.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// Why no address of a host may be used.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    #[error("it has no address: {0}")]
    Unresolved(io::Error),
    #[error("it is at {address}, which is {what}")]
    NotPublic { address: IpAddr, what: &'static str },
}

/// Resolves the addresses once. They must be used as they are: resolving again may give another answer.
///
/// A single address that is neither public nor an exception rules out the host, because its DNS server can give that
/// answer again.
pub async fn vetted(
    network: &dyn Network,
    host: &Host,
    port: u16,
    is_exception: impl Fn(IpAddr) -> bool,
) -> Result<Vec<SocketAddr>, AddressError> {
    let mut addresses = match host {
        Host::Address(address) => vec![*address],
        Host::Name(name) => network.resolve(name).await.map_err(AddressError::Unresolved)?,
    };
    for &address in &addresses {
        if let Some(what) = not_public(address)
            && !is_exception(address)
        {
            return Err(AddressError::NotPublic { address, what });
        }
    }
    addresses.truncate(MAX_ADDRESSES);
    if addresses.is_empty() {
        let error = io::Error::new(io::ErrorKind::NotFound, "its name is known, but has none");
        return Err(AddressError::Unresolved(error));
    }
    Ok(addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect())
}

/// The addresses of the host of a URL, if all of them are public.
pub(crate) async fn public_addresses(
    network: &dyn Network,
    url: &HttpsUrl,
) -> Result<Vec<SocketAddr>, FetchError> {
    let host = || url.host.to_string();
    vetted(network, &url.host, url.port, |_| false).await.map_err(|error| match error {
        AddressError::Unresolved(error) => FetchError::Unresolved { host: host(), error },
        AddressError::NotPublic { address, what } => FetchError::NotPublic { host: host(), address, what },
    })
}

/// Connects to the first of these addresses that answers.
pub async fn connect_to(network: &dyn Network, addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut failure = io::Error::from(io::ErrorKind::NotConnected);
    for &address in addresses {
        match timeout(CONNECT_TIME, network.connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => failure = error,
            Err(elapsed) => failure = elapsed.into(),
        }
    }
    Err(failure)
}
