//! Refusals: why a host was not reached, and the metadata that would allow it.

use mcp_bash_harmless::{clip, line};
use mcp_bash_sandbox::{BadHost, Host, HostList};
use std::fmt;
use std::net::IpAddr;

/// The longest part of a host that is repeated. Names are shorter, unless they are wrong.
const MAX_HOST_CHARS: usize = 253;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// As it was requested; safe to show.
    pub host: String,
    pub port: u16,
    pub reason: Reason,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    NotListed,
    /// The host is listed, but has an address that is neither public nor listed.
    NotPublic {
        address: IpAddr,
        what: &'static str,
    },
    /// Programs read the host in different ways, or not at all.
    BadHost(BadHost),
}

impl Refusal {
    pub(crate) fn new(host: &str, port: u16, reason: Reason) -> Self {
        Self { host: line(&clip(host, MAX_HOST_CHARS)).into_owned(), port, reason }
    }

    /// The entries of a list that would allow it, if such a list can be written.
    fn remedy(&self) -> Option<String> {
        let own = format!("{}:{}", self.host, self.port);
        let entries = match &self.reason {
            Reason::NotListed => vec![own],
            Reason::NotPublic { address, .. } => {
                let address = format!("{}:{}", Host::Address(address.to_canonical()), self.port);
                vec![own, address]
            }
            Reason::BadHost(_) => return None,
        };
        HostList::parse(&entries).ok()?;
        Some(format!("\"network\": [\"{}\"]", entries.join("\", \"")))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} may not be reached: ", self.host, self.port)?;
        match &self.reason {
            Reason::NotListed => write!(f, "the tool's sandbox does not list it")?,
            Reason::NotPublic { address, what } => {
                write!(
                    f,
                    "it is at {address}, which is {what}, and the tool's sandbox does not list that address"
                )?;
            }
            Reason::BadHost(error) => write!(f, "{error}")?,
        }
        match self.remedy() {
            Some(remedy) => write!(f, "; to allow it, add {remedy} to `sandbox` in the tool's metadata"),
            None => Ok(()),
        }
    }
}
