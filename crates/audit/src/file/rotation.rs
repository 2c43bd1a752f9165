//! Rotation: when a new audit file is begun, and the names of the files before it. `log.1` is the newest of them.

use crate::error::AuditError;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// When a new file is begun, and how many are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    pub max_bytes: u64,
    /// How long one file is written to.
    pub max_age: Option<Duration>,
    /// How many files are kept besides the one that is written to.
    pub keep: u32,
}

impl Rotation {
    /// Whether a file is full that began then, has that size, and is to receive `more` bytes.
    pub(super) fn is_due(&self, size: u64, began: Option<SystemTime>, more: usize) -> bool {
        let is_old =
            |began: SystemTime| self.max_age.is_some_and(|most| began.elapsed().is_ok_and(|age| age >= most));
        size > 0 && (size + more as u64 > self.max_bytes || began.is_some_and(is_old))
    }

    /// Renames the log and the files before it by one. The oldest is removed.
    pub(super) fn shift(&self, log: &Path) -> Result<(), AuditError> {
        let failed = |path: PathBuf| |source| AuditError::Rotate { path, source };
        let oldest = numbered(log, self.keep.max(1));
        if mcp_bash_files::look::is_file(&oldest) {
            std::fs::remove_file(&oldest).map_err(failed(oldest))?;
        }
        for number in (1..self.keep.max(1)).rev() {
            let from = numbered(log, number);
            if mcp_bash_files::look::is_file(&from) {
                std::fs::rename(&from, numbered(log, number + 1)).map_err(failed(from))?;
            }
        }
        std::fs::rename(log, numbered(log, 1)).map_err(failed(log.to_owned()))
    }
}

fn numbered(log: &Path, number: u32) -> PathBuf {
    super::beside(log, &format!(".{number}"))
}

/// The files of a log that exist, oldest first.
pub fn files_of(log: &Path) -> Vec<PathBuf> {
    let exists = |path: &PathBuf| mcp_bash_files::look::is_file(path);
    let mut found: Vec<PathBuf> =
        (1..u32::MAX).map(|number| numbered(log, number)).take_while(exists).collect();
    found.reverse();
    found.extend(Some(log.to_owned()).filter(exists));
    found
}

/// The newest file that may be the one before a new log: rotated by us, or renamed by another program.
pub(super) fn newest_before(log: &Path) -> Option<PathBuf> {
    let (folder, name) = (log.parent()?, log.file_name()?.to_str()?);
    let is_before = |other: &str| {
        let rest = other.strip_prefix(name).filter(|rest| rest.starts_with(['.', '-']));
        rest.is_some_and(|rest| {
            ![".lock", ".key", ".gz", ".xz", ".zst", ".bz2"].iter().any(|end| rest.ends_with(end))
        })
    };
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let before = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_before));
    let dated = before.filter_map(|entry| {
        let found = entry.metadata().ok().filter(|found| found.is_file() && found.len() > 0)?;
        Some((found.modified().ok()?, entry.path()))
    });
    dated.max().map(|(_, path)| path)
}
