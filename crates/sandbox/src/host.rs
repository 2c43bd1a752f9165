//! Host of a URL, an authority or a host list, in the one spelling that all programs read the same way.
//!
//! Programs differ in how they read `127.1`, `0x7f.1`, `１２７.0.0.1` or `example.com.`. One program might check one host,
//! and another connect to a different one. So a host that could be read in two ways is refused.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// Lowercase.
    Name(String),
    Address(IpAddr),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadHost {
    #[error("it names no host")]
    Empty,
    #[error("its host has characters that are not ASCII; write it in its `xn--` form")]
    NotAscii,
    #[error("its host has the character {0:?}, which no host has")]
    BadCharacter(char),
    #[error("its host has an empty part, one that is too long, or one that begins or ends with `-`")]
    BadLabel,
    #[error("its host ends with a dot; write it without")]
    TrailingDot,
    #[error("its host is a number, but not an address in its usual form, such as `192.0.2.1`")]
    UnusualAddress,
    #[error("its host is in brackets, but not an address of IPv6 in its usual form")]
    BadBrackets,
}

impl Host {
    /// The host as a URL has it, with an IPv6 address in brackets.
    pub fn parse(text: &str) -> Result<Self, BadHost> {
        if let Some(rest) = text.strip_prefix('[') {
            let address: Option<Ipv6Addr> = rest.strip_suffix(']').and_then(|inside| inside.parse().ok());
            return address.map(|address| Self::Address(address.into())).ok_or(BadHost::BadBrackets);
        }
        if text.is_empty() {
            return Err(BadHost::Empty);
        }
        if !text.is_ascii() {
            return Err(BadHost::NotAscii);
        }
        let is_host = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.');
        if let Some(sign) = text.chars().find(|&sign| !is_host(sign)) {
            return Err(BadHost::BadCharacter(sign));
        }
        if text.ends_with('.') {
            return Err(BadHost::TrailingDot);
        }
        let is_label =
            |label: &str| matches!(label.len(), 1..=63) && !label.starts_with('-') && !label.ends_with('-');
        if text.len() > 253 || !text.split('.').all(is_label) {
            return Err(BadHost::BadLabel);
        }
        let name = text.to_ascii_lowercase();
        let last = name.rsplit('.').next().unwrap_or_default();
        if is_number(last) {
            // This accepts four decimal numbers without leading zeros, and nothing else.
            let address: Ipv4Addr = name.parse().map_err(|_| BadHost::UnusualAddress)?;
            return Ok(Self::Address(address.into()));
        }
        Ok(Self::Name(name))
    }

    /// Whether it is a name that stands for this machine everywhere: `localhost`, or a name beneath it.
    pub fn is_local_name(&self) -> bool {
        matches!(self, Self::Name(name) if name.rsplit('.').next() == Some("localhost"))
    }
}

/// The port of an authority is no number from 1 to 65535.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadPort;

/// Splits `host:port` into the text of the host and the port, if there is one.
pub fn split_port(authority: &str) -> Result<(&str, Option<u16>), BadPort> {
    let end_of_host = authority.rfind(']').unwrap_or(0);
    let Some(colon) = authority[end_of_host..].find(':') else { return Ok((authority, None)) };
    let (host, port) = authority.split_at(end_of_host + colon);
    let port = &port[1..];
    // `parse` would accept a sign.
    let is_number = !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit());
    let port = port.parse().ok().filter(|&port| is_number && port != 0);
    Ok((host, Some(port.ok_or(BadPort)?)))
}

/// Whether some program takes a host that ends with this label for an address.
fn is_number(label: &str) -> bool {
    let digits = label.strip_prefix("0x");
    digits.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
        || label.bytes().all(|digit| digit.is_ascii_digit())
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}
