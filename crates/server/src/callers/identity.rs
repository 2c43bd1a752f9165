//! Identity: who makes one request, and how that is known. Two credentials of one person may differ in groups, scopes and
//! rights, so these belong to the request; what is held for a person, such as memory and sessions, belongs to the [`Caller`].

use super::caller::{Caller, local_name};
use super::rights::Rights;
use mcp_bash_scripts::CalledBy;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::SystemTime;

/// How the name of a caller was established.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownBy {
    /// It started this process, and talks to it over its standard streams.
    Local,
    /// By nothing but the address of its connection.
    Address,
    /// By the kernel, for the peer of a Unix socket.
    UnixUser,
    /// By a token of the operator's file.
    Token,
    /// By a signed token of an issuer.
    Jwt,
    /// By an issuer that was asked about a token.
    Introspection,
    /// By a proxy that the operator trusts.
    Proxy,
    /// By a client certificate.
    Certificate,
}

impl KnownBy {
    /// The word for it, in logs and policies.
    pub fn word(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Address => "address",
            Self::UnixUser => "unix_user",
            Self::Token => "token",
            Self::Jwt => "jwt",
            Self::Introspection => "introspection",
            Self::Proxy => "proxy",
            Self::Certificate => "certificate",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Identity {
    pub name: Arc<str>,
    pub known_by: KnownBy,
    pub groups: Vec<Box<str>>,
    pub scopes: Vec<Box<str>>,
    /// The claims that the operator passes on to scripts.
    pub claims: Map<String, Value>,
    /// What its credential allows; none for everything.
    pub rights: Option<Arc<Rights>>,
    /// When its credential expires, if it does.
    pub expires: Option<SystemTime>,
}

impl Identity {
    /// A caller without groups, scopes and claims, who may do everything.
    pub fn new(name: impl Into<Arc<str>>, known_by: KnownBy) -> Self {
        let (name, claims) = (name.into(), Map::new());
        Self { name, known_by, groups: Vec::new(), scopes: Vec::new(), claims, rights: None, expires: None }
    }

    /// The user who started this process.
    pub(crate) fn local() -> Self {
        Self::new(local_name(), KnownBy::Local)
    }

    /// What scripts receive of it.
    pub(crate) fn for_scripts(&self) -> CalledBy<'_> {
        CalledBy { name: &self.name, groups: &self.groups, claims: Some(&self.claims) }
    }
}

/// Who makes a request: the caller, and its identity this time.
#[derive(Clone)]
pub struct Principal {
    pub caller: Arc<Caller>,
    pub identity: Arc<Identity>,
    /// What it may do; none for everything.
    pub rights: Option<Arc<Rights>>,
    /// The peer, if it has an address.
    pub address: Option<Arc<str>>,
}

impl Principal {
    /// The address of the peer alone, or `user 1000` for one at a Unix socket.
    pub(crate) fn bare_address(&self) -> Option<&str> {
        self.address.as_deref().map(bare_address)
    }

    pub(crate) fn is_local(&self) -> bool {
        self.identity.known_by == KnownBy::Local
    }
}

/// A peer without the word before its address.
pub(crate) fn bare_address(peer: &str) -> &str {
    peer.strip_prefix("address ").unwrap_or(peer)
}

#[cfg(test)]
pub(crate) fn test_principal(caller: &Arc<Caller>) -> Arc<Principal> {
    let identity = Arc::new(Identity::new(caller.name(), KnownBy::Token));
    Arc::new(Principal { caller: Arc::clone(caller), identity, rights: None, address: None })
}
