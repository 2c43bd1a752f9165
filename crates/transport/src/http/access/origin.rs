//! `Origin` header: the web page that makes a request.

use super::authority::Authority;
use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    scheme: String,
    /// The port is set only if it is not the default of the scheme.
    pub(super) authority: Authority,
}

/// The text is not an origin. This includes `null`, which pages without an origin send.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoOrigin;

impl FromStr for Origin {
    type Err = NoOrigin;

    fn from_str(text: &str) -> Result<Self, NoOrigin> {
        let (scheme, authority) = text.split_once("://").ok_or(NoOrigin)?;
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        if !scheme.starts_with(|first: char| first.is_ascii_alphabetic()) || !scheme.bytes().all(is_letter) {
            return Err(NoOrigin);
        }
        let scheme = scheme.to_ascii_lowercase();
        let mut authority: Authority = authority.parse().map_err(|_| NoOrigin)?;
        authority.port = authority.port.filter(|port| Some(*port) != default_port(&scheme));
        Ok(Self { scheme, authority })
    }
}

impl Origin {
    /// Whether the page was loaded over HTTP or HTTPS.
    pub(super) fn is_web(&self) -> bool {
        default_port(&self.scheme).is_some()
    }

    /// Whether the page was loaded from this server, under the name `host`. If the server is `encrypted`, the page has to be
    /// too: anyone on the network can forge an unencrypted page.
    pub(super) fn is_page_of(&self, host: &Authority, encrypted: bool) -> bool {
        let port = host.port.filter(|port| Some(*port) != default_port(&self.scheme));
        self.is_web()
            && (self.scheme == "https" || !encrypted)
            && self.authority.host == host.host
            && self.authority.port == port
    }
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}://{}", self.scheme, self.authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_read_in_one_spelling() {
        for (text, shown) in [
            ("HTTPS://App.Example.com:443", "https://app.example.com"),
            ("http://localhost:80", "http://localhost"),
            ("http://localhost:443", "http://localhost:443"),
            ("http://[::1]:6274", "http://[::1]:6274"),
            ("vscode-webview://A1b", "vscode-webview://a1b"),
        ] {
            assert_eq!(text.parse::<Origin>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn an_invalid_origin_is_refused() {
        for text in [
            "",
            "null",
            "NULL",
            "*",
            "localhost",
            "http:/localhost",
            "http://",
            "://localhost",
            "http://localhost/",
            "http://localhost/path",
            "http://user@localhost",
            "http://localhost http://localhost",
            "http://localhost, http://evil.example",
            "http://localhost:99999",
            "file://",
            "data:text/html,x",
            "1http://a",
        ] {
            assert_eq!(text.parse::<Origin>(), Err(NoOrigin), "{text:?}");
        }
    }

    #[test]
    fn a_page_of_the_server_itself_has_its_host_and_port() {
        let is_own = |origin: &str, host: &str, encrypted| {
            origin.parse::<Origin>().unwrap().is_page_of(&host.parse().unwrap(), encrypted)
        };
        assert!(is_own("https://a.example", "a.example", true));
        assert!(is_own("https://a.example", "a.example:443", true));
        assert!(is_own("http://a.example:8080", "a.example:8080", false));
        assert!(!is_own("http://a.example:8080", "a.example", false));
        assert!(!is_own("http://a.example", "a.example", true), "an unencrypted page may be forged");
        assert!(!is_own("https://b.example", "a.example", true));
        assert!(!is_own("ftp://a.example", "a.example", false));
    }
}
