//! Issuer errors: unusable options of issuers, and failed fetches of their keys.

use crate::http::secrets::guarded_file::GuardedFileError;
use mcp_bash_fetch::{FetchError, OperatorUrl, UrlError};
use mcp_bash_oauth::{KeySetError, MetadataError, ScopeError};

#[derive(Debug, thiserror::Error)]
pub enum IssuerError {
    #[error("{option}: `{url}` cannot be used: {error}; write `https://…` (or `http://` on this machine)")]
    Url { option: &'static str, url: String, error: UrlError },
    #[error(
        "--resource: `{0}` cannot be used; write the public URL of this server, such as `https://mcp.example.com/mcp`, without `?` and `#`"
    )]
    Resource(String),
    #[error(
        "several issuers are named, and `MCPBASH_HTTP_JWKS_URL` and `MCPBASH_HTTP_INTROSPECTION_URL` are for one; leave them out, or name one issuer"
    )]
    OneIssuerOnly,
    #[error("the scopes cannot be used: {0}")]
    Scope(#[from] ScopeError),
    #[error(transparent)]
    Secret(#[from] GuardedFileError),
    #[error(transparent)]
    Keys(#[from] KeysError),
}

/// Why an issuer's keys cannot be fetched.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("`{url}`: {error}")]
    Metadata { url: String, error: MetadataError },
    #[error("`{url}`: {error}")]
    KeySet { url: String, error: KeySetError },
    #[error("`{url}` names the keys at `{keys}`, which cannot be used: {error}")]
    KeySetUrl { url: String, keys: String, error: UrlError },
}

/// Parses the URL in an option.
pub(super) fn named(option: &'static str, url: &str) -> Result<OperatorUrl, IssuerError> {
    OperatorUrl::parse(url).map_err(|error| IssuerError::Url { option, url: url.to_owned(), error })
}
