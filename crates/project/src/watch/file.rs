//! One file that somebody wants to hear about, and the folders whose events tell of its changes.

use super::Folders;
use std::collections::{BTreeSet, HashMap};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct WatchedFile {
    path: PathBuf,
    /// Where its name stands, where each link on the way to it stands, and where the file itself does; and whether
    /// these are followed.
    folders: HashMap<PathBuf, bool>,
    /// What it looked like when it was last read.
    looks: Option<Looks>,
}

/// What a file looks like from outside: when it changed, its size, and which one it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Looks([i64; 4], [u64; 3]);

impl Looks {
    /// None for a file that is not there.
    pub fn of(path: &Path) -> Option<Self> {
        let file = std::fs::metadata(path).ok()?;
        Some(Self(
            [file.mtime(), file.mtime_nsec(), file.ctime(), file.ctime_nsec()],
            [file.size(), file.ino(), file.dev()],
        ))
    }
}

impl WatchedFile {
    pub fn new(path: PathBuf) -> Self {
        Self { path, folders: HashMap::new(), looks: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it may have changed when something has in these folders.
    pub fn is_told_by(&self, changed: &BTreeSet<PathBuf>) -> bool {
        self.folders.keys().any(|folder| changed.contains(folder))
    }

    pub fn remember(&mut self, looks: Option<Looks>) {
        self.looks = looks;
    }

    pub fn looks_different(&self) -> bool {
        Looks::of(&self.path) != self.looks
    }

    /// Follows the folders that matter now, and leaves those that do not any more: a link may lead elsewhere today.
    pub fn follow(&mut self, by: &Folders) {
        let needed = folders_of(&self.path);
        for (folder, is_followed) in self.folders.extract_if(|folder, _| !needed.contains(folder)) {
            if is_followed {
                by.leave(&folder);
            }
        }
        for folder in needed {
            let is_followed = self.folders.get(&folder).is_some_and(|is_followed| *is_followed);
            let is_followed = is_followed || by.follow(&folder);
            self.folders.insert(folder, is_followed);
        }
    }

    /// Whether we are told of all its changes.
    pub fn is_followed(&self) -> bool {
        !self.folders.is_empty() && self.folders.values().all(|is_followed| *is_followed)
    }

    /// Knows that these folders are not followed any more.
    pub fn lose(&mut self, lost: &BTreeSet<PathBuf>) {
        for (folder, is_followed) in &mut self.folders {
            *is_followed = *is_followed && !lost.contains(folder);
        }
    }

    pub fn leave(&self, by: &Folders) {
        for (folder, _) in self.folders.iter().filter(|(_, is_followed)| **is_followed) {
            by.leave(folder);
        }
    }
}

fn folders_of(path: &Path) -> BTreeSet<PathBuf> {
    let links = path.ancestors().skip(1).filter(|part| part.is_symlink());
    let named = [path].into_iter().chain(links).filter_map(Path::parent).map(Path::to_owned);
    let real = path.canonicalize().ok();
    named.chain(real.and_then(|real| Some(real.parent()?.to_owned()))).collect()
}
