//! A private folder for what has to be a file while the server runs.

use crate::{random, warden};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A folder only we can enter, made when it is first needed and removed when the server ends.
#[derive(Debug)]
pub struct StateDir {
    parent: PathBuf,
    keep: bool,
    made: Mutex<Option<PathBuf>>,
    counter: AtomicU64,
}

impl StateDir {
    /// A folder below `parent`. With `keep` it stays when the server ends.
    pub fn new(parent: PathBuf, keep: bool) -> Self {
        Self { parent, keep, made: Mutex::new(None), counter: AtomicU64::new(0) }
    }

    /// The folder, which exists from now on.
    pub fn path(&self) -> io::Result<PathBuf> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = &*made {
            return Ok(path.clone());
        }
        let path = self.parent.join(unguessable_name()?);
        // `mkdir` fails where anything of that name stands already, so nobody can have laid a trap there.
        DirBuilder::new().mode(0o700).create(&path)?;
        if !self.keep {
            warden::remove_with_us(&path);
        }
        *made = Some(path.clone());
        Ok(path)
    }

    /// A path below the folder that nothing stands at yet.
    pub fn fresh(&self, prefix: &str) -> io::Result<PathBuf> {
        let number = self.counter.fetch_add(1, Ordering::Relaxed);
        Ok(self.path()?.join(format!("{prefix}.{number}")))
    }

    /// A word that nobody can guess.
    pub fn unguessable_word(&self) -> io::Result<String> {
        random::hex::<16>()
    }

    /// Removes the folder, unless it is to be kept.
    pub fn remove(&self) {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(path) = made.filter(|_| !self.keep) {
            remove_folder(&path);
        }
    }
}

impl Drop for StateDir {
    fn drop(&mut self) {
        self.remove();
    }
}

fn remove_folder(path: &Path) {
    // The folder is in the temporary directory: what cannot be removed is the system's to clean up.
    let _ = std::fs::remove_dir_all(path);
}

fn unguessable_name() -> io::Result<String> {
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    Ok(format!("mcpbash.state.{parent}.{}.{}", std::process::id(), random::hex::<8>()?))
}
