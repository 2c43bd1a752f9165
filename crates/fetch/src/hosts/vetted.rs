//! The addresses of a host, after each was looked at.

use super::address::not_public;
use super::host::Host;
use super::network::Network;
use super::url::HttpsUrl;
use crate::error::FetchError;
use std::io;
use std::net::SocketAddr;

/// More than anyone needs for a second try.
const MAX_ADDRESSES: usize = 8;

/// Asks for the addresses once. They are to be used as they are: to ask again is to get another answer.
///
/// One that is not public condemns the host, as whoever gave that answer can give it again.
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
