//! Host lists: the hosts and ports that a confined process may reach.
//!
//! An entry names a host and one port. It may name all subdomains of a domain (`*.example.org:443`, without
//! `example.org` itself). There is no entry for all hosts or all ports, so that a list always restricts something.

use crate::host::{BadHost, Host, split_port};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The longest part of an entry that an error message repeats.
const MAX_QUOTED_CHARS: usize = 100;

/// Sorted and without repetitions, so that lists with the same entries are equal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct HostList {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Entry {
    hosts: Hosts,
    port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Hosts {
    /// The loopback interface of this machine, listed as `localhost`, `127.0.0.1` or `[::1]`. A program that connects to
    /// one of the three often tries another one first, so that they mean the same.
    ThisMachine,
    Name(String),
    /// All names that end with a dot and this domain.
    Subdomains(String),
    Address(IpAddr),
}

/// An entry that cannot be used, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{entry}` in `network` cannot be used: {error}")]
pub struct HostError {
    pub entry: String,
    pub error: EntryError,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    #[error("it is empty; write a host and its port, such as `api.example.org:443`")]
    Empty,
    #[error("it stands for every host; name the hosts, or write `\"network\": \"all\"`")]
    Everything,
    #[error("it is a URL; write its host and port only, such as `api.example.org:443`")]
    Url,
    #[error("it has a `/`; write its host and port only, such as `api.example.org:443`")]
    Slash,
    #[error("it has a user before its host; leave out what is before the `@`")]
    User,
    #[error("it has no port; write `{0}:443` if it is reached over HTTPS")]
    NoPort(String),
    #[error("it has no single port; name each port in an entry of its own, such as `{0}:443`")]
    AnyPort(String),
    #[error("its port must be a number from 1 to 65535")]
    BadPort,
    #[error("a `*` can only take the place of the first part of a name, as in `*.example.org:443`")]
    Wildcard,
    #[error("an IPv6 address has to be in brackets, as in `[::1]:8080`")]
    NoBrackets,
    #[error("it is an IPv4 address in the form of IPv6; write `{0}`")]
    Mapped(Ipv4Addr),
    #[error("it is this machine; write `localhost:{0}`")]
    ThisMachine(u16),
    #[error(transparent)]
    Host(#[from] BadHost),
}

impl HostList {
    /// The list of a declaration. One bad entry makes the list an error: leaving it out would hide a mistake.
    pub fn parse(entries: &[impl AsRef<str>]) -> Result<Self, HostError> {
        let mut list = Vec::with_capacity(entries.len());
        for entry in entries.iter().map(AsRef::as_ref) {
            let quoted = || entry.chars().take(MAX_QUOTED_CHARS).collect();
            list.push(Entry::parse(entry).map_err(|error| HostError { entry: quoted(), error })?);
        }
        list.sort_unstable();
        list.dedup();
        Ok(Self { entries: list })
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether a host, as a URL names it, is listed with this port. A host that programs read in different ways is not.
    pub fn allows(&self, host: &str, port: u16) -> bool {
        Host::parse(host).is_ok_and(|host| self.allows_host(&host, port))
    }

    pub fn allows_host(&self, host: &Host, port: u16) -> bool {
        self.with_port(port).any(|hosts| hosts.contain(host))
    }

    /// The entry that lists a host, in the spelling that it is compared in.
    pub fn entry_of(&self, host: &Host, port: u16) -> Option<String> {
        let entry = self.entries.iter().find(|entry| entry.port == port && entry.hosts.contain(host))?;
        Some(entry.to_string())
    }

    /// Whether this very address is listed with this port. Such an address is reached even if it is not public.
    pub fn names_address(&self, address: IpAddr, port: u16) -> bool {
        self.allows_host(&Host::Address(address), port)
    }

    /// The ports of this machine's loopback interface that are listed.
    pub fn local_ports(&self) -> impl Iterator<Item = u16> {
        let local = self.entries.iter().filter(|entry| entry.hosts == Hosts::ThisMachine);
        local.map(|entry| entry.port)
    }

    /// The entries, in the spelling that they are compared in.
    pub fn entries(&self) -> impl Iterator<Item = String> {
        self.entries.iter().map(Entry::to_string)
    }

    fn with_port(&self, port: u16) -> impl Iterator<Item = &Hosts> {
        self.entries.iter().filter(move |entry| entry.port == port).map(|entry| &entry.hosts)
    }
}

impl Entry {
    fn parse(text: &str) -> Result<Self, EntryError> {
        if text.trim().is_empty() {
            return Err(EntryError::Empty);
        }
        if text == "*" || text.starts_with("*:") {
            return Err(EntryError::Everything);
        }
        if text.contains("://") {
            return Err(EntryError::Url);
        }
        if text.contains('/') {
            return Err(EntryError::Slash);
        }
        if text.contains('@') {
            return Err(EntryError::User);
        }
        if !text.starts_with('[') && text.matches(':').count() > 1 {
            return Err(EntryError::NoBrackets);
        }
        if let Some(host) = text.strip_suffix(":*") {
            return Err(EntryError::AnyPort(host.to_owned()));
        }
        let (host, port) = split_port(text).map_err(|_| EntryError::BadPort)?;
        let hosts = |port| Hosts::parse(host, port);
        match port {
            Some(port) => Ok(Self { hosts: hosts(port)?, port }),
            // A host that is wrong as well is the mistake to report.
            None => Err(hosts(443).err().unwrap_or_else(|| EntryError::NoPort(host.to_owned()))),
        }
    }
}

impl Hosts {
    fn parse(text: &str, port: u16) -> Result<Self, EntryError> {
        let domain = text.strip_prefix("*.");
        if domain.unwrap_or(text).contains('*') {
            return Err(EntryError::Wildcard);
        }
        let host = Host::parse(domain.unwrap_or(text))?;
        if let Some(mapped) = mapped(&host) {
            return Err(EntryError::Mapped(mapped));
        }
        let is_local_name = host.is_local_name();
        match host {
            Host::Name(name) if name == "localhost" && domain.is_none() => Ok(Self::ThisMachine),
            Host::Name(_) if is_local_name => Err(EntryError::ThisMachine(port)),
            Host::Name(name) if domain.is_some() => Ok(Self::Subdomains(name)),
            Host::Name(name) => Ok(Self::Name(name)),
            Host::Address(_) if domain.is_some() => Err(EntryError::Wildcard),
            Host::Address(address) if is_loopback(address) => Ok(Self::ThisMachine),
            // The system takes the unspecified address for its own.
            Host::Address(address) if address.is_unspecified() => Err(EntryError::ThisMachine(port)),
            Host::Address(address) => Ok(Self::Address(address)),
        }
    }

