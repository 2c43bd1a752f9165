//! Systems other than Linux are not asked about single folders: whoever wants to know looks from time to time.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct Folders;

impl Folders {
    pub fn watch(_on_change: impl FnMut(&BTreeSet<PathBuf>) + Send + 'static) -> io::Result<Self> {
        Ok(Self)
    }

    /// False, since we would not be told of changes.
    pub fn follow(&self, _folder: &Path) -> bool {
        false
    }

    pub fn leave(&self, _folder: &Path) {}

    pub fn follows(&self, _folder: &Path) -> bool {
        false
    }
}
