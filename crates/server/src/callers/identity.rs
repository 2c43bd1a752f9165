//! Identity: who makes a request, and how that was established. Two credentials of one person may differ in groups, scopes and
//! rights, so these belong to the request; memory, sessions and the like belong to the [`Caller`].

use super::caller::{Caller, local_name};
use super::rights::Rights;
use mcp_bash_scripts::CalledBy;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::SystemTime;

/// How the name of a caller was established.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownBy {
    /// The user who started this process, over its standard streams.
    Local,
    /// Only the address of its connection.
    Address,
    /// The kernel, for the peer of a Unix socket.
    UnixUser,
    /// A token in the operator's file.
    Token,
    /// A signed token of an issuer.
    Jwt,
    /// A token that the issuer was asked about.
    Introspection,
    /// A proxy that the operator trusts.
    Proxy,
    /// A client certificate.
    Certificate,
}

impl KnownBy {
    /// The name in logs and policies.
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
    /// The rights of its credential; `None` for all rights.
    pub rights: Option<Arc<Rights>>,
    /// When its credential expires, if it does.
    pub expires: Option<SystemTime>,
}

impl Identity {
    /// An identity without groups, scopes and claims, which has all rights.
    pub fn new(name: impl Into<Arc<str>>, known_by: KnownBy) -> Self {
        let (name, claims) = (name.into(), Map::new());
        Self { name, known_by, groups: Vec::new(), scopes: Vec::new(), claims, rights: None, expires: None }
    }

    /// The user who started this process.
    pub(crate) fn local() -> Self {
        Self::new(local_name(), KnownBy::Local)
    }

    /// The identity for scripts.
    pub(crate) fn for_scripts(&self) -> CalledBy<'_> {
        CalledBy { name: &self.name, groups: &self.groups, claims: Some(&self.claims) }
    }
}

/// A caller, and its identity for one request.
#[derive(Clone)]
pub struct Principal {
    pub caller: Arc<Caller>,
    pub identity: Arc<Identity>,
    /// Its rights; `None` for all rights.
    pub rights: Option<Arc<Rights>>,
    /// The address of the peer, if it has one.
    pub address: Option<Arc<str>>,
}

impl Principal {
    /// The address of the peer without a prefix, or `user 1000` for one at a Unix socket.
    pub(crate) fn bare_address(&self) -> Option<&str> {
        self.address.as_deref().map(bare_address)
    }

    pub(crate) fn is_local(&self) -> bool {
        self.identity.known_by == KnownBy::Local
    }
}

/// The address of a peer without its prefix.
pub(crate) fn bare_address(peer: &str) -> &str {
    peer.strip_prefix("address ").unwrap_or(peer)
}

#[cfg(test)]
pub(crate) fn test_principal(caller: &Arc<Caller>) -> Arc<Principal> {
    let identity = Arc::new(Identity::new(caller.name(), KnownBy::Token));
    Arc::new(Principal { caller: Arc::clone(caller), identity, rights: None, address: None })
}
