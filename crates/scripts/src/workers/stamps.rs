//! Worker stamps: the state of the files that a worker has loaded. If one has changed, a new worker serves the calls.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) struct Stamps(Vec<(PathBuf, Option<Stamp>)>);

/// Identity, modification time, size, mode and owner of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp(u64, u64, i64, i64, u64, u32, u32);

impl Stamps {
    pub(super) fn of(script: &Path) -> Self {
        Self(vec![(script.to_owned(), Stamp::of(script))])
    }

    pub(super) fn add(&mut self, files: &[PathBuf]) {
        self.0.extend(files.iter().map(|file| (file.clone(), Stamp::of(file))));
    }

    /// Whether no file has changed. One system call for each.
    pub(super) fn are_current(&self) -> bool {
        self.0.iter().all(|(file, stamp)| Stamp::of(file) == *stamp)
    }
}

impl Stamp {
    fn of(file: &Path) -> Option<Self> {
        let seen = file.metadata().ok()?;
        let (changed, nanoseconds) = (seen.mtime(), seen.mtime_nsec());
        Some(Self(seen.dev(), seen.ino(), changed, nanoseconds, seen.size(), seen.mode(), seen.uid()))
    }
}
