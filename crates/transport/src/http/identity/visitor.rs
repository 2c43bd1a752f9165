//! Visitor: the peer of a connection, and its state while the connection is open.

use super::caller_name::{caller_name, groups};
use crate::http::limits::identity_options::CertificateName;
use crate::http::limits::slow_client_timeout::Serving;
use crate::http::listen::Peer;
use crate::http::secrets::certificate::Subject;
use mcp_bash_server::{Caller, Identity, KnownBy};
use parking_lot::Mutex;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

/// The client certificate of a connection.
#[derive(Debug)]
pub(super) enum ClientCertificate {
    None,
    /// It has no usable name.
    Nameless,
    Named {
        name: String,
        identity: Arc<Identity>,
    },
}

pub(crate) struct Visitor {
    /// The name of the peer, under which its requests are counted. Created once, because every request is counted.
    pub(crate) name: Arc<str>,
    /// The identity of the caller if no other method identifies it.
    pub(super) identity: Arc<Identity>,
    /// The user of the peer process at a Unix socket.
    pub(super) uid: Option<u32>,
    pub(super) certificate: ClientCertificate,
    pub(in crate::http) is_tls: bool,
    /// Whether a request is being served, and whether the peer has closed its writing side.
    pub(in crate::http) serving: Serving,
    /// The caller of the last request. Keeping it alive saves creating it again for the next request.
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

    /// Sets the verified client certificate. Its name of that kind becomes the name of the caller.
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

    pub(super) fn certificate_name(&self) -> Option<&str> {
        match &self.certificate {
            ClientCertificate::Named { name, .. } => Some(name),
            ClientCertificate::None | ClientCertificate::Nameless => None,
        }
    }

    /// Keeps the caller of a request alive.
    pub(in crate::http) fn keep(&self, caller: &Arc<Caller>) {
        let mut kept = self.caller.lock();
        if !kept.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, caller)) {
            *kept = Some(Arc::clone(caller));
        }
    }
}

/// IPv6 peers are named by their /64 network, because each usually has all of its addresses.
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
