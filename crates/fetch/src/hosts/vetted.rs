//! Vetted addresses: the addresses of a host, after each was checked.

use super::address::not_public;
use super::host::Host;
use super::network::Network;
use super::url::HttpsUrl;
use crate::error::FetchError;
use std::io;
use std::net::SocketAddr;

/// More than enough for a second try.
const MAX_ADDRESSES: usize = 8;

/// Resolves the addresses once. They must be used as they are: resolving again may give another answer.
///
/// A single address that is not public rules out the host, because its DNS server can give that answer again.
pub(crate) async fn vetted(network: &dyn Network, url: &HttpsUrl) -> Result<Vec<SocketAddr>, FetchError> {
    let host = url.host.to_string();
    let mut addresses = match &url.host {
        Host::Address(address) => vec![*address],
        Host::Name(name) => match network.resolve(name).await {
            Ok(addresses) => addresses,
            Err(error) => return Err(FetchError::Unresolved { host, error }),
        },
    };
    for &address in &addresses {
        if let Some(what) = not_public(address) {
            return Err(FetchError::NotPublic { host, address, what });
        }
    }
    addresses.truncate(MAX_ADDRESSES);
    if addresses.is_empty() {
        let error = io::Error::new(io::ErrorKind::NotFound, "its name is known, but has none");
        return Err(FetchError::Unresolved { host, error });
    }
    Ok(addresses.into_iter().map(|address| SocketAddr::new(address, url.port)).collect())
}
