//! Call logs: files about one tool call, for debugging: its own notes (`mcp_debug`), and on request the commands that its
//! script ran.

use crate::surroundings::Surroundings;
use mcp_bash_project::Tool;
use mcp_bash_runner::Variables;
use mcp_bash_secrets::KnownSecrets;
use std::borrow::Cow;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The longest line of a trace that is reported, in bytes.
const LONGEST_LINE: u64 = 4096;

/// The files of one call.
pub(crate) struct CallLogs {
    notes: Option<LogFile>,
    trace: Option<Trace>,
    known_secrets: Arc<KnownSecrets>,
}

/// A file that stays after its call, unless it is empty.
struct LogFile(PathBuf);

/// The trace of the commands that a script ran.
struct Trace {
    file: LogFile,
    max_bytes: u64,
}

impl Surroundings {
    /// Gives a call its log files. Its notes are removed with the folder of the call, unless log files are kept.
    pub(crate) fn add_call_logs(
        &self,
        tool: &Tool,
        call_folder: &Path,
        variables: &mut Variables,
    ) -> CallLogs {
        let mut notes = None;
        if variables.get("MCPBASH_DEBUG_LOG").is_none() {
            notes = self.log_folder().and_then(|folder| LogFile::create(&folder, "tool-debug", tool));
            let vanishing = || call_folder.join("debug.log");
            let path = notes.as_ref().map_or_else(vanishing, |notes| notes.0.clone());
            variables.set("MCPBASH_DEBUG_LOG", path);
        }
        let known_secrets = Arc::clone(&self.processes.known_secrets);
        CallLogs { notes, trace: self.add_trace(tool, variables), known_secrets }
    }

    fn add_trace(&self, tool: &Tool, variables: &mut Variables) -> Option<Trace> {
        let settings = self.settings().logs.trace.as_ref()?;
        let (folder, prelude) = (
            self.log_folder().or_else(|| self.processes.state_dir.path().ok())?,
            self.toolbox().ok()?.trace(),
        );
        let file = LogFile::create(&folder, "trace", tool)?;
        variables.set("MCPBASH_TRACE_FILE", &file.0);
        variables.set("MCPBASH_TRACE_PS4", &settings.prompt);
        // A shell that is started for a script sources this file first.
        variables.set("BASH_ENV", prelude);
        Some(Trace { file, max_bytes: settings.max_bytes })
    }

    /// The folder for files that stay after their call.
    fn log_folder(&self) -> Option<PathBuf> {
        let logs = &self.settings().logs;
        let kept = || logs.keep.then(|| self.processes.state_dir.path().ok()).flatten();
        logs.folder.clone().or_else(kept)
    }
}

impl LogFile {
    /// A new file for one call, which only our user can read, whatever its folder and however the script opens it.
    fn create(folder: &Path, kind: &str, tool: &Tool) -> Option<Self> {
        let path = folder.join(log_name(kind, tool));
        // An existing file is not ours: it may be another user's symlink.
        mcp_bash_files::create_new(&path, 0o600).ok()?;
        Some(Self(path))
    }
}

impl Drop for LogFile {
    fn drop(&mut self) {
        if self.0.symlink_metadata().is_ok_and(|file| file.len() == 0) {
            let _ = fs::remove_file(&self.0);
        }
    }
}

/// A unique name for a file of one call.
fn log_name(kind: &str, tool: &Tool) -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let safe =
        |letter: char| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '_' };
    let name: String = tool.name.chars().take(64).map(safe).collect();
    format!("{kind}.{name}.{}.{}.log", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

impl CallLogs {
    /// The last command that the script ran, if commands are traced. Called after the call.
    pub(crate) fn last_command(&self) -> Option<String> {
        let command = self.trace.as_ref().and_then(Trace::finish)?;
        Some(self.known_secrets.redacted_text(command))
    }
}

/// The script itself may have written its secrets to these files.
impl Drop for CallLogs {
    fn drop(&mut self) {
        let files = [self.notes.as_ref(), self.trace.as_ref().map(|trace| &trace.file)];
        for file in files.into_iter().flatten() {
            if redact(&file.0, &self.known_secrets).is_err() {
                // A missing file is better than one with a secret.
                let _ = fs::remove_file(&file.0);
            }
        }
    }
}

/// A longer file is not redacted, but removed. In bytes.
const LONGEST_REDACTED: u64 = 64 * 1024 * 1024;

/// Redacts the secrets in a file.
fn redact(path: &Path, known: &KnownSecrets) -> io::Result<()> {
    let Some(redactor) = known.redactor() else { return Ok(()) };
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    if let Cow::Owned(redacted) = redactor.redact(&mcp_bash_files::read(path, LONGEST_REDACTED)?) {
        mcp_bash_files::truncate(path)?.write_all(&redacted)?;
    }
    Ok(())
}

impl Trace {
    /// Keeps only the end of the trace, and returns its last line. Called after the call.
    fn finish(&self) -> Option<String> {
        let cut = cut_to_end(&self.file.0, self.max_bytes);
        let end = cut.and_then(|()| mcp_bash_files::read_end(&self.file.0, LONGEST_LINE)).ok()?;
        let text = String::from_utf8_lossy(&end);
        text.lines().rev().find(|line| !line.trim().is_empty()).map(str::to_owned)
    }
}

/// Keeps at most `most` bytes from the end of a file.
fn cut_to_end(path: &Path, most: u64) -> io::Result<()> {
    if path.symlink_metadata()?.len() <= most {
        return Ok(());
    }
    let end = mcp_bash_files::read_end(path, most)?;
    mcp_bash_files::truncate(path)?.write_all(&end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_record_is_left_and_its_last_line_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let trace = |max_bytes| Trace { file: LogFile(path.clone()), max_bytes };
        assert_eq!(trace(9).finish(), None);
        fs::write(&path, "+ a:1: one\n+ a:2: two\n\n").unwrap();
        assert_eq!(trace(100).finish().as_deref(), Some("+ a:2: two"));
        assert_eq!(trace(9).finish().as_deref(), Some(":2: two"));
        assert_eq!(fs::read(&path).unwrap().len(), 9);
    }
}
