//! Files that tell of one tool call to whoever looks for a mistake: its own notes (`mcp_debug`), and where that is wanted the
//! commands that its script ran.

use crate::scripts::Scripts;
use mcp_bash_project::Tool;
use mcp_bash_runner::Variables;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The longest line of a record that is told, in bytes.
const LONGEST_LINE: u64 = 4096;

/// The record of the commands that a script ran.
pub(crate) struct Trace {
    path: PathBuf,
    max_bytes: u64,
}

impl Scripts {
    /// Lets a call write such files. Its notes vanish with the folder of the call unless log files are kept.
    pub(crate) fn add_call_logs(
        &self,
        tool: &Tool,
        call_folder: &Path,
        variables: &mut Variables,
    ) -> Option<Trace> {
        if variables.get("MCPBASH_DEBUG_LOG").is_none() {
            let kept = self.log_folder().map(|folder| folder.join(log_name("tool-debug", tool)));
            variables.set("MCPBASH_DEBUG_LOG", kept.unwrap_or_else(|| call_folder.join("debug.log")));
        }
        let settings = self.settings().logs.trace.as_ref()?;
        let (folder, prelude) =
            (self.log_folder().or_else(|| self.state_dir().path().ok())?, self.toolbox()?.trace());
        let path = folder.join(log_name("trace", tool));
        variables.set("MCPBASH_TRACE_FILE", &path);
        variables.set("MCPBASH_TRACE_PS4", &settings.prompt);
        // A shell that is started for a script reads the file that this names first.
        variables.set("BASH_ENV", prelude);
        Some(Trace { path, max_bytes: settings.max_bytes })
    }

    /// Where files stay when their call has ended.
    fn log_folder(&self) -> Option<PathBuf> {
        let logs = &self.settings().logs;
        let kept = || logs.keep.then(|| self.state_dir().path().ok()).flatten();
        logs.folder.clone().or_else(kept)
    }
}

/// The name of a file of one call, which no other has.
fn log_name(kind: &str, tool: &Tool) -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let safe =
        |letter: char| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '_' };
    let name: String = tool.name.chars().take(64).map(safe).collect();
    format!("{kind}.{name}.{}.{}.log", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

impl Trace {
    /// Leaves the end of the record, now that its call has ended, and returns its last line.
    pub(crate) fn finish(&self) -> Option<String> {
        let cut = cut_to_end(&self.path, self.max_bytes);
        let end = cut.and_then(|()| end_of(&self.path, LONGEST_LINE)).ok()?;
        let text = String::from_utf8_lossy(&end);
        text.lines().rev().find(|line| !line.trim().is_empty()).map(str::to_owned)
    }
}

/// Leaves at most so many bytes of the end of a file.
fn cut_to_end(path: &Path, most: u64) -> io::Result<()> {
    if path.symlink_metadata()?.len() <= most {
        return Ok(());
    }
    let end = end_of(path, most)?;
    fs::write(path, end)
}

fn end_of(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut file: File = mcp_bash_files::open_no_link(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let mut end = Vec::new();
    file.take(most).read_to_end(&mut end)?;
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_record_is_left_and_its_last_line_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        assert_eq!(Trace { path: path.clone(), max_bytes: 9 }.finish(), None);
        fs::write(&path, "+ a:1: one\n+ a:2: two\n\n").unwrap();
        assert_eq!(Trace { path: path.clone(), max_bytes: 100 }.finish().as_deref(), Some("+ a:2: two"));
        assert_eq!(Trace { path: path.clone(), max_bytes: 9 }.finish().as_deref(), Some(":2: two"));
        assert_eq!(fs::read(&path).unwrap().len(), 9);
    }
}
