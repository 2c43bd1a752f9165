//! Host rules: the hosts an operator allows and denies.

use super::url::{HttpsUrl, UrlError};
use crate::error::FetchError;
use mcp_bash_sandbox::{Host, split_port};
use std::net::Ipv6Addr;

/// Hosts by name, each with the port at which it may be reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostList {
    entries: Vec<(Host, Option<u16>)>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostListError {
    #[error("`{entry}` in the list of hosts cannot be used: {error}")]
    BadHost { entry: String, error: UrlError },
    #[error("`{entry}` in the list of hosts has a wildcard; write each host out")]
    Wildcard { entry: String },
}

impl HostList {
    /// Hosts separated by commas or spaces: `example.com, api.example.com:8443`.
    ///
    /// An entry that cannot be parsed is an error. Ignoring it would reach what was meant to be denied.
    pub fn parse(list: &str) -> Result<Self, HostListError> {
        let entries = list.split([',', ' ', '\t', '\n']).filter(|entry| !entry.is_empty());
        Ok(Self { entries: entries.map(read_entry).collect::<Result<_, _>>()? })
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries of both lists.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.entries.extend_from_slice(&other.entries);
        self
    }

    fn allows(&self, url: &HttpsUrl) -> bool {
        self.entries.iter().any(|(host, port)| *host == url.host && port.unwrap_or(443) == url.port)
    }

    fn denies(&self, url: &HttpsUrl) -> bool {
        self.entries.iter().any(|(host, port)| *host == url.host && port.is_none_or(|port| port == url.port))
    }
}

fn read_entry(entry: &str) -> Result<(Host, Option<u16>), HostListError> {
    if entry.contains('*') {
        return Err(HostListError::Wildcard { entry: entry.to_owned() });
    }
    // A list has no port to confuse an IPv6 address with, so it needs no brackets.
    if let Ok(address) = entry.parse::<Ipv6Addr>() {
        return Ok((Host::Address(address.into()), None));
    }
    let read = || {
        let (host, port) = split_port(entry)?;
        Ok((Host::parse(host)?, port))
    };
    // `localhost` can be listed, though it is never reached.
    read().map_err(|error| HostListError::BadHost { entry: entry.to_owned(), error })
}

/// Which hosts may be reached. An empty list allows none, unless all are allowed explicitly; a non-empty list is the
/// whole list even then. Allowed hosts are reached at public addresses only.
#[derive(Debug, Clone, Default)]
pub struct HostRules {
    pub allow: HostList,
    pub deny: HostList,
    pub allow_all: bool,
}

/// The names of the settings that an operator would change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) allow: &'static str,
    pub(crate) deny: &'static str,
}

impl HostRules {
    pub(crate) fn check(&self, url: &HttpsUrl, settings: Settings) -> Result<(), FetchError> {
        let host = url.authority();
        if self.deny.denies(url) {
            return Err(FetchError::Denied { host, setting: settings.deny });
        }
        if self.allow.is_empty() {
            // Unusual ports have to be named explicitly.
            return match (self.allow_all, url.port) {
                (true, 443) => Ok(()),
                (true, _) => Err(FetchError::NotAllowed { host, setting: settings.allow }),
                (false, _) => Err(FetchError::NoAllowedHosts { setting: settings.allow }),
            };
        }
        if self.allow.allows(url) {
            Ok(())
        } else {
            Err(FetchError::NotAllowed { host, setting: settings.allow })
        }
    }
}
