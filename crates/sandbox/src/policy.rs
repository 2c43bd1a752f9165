//! Policy: what one process may do, with every path and word of its declaration resolved.

use crate::declaration::{Limits, Mode, Network};
use std::path::{Path, PathBuf};

/// What a process may do. Two processes with equal policies can use the same preparations.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Policy {
    pub mode: Mode,
    /// What it may read and execute, with everything below.
    pub read: Vec<PathBuf>,
    /// What it may write too.
    pub write: Vec<PathBuf>,
    /// Whether it may write to the temporary folder of its call.
    pub has_tmp: bool,
    pub network: Network,
    pub limits: Limits,
}

impl Policy {
    /// Whether it may read a path.
    pub fn may_read(&self, path: &Path) -> bool {
        self.read.iter().chain(&self.write).any(|folder| path.starts_with(folder))
    }

    pub fn may_write(&self, path: &Path) -> bool {
        self.write.iter().any(|folder| path.starts_with(folder))
    }
}
