//! `validate --inspector`: the command with which the official inspector lists the tools of the project and checks their
//! schemas.

use super::confirmed;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::terminal::print::print;
use mcp_bash_harmless::shell_path;
use mcp_bash_terminal::visible;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Debug, thiserror::Error)]
#[error("failed to run npx: {0}; install Node.js, or run the command above by hand")]
struct NoInspector(io::Error);

/// A command that runs the inspector on a project.
pub(super) struct Inspector {
    words: Vec<OsString>,
    /// The command for the user to paste.
    pub(super) shown: String,
}

impl Inspector {
    pub(super) fn of(project: &Path) -> Self {
        let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("mcp-bash"));
        let strictly = ["--cli", "--method", "tools/list", "--strict", "--"];
        // If Node.js is too old for the newest version, npm would otherwise take an old one without `--strict`.
        let words: Vec<OsString> = ["npx", "--yes", "@modelcontextprotocol/inspector@2"]
            .into_iter()
            .chain(strictly)
            .map(OsString::from)
            .chain([own.into_os_string(), "--project-root".into(), project.as_os_str().to_owned()])
            .collect();
        let shown = words.iter().map(|word| shell_path(Path::new(word))).collect::<Vec<_>>().join(" ");
        Self { words, shown }
    }

    /// Shows the command, and runs it if there is an npx and the user agrees. Returns whether all went well.
    pub(super) fn offer(&self, search_path: &OsStr, may_ask: bool) -> Result<bool, Error> {
        let about = "To let the official inspector judge the schemas (Node.js 22 or newer; exit code 6 where it refuses one)";
        print(&format!("\n{about}:\n\n  {}\n", visible(&self.shown)))?;
        let has_npx = std::env::split_paths(search_path).any(|folder| folder.join("npx").is_file());
        if !may_ask || !has_npx || !confirmed("\nRun it now? It may download the inspector.")? {
            return Ok(true);
        }
        let status = Command::new(&self.words[0]).args(&self.words[1..]).env("PATH", search_path).status();
        let status = status.map_err(|error| Error::of_command(Exit::Failed, NoInspector(error)))?;
        Ok(status.success())
    }
}
