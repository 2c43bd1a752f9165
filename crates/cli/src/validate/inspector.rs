//! `validate --inspector`: the command with which the official inspector lists the tools of the project and judges their
//! schemas.

use super::{confirmed, say};
use crate::error::Error;
use crate::exit::Exit;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Debug, thiserror::Error)]
#[error("failed to run npx: {0}; install Node.js, or run the command above by hand")]
struct NoInspector(io::Error);

/// Shows the command, and runs it if there is an npx and a person who wants it. Says whether all went well.
pub(super) fn offer(project: &Path, search_path: &OsStr, may_ask: bool) -> Result<bool, Error> {
    let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("mcp-bash"));
    let words: Vec<OsString> = ["npx", "--yes", "@modelcontextprotocol/inspector", "--cli"]
        .map(OsString::from)
        .into_iter()
        .chain([own.into_os_string(), project.as_os_str().to_owned()])
        .chain(["--method", "tools/list", "--strict"].map(OsString::from))
        .collect();
    let command: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    say(&format!(
        "\nTo let the official inspector judge the schemas (Node.js 22 or newer; exit code 6 for a schema that is refused):\n\n  \
         {}\n",
        command.join(" ")
    ))?;
    let has_npx = std::env::split_paths(search_path).any(|folder| folder.join("npx").is_file());
    if !may_ask || !has_npx || !confirmed("\nRun it now? It may download the inspector.")? {
        return Ok(true);
    }
    let status = Command::new(&words[0]).args(&words[1..]).env("PATH", search_path).status();
    let status = status.map_err(|error| Error::of_command(Exit::Failed, NoInspector(error)))?;
    Ok(status.success())
}

/// A word as a shell takes it.
fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@%:".contains(c);
    if text.chars().all(is_plain) { text.into_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
