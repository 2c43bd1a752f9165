//! Prompt history, kept in the user's state folder.

use super::editor::MOST_REMEMBERED;
use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

/// A larger file is not read.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

pub(super) struct History {
    /// `None` if there is no place for it.
    file: Option<PathBuf>,
}

impl History {
    /// The history of this user.
    pub(super) fn of_person() -> Self {
        let absolute =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
        let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
        Self { file: state.map(|state| state.join("mcp-bash/history")) }
    }

    pub(super) fn read(&self) -> Vec<String> {
        let text = self.file.as_ref().and_then(|file| mcp_bash_files::read_text(file, MOST_BYTES).ok());
        let text = text.unwrap_or_default();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines[lines.len().saturating_sub(MOST_REMEMBERED)..].to_vec()
    }

    /// Adds a line. As in a shell, one that begins with a space is not kept.
    pub(super) fn add(&self, line: &str) {
        let Some(file) = self.file.as_ref().filter(|_| !line.trim().is_empty() && !line.starts_with(' '))
        else {
            return;
        };
        let Some(folder) = file.parent() else { return };
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        let is_full = file.metadata().is_ok_and(|known| known.len() > MOST_BYTES / 2);
        if is_full {
            let _ = std::fs::remove_file(file);
        }
        // A history that cannot be written is no reason to fail.
        let _ =
            made.and_then(|()| mcp_bash_files::append(file)).and_then(|mut file| writeln!(file, "{line}"));
    }
}
