//! `--no-refresh`: the tools as they were last written to the registry, which must exist and be complete.

use crate::base::error::Error;
use crate::base::exit::Exit;
use serde_json::Value;
use std::io::ErrorKind;
use std::path::Path;

pub(super) fn check(path: &Path, limit: usize) -> Result<(), Error> {
    let remedy = "write it with `mcp-bash registry refresh`, or leave out --no-refresh";
    let usage = |problem: String| Error::of_command(Exit::Usage, format!("{problem}; {remedy}"));
    let text = mcp_bash_files::read(path, limit as u64).map_err(|error| match error.kind() {
        ErrorKind::NotFound => usage(format!("registry cache missing (expected {})", path.display())),
        _ => usage(format!("registry cache cannot be read: {}: {error}", path.display())),
    })?;
    let registry: Value = serde_json::from_slice(&text).unwrap_or_default();
    if registry["hash"].is_string() && registry["total"].is_u64() {
        return Ok(());
    }
    Err(usage(format!("invalid tools registry cache: {}", path.display())))
}
