//! The token of the registry: from a variable or a file, never from the command line, and never shown.

use crate::base::error::Error;
use crate::base::exit::Exit;
use mcp_bash_secrets::Secret;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const VARIABLE: &str = "MCP_REGISTRY_TOKEN";
const LONGEST: u64 = 64 * 1024;

/// A token that can be sent.
pub(super) fn read(file: Option<&Path>) -> Result<Secret, Error> {
    let (text, place) = match file {
        Some(file) => (of_file(file)?, file.display().to_string()),
        None => (std::env::var(VARIABLE).unwrap_or_default(), VARIABLE.to_owned()),
    };
    let text = text.trim();
    if text.is_empty() {
        let words = format!(
            "the registry wants a token: `mcp-publisher login github` gets one and writes it to ~/.mcp_publisher_token; name that \
             file with `--token-file`, or set {VARIABLE}"
        );
        return Err(Error::of_command(Exit::Refused, words));
    }
    let unfit =
        |why: &str| Error::of_command(Exit::Usage, format!("the token in {place} cannot be sent: {why}"));
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(unfit("it has blanks, line breaks or other signs that no token has"));
    }
    Secret::new(text.as_bytes().to_vec()).map_err(|why| unfit(&why.to_string()))
}

/// The file holds the token itself, or JSON with a member `token`, as `mcp-publisher` writes it.
fn of_file(file: &Path) -> Result<String, Error> {
    let failed = |words: String| Error::of_command(Exit::Usage, words);
    let opened = mcp_bash_files::open(file);
    let text = opened.and_then(|opened| {
        let mode = opened.metadata()?.permissions().mode();
        Ok((mcp_bash_files::read_all_text(&opened, LONGEST)?, mode))
    });
    let (text, mode) = text.map_err(|error| failed(format!("failed to read {}: {error}", file.display())))?;
    if mode & 0o077 != 0 {
        return Err(failed(format!("{} can be read by other users; run `chmod 600` on it", file.display())));
    }
    let json: Value = serde_json::from_str(&text).unwrap_or_default();
    Ok(json["token"].as_str().map_or(text, str::to_owned))
}
