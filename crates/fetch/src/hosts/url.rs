//! `https:` URLs, parsed strictly.

use mcp_bash_sandbox::{BadHost, BadPort, Host, split_port};
use std::fmt;

const MAX_URL_BYTES: usize = 8192;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HttpsUrl {
    pub(crate) host: Host,
    pub(crate) port: u16,
    /// The path and the query, as they are sent.
    pub(crate) target: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    #[error("it must begin with `https://`")]
    NotHttps,
    #[error("it is longer than {MAX_URL_BYTES} bytes")]
    TooLong,
    #[error("it has the character {0:?}, which has to be percent-encoded")]
    BadCharacter(char),
    #[error("a `%` in it is not followed by two hexadecimal digits")]
    BadEscape,
    #[error(
        "it has a user or a password before its host, which are not sent; leave out what is before the `@`"
    )]
    UserInfo,
    #[error("its port must be a number from 1 to 65535")]
    BadPort,
    #[error("its host is this machine")]
    LocalHost,
    #[error(transparent)]
    Host(#[from] BadHost),
}

impl From<BadPort> for UrlError {
    fn from(_: BadPort) -> Self {
        Self::BadPort
    }
}

impl UrlError {
    /// Whether it was refused for where it leads, and not just for how it is written.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Host(_) | Self::LocalHost | Self::UserInfo)
    }
}

impl HttpsUrl {
    pub(crate) fn parse(url: &str) -> Result<Self, UrlError> {
        let rest = url.split_at_checked(8).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("https://"));
        let (_, rest) = rest.ok_or(UrlError::NotHttps)?;
        let url = Self::parse_rest(rest, 443)?;
        if url.host.is_local_name() { Err(UrlError::LocalHost) } else { Ok(url) }
    }

    /// Parses what follows the scheme.
    pub(crate) fn parse_rest(rest: &str, usual_port: u16) -> Result<Self, UrlError> {
        if rest.len() + "https://".len() > MAX_URL_BYTES {
            return Err(UrlError::TooLong);
        }
        let (authority, target) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(UrlError::UserInfo);
        }
        let (host, port) = split_port(authority)?;
        let host = Host::parse(host)?;
        let target = target.split('#').next().unwrap_or_default();
        check(target)?;
        let slash = if target.starts_with('/') { "" } else { "/" };
        Ok(Self { host, port: port.unwrap_or(usual_port), target: format!("{slash}{target}") })
    }

    /// The host, and the port if it is not the usual one.
    pub(crate) fn authority(&self) -> String {
        if self.port == 443 { self.host.to_string() } else { format!("{}:{}", self.host, self.port) }
    }
}

fn check(target: &str) -> Result<(), UrlError> {
    let is_usual = |sign: char| sign.is_ascii_alphanumeric() || "-._~:/?[]@!$&'()*+,;=%".contains(sign);
    if let Some(sign) = target.chars().find(|&sign| !is_usual(sign)) {
        return Err(UrlError::BadCharacter(sign));
    }
    let is_escape =
        |after: &str| after.len() >= 2 && after.bytes().take(2).all(|digit| digit.is_ascii_hexdigit());
    if target.split('%').skip(1).all(is_escape) { Ok(()) } else { Err(UrlError::BadEscape) }
}

impl fmt::Display for HttpsUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "https://{}{}", self.authority(), self.target)
    }
}
