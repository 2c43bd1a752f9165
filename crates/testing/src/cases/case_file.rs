//! Case file: where cases are written.

use std::path::{Path, PathBuf};

/// The file that cases are read from.
pub(crate) struct CaseFile<'a> {
    pub(crate) path: &'a Path,
    /// Its path for people.
    pub(crate) shown: &'a str,
}

impl CaseFile<'_> {
    /// A path in the file, relative to it.
    pub(crate) fn beside(&self, path: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(path)
    }
}