    fn contain(&self, host: &Host) -> bool {
        match (self, host) {
            (Self::ThisMachine, Host::Name(name)) => name == "localhost",
            (Self::ThisMachine, Host::Address(address)) => is_loopback(address.to_canonical()),
            (Self::Name(listed), Host::Name(name)) => listed == name,
            (Self::Subdomains(domain), Host::Name(name)) => {
                name.strip_suffix(domain.as_str()).is_some_and(|start| start.ends_with('.'))
            }
            (Self::Address(listed), Host::Address(address)) => *listed == address.to_canonical(),
            _ => false,
        }
    }
}

/// The IPv4 address that an IPv6 address stands for.
fn mapped(host: &Host) -> Option<Ipv4Addr> {
    match host {
        Host::Address(IpAddr::V6(address)) => address.to_ipv4_mapped(),
        _ => None,
    }
}

fn is_loopback(address: IpAddr) -> bool {
    address == Ipv4Addr::LOCALHOST || address == Ipv6Addr::LOCALHOST
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hosts {
            Hosts::ThisMachine => f.write_str("localhost")?,
            Hosts::Name(name) => f.write_str(name)?,
            Hosts::Subdomains(domain) => write!(f, "*.{domain}")?,
            Hosts::Address(address) => Host::Address(*address).fmt(f)?,
        }
        write!(f, ":{}", self.port)
    }
}
