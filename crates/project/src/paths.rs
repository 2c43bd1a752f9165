//! Where the parts of a project are.

use crate::scan::DEPTH;
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
        Self::with_overrides(root, |_| None)
    }

    /// The places below `root`, except where `setting` names another: absolute, or relative to `root`.
    pub fn with_overrides(root: &Path, setting: impl Fn(&str) -> Option<String>) -> Self {
        let place = |name: &str, usual: &str| {
            let given = setting(name).filter(|path| !path.is_empty());
            // Joining with an absolute path gives that path.
            root.join(given.as_deref().unwrap_or(usual))
        };
        Self {
            tools: place("MCPBASH_TOOLS_DIR", "tools"),
            server: place("MCPBASH_SERVER_DIR", "server.d"),
            registry: place("MCPBASH_REGISTRY_DIR", ".registry"),
            root: root.to_owned(),
        }
    }

    /// The folders whose changes matter, and how many levels of folders below them.
    pub(crate) fn watched(&self) -> impl Iterator<Item = (&Path, usize)> {
        [(&*self.root, 0), (&*self.tools, DEPTH - 1), (&*self.server, 1)].into_iter()
    }
}
