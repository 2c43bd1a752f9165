//! URL of a server, and the token for it.

use super::error::HttpError;
use hyper::Uri;
use hyper::header::HeaderValue;
use std::fmt;
use std::net::IpAddr;

/// A server over HTTP, and the way in.
#[derive(Debug, Clone)]
pub struct Remote {
    pub(super) url: ServerUrl,
    pub(super) token: Option<Token>,
}

/// A secret that is sent with every request, and the environment variable that it came from.
#[derive(Clone)]
pub(super) struct Token {
    pub(super) variable: String,
    pub(super) header: HeaderValue,
    text: String,
}

#[derive(Debug, Clone)]
pub(super) struct ServerUrl {
    pub(super) is_secure: bool,
    pub(super) host: String,
    pub(super) port: u16,
    /// The host and the port, as the `Host` header has them.
    pub(super) authority: String,
    /// The path and the query.
    pub(super) target: String,
}

impl Remote {
    /// `token` is the name of an environment variable, and its value.
    pub fn new(url: &str, token: Option<(&str, &str)>) -> Result<Self, HttpError> {
        let url = ServerUrl::parse(url)?;
        let token = token.map(|(variable, value)| Token::new(variable, value)).transpose()?;
        if let Some(token) = token.as_ref().filter(|_| !url.is_secure && !url.is_loopback()) {
            return Err(HttpError::Unencrypted { variable: token.variable.clone(), url: url.to_string() });
        }
        Ok(Self { url, token })
    }

    /// Words of the server, which may repeat the token, without it.
    pub(super) fn without_token(&self, words: &str) -> String {
        match &self.token {
            Some(token) => words.replace(&token.text, "…"),
            None => words.to_owned(),
        }
    }

    /// The same, and short.
    pub(super) fn excerpt(&self, words: &str) -> String {
        self.without_token(words)
            .trim()
            .chars()
            .map(|sign| if sign.is_control() { ' ' } else { sign })
            .take(200)
            .collect()
    }
}

impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.url.fmt(f)
    }
}

impl Token {
    fn new(variable: &str, value: &str) -> Result<Self, HttpError> {
        let wrong = |_| HttpError::Token { variable: variable.to_owned() };
        let value = value.trim();
        let mut header = HeaderValue::from_str(&format!("Bearer {value}")).map_err(wrong)?;
        header.set_sensitive(true);
        Ok(Self { variable: variable.to_owned(), header, text: value.to_owned() })
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({})", self.variable)
    }
}

impl ServerUrl {
    fn parse(text: &str) -> Result<Self, HttpError> {
        let wrong = |problem| HttpError::Url { url: without_user(text), problem };
        let uri: Uri = text.trim().parse().map_err(|_| wrong("it must look like https://HOST/mcp"))?;
        let is_secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(wrong("it must begin with https:// or http://")),
        };
        let (Some(authority), Some(host)) = (uri.authority(), uri.host().filter(|host| !host.is_empty()))
        else {
            return Err(wrong("it names no host"));
        };
        if authority.as_str().contains('@') {
            return Err(wrong("it has a user or a password, which are not sent; use --token-env"));
        }
        let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        Ok(Self {
            is_secure,
            host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
            port,
            authority: authority.to_string(),
            target: uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
        })
    }

    fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

/// The URL without what is before an `@`, which may be a secret.
fn without_user(url: &str) -> String {
    match (url.find("://"), url.rfind('@')) {
        (Some(scheme), Some(at)) if scheme < at => format!("{}…{}", &url[..scheme + 3], &url[at..]),
        _ => url.to_owned(),
    }
}

/// Without the query, which may hold a secret.
impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_secure { "https" } else { "http" };
        let path = self.target.split('?').next().unwrap_or_default();
        write!(f, "{scheme}://{}{path}", self.authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_tokens_that_cannot_be_used_are_refused_without_their_secrets() {
        for (url, said) in [
            ("example.com/mcp", "must look like"),
            ("ftp://example.com", "must begin with https://"),
            ("https://", "must look like"),
            ("https://me:hunter2@example.com/mcp", "--token-env"),
            ("a b", "must look like"),
        ] {
            let refused = Remote::new(url, None).unwrap_err();
            assert!(refused.is_usage() && refused.to_string().contains(said), "{url}: {refused}");
            assert!(!refused.to_string().contains("hunter2"), "{refused}");
        }
        for (url, value) in [("https://example.com", "hun\nter2"), ("http://example.com/mcp", "hunter2")] {
            let refused = Remote::new(url, Some(("MINE", value))).unwrap_err().to_string();
            assert!(refused.contains("MINE") && !refused.contains("ter2"), "{refused}");
        }
        for url in
            ["http://127.0.0.1:8765/mcp", "http://[::1]:1/mcp", "http://localhost/x?y=1", "https://e.com"]
        {
            let remote = Remote::new(url, Some(("MINE", "hunter2"))).unwrap();
            assert!(!format!("{remote:?}").contains("hunter2"));
            assert_eq!(remote.excerpt("a hunter2\nb"), "a … b");
        }
    }
}
