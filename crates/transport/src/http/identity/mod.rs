//! Who the caller is. This is the one place that says so: what a caller may do, has running or has parked hangs on the
//! name that is found here.

mod anonymous;
mod bearer;
mod token_edit;
mod token_file;
mod tokens;

pub(crate) use anonymous::Anonymous;
pub use token_edit::{TokenEditError, add_token, read_tokens, remove_token};
pub use token_file::{NewTokenError, TokenFileError, TokenLine, TokenText};
pub(crate) use tokens::Tokens;
pub use tokens::TokensError;

use super::listen::Peer;
use super::rate::Rate;
use http::{HeaderMap, HeaderValue};
use mcp_bash_server::Rights;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

pub(crate) trait Identify: Send + Sync {
    /// Who makes the request with these headers, over a connection from that peer.
    fn identify(&self, headers: &HeaderMap, peer: &Peer) -> Result<Identity, Unidentified>;
}

/// A caller that is known.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) name: Arc<str>,
    pub(crate) rights: Rights,
    /// Its own request rate, where it has one.
    pub(crate) rate: Option<Rate>,
}

/// A request that does not say who makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unidentified {
    /// The value of `WWW-Authenticate`.
    pub(crate) challenge: HeaderValue,
    /// Whether that peer has guessed too often lately: its answer should wait, and nobody needs to be told again.
    pub(crate) throttled: bool,
}

/// The name of a peer as one that is counted with. Whoever has an IPv6 address has at least 2^64 of them.
fn peer_name(peer: &Peer) -> String {
    match peer {
        Peer::Unix { uid } => format!("user {uid}"),
        Peer::Tcp(address) => match address.ip().to_canonical() {
            IpAddr::V6(ip) if !ip.is_loopback() => {
                let network = Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX));
                format!("address {network}/64")
            }
            ip => format!("address {ip}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_counted_by_what_they_cannot_change() {
        let name = |text: &str| peer_name(&Peer::Tcp(text.parse().unwrap()));
        assert_eq!(name("127.0.0.1:1"), "address 127.0.0.1");
        assert_eq!(name("127.0.0.1:2"), "address 127.0.0.1");
        assert_eq!(name("[::ffff:10.0.0.1]:2"), "address 10.0.0.1");
        assert_eq!(name("[::1]:2"), "address ::1");
        assert_eq!(name("[2001:db8:0:1:a:b:c:d]:2"), "address 2001:db8:0:1::/64");
        assert_eq!(peer_name(&Peer::Unix { uid: 1000 }), "user 1000");
    }
}
