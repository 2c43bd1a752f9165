//! Visitor: the peer of a connection, and what is kept for it while the connection is open.

use super::caller_name::{caller_name, groups};
use crate::http::limits::identity_options::CertificateName;
use crate::http::limits::slow_client_timeout::Serving;
use crate::http::listen::Peer;
use crate::http::secrets::certificate::Subject;
use mcp_bash_server::{Caller, Identity, KnownBy};
use parking_lot::Mutex;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

/// The certificate that a client has shown.
#[derive(Debug)]
pub(super) enum ClientCertificate {
    None,
    /// It does not say who its owner is.
    Nameless,
    Named {
        name: String,
        identity: Arc<Identity>,
    },
}

pub(crate) struct Visitor {
    /// Where it comes from, as one that is counted with. Written once, since every request is counted.
    pub(crate) name: Arc<str>,
    /// Who it is, if nothing else tells.
    pub(super) identity: Arc<Identity>,
    /// The user of a peer at a Unix socket.
    pub(super) uid: Option<u32>,
    pub(super) certificate: ClientCertificate,
    pub(in crate::http) is_tls: bool,
    /// Which of its requests is being served, and whether it says any more.
    pub(in crate::http) serving: Serving,
    /// Who made the last request. A caller that nobody holds is forgotten, and would be made anew for the next request.
    caller: Mutex<Option<Arc<Caller>>>,
}

impl Visitor {
    pub(crate) fn new(peer: &Peer, is_tls: bool) -> Self {
        let name: Arc<str> = peer_name(peer).into();
        let known_by = match peer {
            Peer::Unix { .. } => KnownBy::UnixUser,
            Peer::Tcp(_) => KnownBy::Address,
        };
        let identity = Arc::new(Identity::new(Arc::clone(&name), known_by));
        let uid = match peer {
            Peer::Unix { uid } => Some(*uid),
            Peer::Tcp(_) => None,
        };
        let (certificate, serving) = (ClientCertificate::None, Serving::default());
        Self { name, identity, uid, certificate, is_tls, serving, caller: Mutex::default() }
    }

    /// The visitor has shown a certificate, which was verified, whose name of that kind is its own.
    #[must_use]
    pub(in crate::http) fn with_certificate(mut self, der: &[u8], kind: CertificateName) -> Self {
        let named = Subject::read(der).and_then(|subject| {
            let name = subject.name(kind)?.to_owned();
            let groups = groups(subject.units.iter().map(String::as_str));
            let identity = Identity::new(caller_name("certificate", &name)?, KnownBy::Certificate);
            Some(ClientCertificate::Named { name, identity: Arc::new(Identity { groups, ..identity }) })
        });
        self.certificate = named.unwrap_or(ClientCertificate::Nameless);
        self
    }

    /// The name in its certificate.
    pub(super) fn certificate_name(&self) -> Option<&str> {
        match &self.certificate {
            ClientCertificate::Named { name, .. } => Some(name),
            ClientCertificate::None | ClientCertificate::Nameless => None,
        }
    }

    /// Keeps who made a request.
    pub(in crate::http) fn keep(&self, caller: &Arc<Caller>) {
        let mut kept = self.caller.lock();
        if !kept.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, caller)) {
            *kept = Some(Arc::clone(caller));
        }
    }
}

/// A peer with an IPv6 address has at least 2^64 of them.
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
