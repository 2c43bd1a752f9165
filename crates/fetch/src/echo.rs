//! `echo://` URIs, which say what they name. They are for trying things out.

use crate::error::FetchError;

/// The payload of the URI, percent-decoded.
pub fn echo(uri: &str) -> Result<String, FetchError> {
    Ok(mcp_bash_uri::decode(uri.strip_prefix("echo://").unwrap_or(uri))?)
}
