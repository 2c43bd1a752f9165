//! Authority: host and port of a `Host` header, a URL or an origin. The parser is strict: it refuses unusual notations.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Authority {
    pub(super) host: Host,
    pub(super) port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Host {
    /// In lower case, without a trailing dot.
    Name(String),
    Address(IpAddr),
}

/// The text is not a valid authority.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoAuthority;

impl FromStr for Authority {
    type Err = NoAuthority;

    fn from_str(text: &str) -> Result<Self, NoAuthority> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, rest) = rest.split_once(']').ok_or(NoAuthority)?;
                // Zone ids (`fe80::1%eth0`) are refused: they are valid on one machine only.
                let address: Ipv6Addr = address.parse().map_err(|_| NoAuthority)?;
                let port =
                    if rest.is_empty() { None } else { Some(rest.strip_prefix(':').ok_or(NoAuthority)?) };
                (Host::Address(address.to_canonical()), port)
            }
            None => match text.split_once(':') {
                Some((host, port)) => (Host::named(host)?, Some(port)),
                None => (Host::named(text)?, None),
            },
        };
        Ok(Self { host, port: port.map(port_number).transpose()? })
    }
}

impl Host {
    fn named(text: &str) -> Result<Self, NoAuthority> {
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let is_name = (1..=253).contains(&name.len()) && name.split('.').all(is_label);
        if !is_name {
            return Err(NoAuthority);
        }
        // Browsers parse a name whose last label is a number as an address (`127.1`, `0x7f000001`), in several notations. Only
        // dotted decimal is accepted.
        let last = name.rsplit('.').next().unwrap_or(&name);
        if last.starts_with(|first: char| first.is_ascii_digit()) {
            let address: Ipv4Addr = name.parse().map_err(|_| NoAuthority)?;
            return Ok(Self::Address(address.into()));
        }
        Ok(Self::Name(name))
    }

    /// Whether it is `localhost` or a loopback address.
    pub(super) fn is_local(&self) -> bool {
        match self {
            Self::Name(name) => name == "localhost",
            Self::Address(address) => address.is_loopback(),
        }
    }

    pub(super) fn is_address(&self) -> bool {
        matches!(self, Self::Address(_))
    }
}

fn is_label(label: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=63).contains(&label.len()) && label.bytes().all(is_letter)
}

fn port_number(text: &str) -> Result<u16, NoAuthority> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten().ok_or(NoAuthority)
}

impl fmt::Display for Authority {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.host)?;
        self.port.map_or(Ok(()), |port| write!(formatter, ":{port}"))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => formatter.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(formatter, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(formatter, "[{address}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_in_one_spelling() {
        for (text, shown) in [
            ("LOCALHOST", "localhost"),
            ("localhost.:80", "localhost:80"),
            ("127.0.0.1:0", "127.0.0.1:0"),
            ("127.0.0.1.", "127.0.0.1"),
            ("[::1]:80", "[::1]:80"),
            ("[::0001]", "[::1]"),
            ("[::ffff:127.0.0.1]", "127.0.0.1"),
            ("Mcp.Example.com:8443", "mcp.example.com:8443"),
            ("a_b.internal", "a_b.internal"),
        ] {
            assert_eq!(text.parse::<Authority>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn an_invalid_host_is_refused() {
        let long = format!("{}.com", "a".repeat(64));
        for text in [
            "",
            ".",
            "..",
            ":80",
            "a..b",
            ".a",
            "localhost..",
            "localhost:",
            "localhost:80:80",
            "localhost:+80",
            "localhost:65536",
            "user@localhost",
            "localhost:80@evil.example",
            "local host",
            " localhost",
            "localhost/",
            "localhost#",
            "localhost?",
            "localhost\\",
            "local%68ost",
            "[::1",
            "[::1]80",
            "::1",
            "[::1%lo]",
            "[fe80::1%25eth0]",
            "[127.0.0.1]",
            "127.1",
            "2130706433",
            "0x7f.0.0.1",
            "0x7f000001",
            "127.0.0.01",
            "127.0.0.1.1",
            "1.2.3.4.5",
            "münchen.example",
            "*",
            "*.example.com",
            long.as_str(),
        ] {
            assert_eq!(text.parse::<Authority>(), Err(NoAuthority), "{text:?}");
        }
    }

    #[test]
    fn only_this_machine_is_local() {
        let is_local = |text: &str| text.parse::<Authority>().unwrap().host.is_local();
        for text in ["localhost", "127.0.0.1:1", "127.8.8.8", "[::1]", "[::ffff:7f00:1]"] {
            assert!(is_local(text), "{text}");
        }
        for text in [
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "evil-localhost",
            "notlocalhost",
            "localhost.localdomain",
            "a.localhost",
            "0.0.0.0",
            "[::]",
            "192.168.0.1",
            "[::2]",
        ] {
            assert!(!is_local(text), "{text}");
        }
    }
}
