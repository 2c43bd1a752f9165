//! Errors of a connection over HTTP. No message holds the token, even where the server repeats it.

use std::io;
use thiserror::Error;

/// The messages complete "mcp-bash: ...".
#[derive(Debug, Error)]
pub enum HttpError {
    #[error("`{url}` is no URL of a server: {problem}")]
    Url { url: String, problem: &'static str },
    #[error("the token in {variable} cannot be sent: it holds line breaks or other control characters")]
    Token { variable: String },
    #[error("the token in {variable} would be sent to {url} unencrypted; use an https:// URL")]
    Unencrypted { variable: String, url: String },
    #[error("failed to connect to {url}: {source}{}", advice(source))]
    Unreachable { url: String, source: io::Error },
    #[error("failed to connect to {url}: its host did not answer within {seconds} s")]
    Silent { url: String, seconds: u64 },
    #[error(
        "no secure connection to {url}: {source}; is it https:// there, with a certificate that this system trusts?"
    )]
    Tls { url: String, source: io::Error },
    #[error(
        "the system has no certificates that https:// servers could be checked with; SSL_CERT_FILE can name some"
    )]
    NoCertificates,
    #[error("{url} wants a token (HTTP {status}); set a variable to it and name it with `--token-env NAME`")]
    TokenWanted { url: String, status: u16 },
    #[error("{url} refuses the token in {variable} (HTTP {status}); set {variable} to a valid one")]
    TokenRefused { url: String, variable: String, status: u16 },
    #[error("there is nothing at {url} (HTTP 404); is its path right? Servers of mcp-bash are at `/mcp`")]
    NotFound { url: String },
    #[error("the server at {url} has ended the session (HTTP 404)")]
    SessionEnded { url: String },
    #[error(
        "{url} redirects to `{location}` (HTTP {status}), which is not followed; use that URL if you trust it"
    )]
    Redirect { url: String, status: u16, location: String },
    #[error("{url} is no MCP server: it answered with {what}")]
    NotMcp { url: String, what: String },
    #[error("{url} answered with HTTP {status}{}", quoted(excerpt))]
    Status { url: String, status: u16, excerpt: String },
    #[error("the connection to {url} was lost: {source}")]
    Lost { url: String, source: io::Error },
}

impl HttpError {
    /// Whether the server does not let us in.
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::TokenWanted { .. } | Self::TokenRefused { .. })
    }

    /// Whether it is a mistake of the user, noticed before anything was sent.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Url { .. } | Self::Token { .. } | Self::Unencrypted { .. })
    }
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            "; is the server running (`mcp-bash serve --http`), and its port right?"
        }
        _ => "",
    }
}

fn quoted(excerpt: &str) -> String {
    if excerpt.is_empty() { String::new() } else { format!(": {excerpt}") }
}
