//! `echo://` URIs: they contain what they name, and are for experiments.

use crate::error::FetchError;

/// The payload of the URI, percent-decoded.
pub fn echo(uri: &str) -> Result<String, FetchError> {
    Ok(mcp_bash_uri::decode(uri.strip_prefix("echo://").unwrap_or(uri))?)
}
