//! Folder watching on systems other than Linux: not available, so callers poll.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct Folders;

impl Folders {
    pub fn watch(_on_change: impl FnMut(&BTreeSet<PathBuf>) + Send + 'static) -> io::Result<Self> {
        Ok(Self)
    }

    /// False, because we would not be notified of changes.
    pub fn follow(&self, _folder: &Path) -> bool {
        false
    }

    pub fn leave(&self, _folder: &Path) {}

    pub fn follows(&self, _folder: &Path) -> bool {
        false
    }
}
