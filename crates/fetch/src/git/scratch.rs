//! Scratch folder for one call.

use std::io;
use std::path::Path;
use tempfile::TempDir;

/// How often its removal is tried.
const ATTEMPTS: usize = 1000;

/// Only our user can enter it, and it is removed with the call however that ends.
pub(super) struct Scratch {
    folder: TempDir,
}

impl Scratch {
    pub(super) fn new(within: &Path) -> io::Result<Self> {
        Ok(Self { folder: TempDir::with_prefix_in("mcp-bash-git-", within)? })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A process that was killed a moment ago may be about to finish a file that it was making.
        for _ in 0..ATTEMPTS {
            let _ = std::fs::remove_dir_all(self.folder.path());
            if !self.folder.path().exists() {
                return;
            }
            std::thread::yield_now();
        }
    }
}
