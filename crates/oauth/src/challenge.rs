//! Challenge: the value of `WWW-Authenticate`, which tells a client which token to get.

use std::fmt::{self, Write};

/// What is wrong with the token, as RFC 6750 names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChallengeError {
    InvalidRequest,
    InvalidToken,
    InsufficientScope,
}

/// `Bearer` and its parameters. Its text is a header value whatever the parts are: other characters are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Challenge<'a> {
    /// `None` if the request had no token.
    pub error: Option<ChallengeError>,
    pub description: Option<&'a str>,
    /// The scopes that the request needs, all of them.
    pub scopes: &'a [Box<str>],
    /// The URL of the metadata of this server, by which a client finds the issuer.
    pub resource_metadata: Option<&'a str>,
}

impl ChallengeError {
    fn name(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidToken => "invalid_token",
            Self::InsufficientScope => "insufficient_scope",
        }
    }
}

impl fmt::Display for Challenge<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Bearer realm=\"mcp-bash\"")?;
        if let Some(error) = self.error {
            parameter(formatter, "error", error.name())?;
        }
        if let Some(description) = self.description {
            parameter(formatter, "error_description", description)?;
        }
        if !self.scopes.is_empty() {
            parameter(formatter, "scope", &self.scopes.join(" "))?;
        }
        if let Some(url) = self.resource_metadata {
            parameter(formatter, "resource_metadata", url)?;
        }
        Ok(())
    }
}

/// Neither a quote nor a backslash is ever inside the quotes, so that none has to be escaped: clients read that differently.
fn parameter(formatter: &mut fmt::Formatter<'_>, name: &str, value: &str) -> fmt::Result {
    write!(formatter, ", {name}=\"")?;
    for sign in value.chars().filter(|sign| matches!(sign, ' '..='~') && !matches!(sign, '"' | '\\')) {
        formatter.write_char(sign)?;
    }
    formatter.write_char('"')
}
