//! Where the parts of a project are.

use std::path::{Path, PathBuf};

/// The folders of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    pub root: PathBuf,
    pub tools: PathBuf,
    pub server: PathBuf,
    pub registry: PathBuf,
}

impl Paths {
    /// The usual places below `root`.
    pub fn of(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            tools: root.join("tools"),
            server: root.join("server.d"),
            registry: root.join(".registry"),
        }
    }
}
