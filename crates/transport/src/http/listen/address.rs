//! Listen addresses: parses what the operator writes.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

/// The default port.
const DEFAULT_PORT: u16 = 8765;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    Tcp(SocketAddr),
    Unix(PathBuf),
    /// Sockets inherited from the service manager.
    Inherited,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("`{0}` is no port; ports are numbers up to 65535")]
    Port(String),
    #[error(
        "`{0}` is no address of this machine; write `PORT`, `127.0.0.1:PORT`, `[::1]:PORT`, `0.0.0.0:PORT`, \
         `unix:/PATH` or `systemd`"
    )]
    Unknown(String),
    #[error("`{0}` names no port; write `{0}:PORT`")]
    NoPort(String),
    #[error(
        "`unix:` needs an absolute path without control characters, such as `unix:/run/user/1000/mcp.sock`"
    )]
    Path,
}

impl Address {
    /// Parses `8080`, `:8080`, `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, `unix:/path` or `systemd`. A port alone means
    /// the loopback address.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        if let Some(path) = text.strip_prefix("unix:") {
            // Paths are printed in messages and logs, where control characters could forge lines.
            let is_usable =
                path.starts_with('/') && !path.ends_with('/') && !path.chars().any(char::is_control);
            return if is_usable { Ok(Self::Unix(path.into())) } else { Err(AddressError::Path) };
        }
        if text == "systemd" {
            return Ok(Self::Inherited);
        }
        if let Some(host) = without_port(text) {
            return Err(AddressError::NoPort(host));
        }
        if let Some(port) = text.strip_prefix(':').or_else(|| is_number(text).then_some(text)) {
            return Ok(Self::loopback(self::port(port)?));
        }
        if let Ok(address) = SocketAddr::from_str(text) {
            return Ok(Self::Tcp(address));
        }
        match text.rsplit_once(':') {
            Some((host, port)) if host.eq_ignore_ascii_case("localhost") => {
                Ok(Self::loopback(self::port(port)?))
            }
            Some((host, port)) if IpAddr::from_str(host.trim_matches(['[', ']'])).is_ok() => {
                Err(AddressError::Port(port.to_owned()))
            }
            _ => Err(AddressError::Unknown(text.to_owned())),
        }
    }

    fn loopback(port: u16) -> Self {
        Self::Tcp((Ipv4Addr::LOCALHOST, port).into())
    }

    /// Whether only this machine can reach it. Inherited sockets are not known before they are opened.
    pub fn is_loopback(&self) -> bool {
        match self {
            Self::Tcp(address) => is_loopback_ip(address.ip()),
            Self::Unix(_) => true,
            Self::Inherited => false,
        }
    }
}

impl Default for Address {
    fn default() -> Self {
        Self::loopback(DEFAULT_PORT)
    }
}

/// Whether an address is a loopback address, including IPv4 addresses mapped to IPv6.
pub(crate) fn is_loopback_ip(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

/// The host in the form for `HOST:PORT`, if the text has no port.
fn without_port(text: &str) -> Option<String> {
    match IpAddr::from_str(text.trim_matches(['[', ']'])) {
        Ok(IpAddr::V6(ip)) => Some(format!("[{ip}]")),
        Ok(IpAddr::V4(ip)) => Some(ip.to_string()),
        Err(_) => text.eq_ignore_ascii_case("localhost").then(|| text.to_owned()),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn port(text: &str) -> Result<u16, AddressError> {
    // `parse` alone would accept `+80`.
    let number = is_number(text).then(|| text.parse().ok()).flatten();
    number.ok_or_else(|| AddressError::Port(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        for (text, address) in [
            ("8080", "127.0.0.1:8080"),
            (":8080", "127.0.0.1:8080"),
            ("localhost:8080", "127.0.0.1:8080"),
            ("LocalHost:1", "127.0.0.1:1"),
            ("127.0.0.1:0", "127.0.0.1:0"),
            ("[::1]:8080", "[::1]:8080"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::]:80", "[::]:80"),
        ] {
            assert_eq!(Address::parse(text), Ok(Address::Tcp(address.parse().unwrap())), "{text}");
        }
        assert_eq!(Address::parse("unix:/run/a b.sock"), Ok(Address::Unix("/run/a b.sock".into())));
        assert_eq!(Address::parse("systemd"), Ok(Address::Inherited));
        assert_eq!(Address::default(), Address::parse("8765").unwrap());
    }

    #[test]
    fn an_invalid_address_is_refused_with_the_next_step() {
        let said = |text| Address::parse(text).unwrap_err().to_string();
        for port in [
            "65536",
            ":+80",
            ":",
            "localhost:",
            "127.0.0.1:http",
            "127.0.0.1:80/mcp",
            "99999999999999999999",
            "[::1]:",
        ] {
            assert!(said(port).contains("is no port"), "{port}: {}", said(port));
        }
        for bare in ["localhost", "127.0.0.1", "::1", "[::1]"] {
            assert!(said(bare).contains("names no port"), "{bare}: {}", said(bare));
            let (_, next) =
                said(bare).split_once("write `").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
            assert!(Address::parse(&next.replace("PORT`", "80")).is_ok(), "{next}");
        }
        for unknown in ["", "example.com:80", "http://127.0.0.1:80", "1.2.3:4", "a@127.0.0.1:1"] {
            assert!(said(unknown).contains("is no address of this machine"), "{unknown}: {}", said(unknown));
        }
        for path in
            ["unix:", "unix:mcp.sock", "unix:@abstract", "unix:/run/", "unix:/run/a\nb", "unix:/run/\u{9b}"]
        {
            assert_eq!(Address::parse(path), Err(AddressError::Path), "{path:?}");
        }
    }

    #[test]
    fn loopback_is_recognized() {
        for (text, loopback) in [
            ("127.0.0.1:1", true),
            ("127.255.0.9:1", true),
            ("[::1]:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("unix:/a", true),
            ("0.0.0.0:1", false),
            ("[::]:1", false),
            ("192.168.1.1:1", false),
            ("systemd", false),
        ] {
            assert_eq!(Address::parse(text).unwrap().is_loopback(), loopback, "{text}");
        }
    }
}
