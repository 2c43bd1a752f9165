//! Watched file: one file whose changes a subscriber wants, and the folders whose events reveal them.

use super::Folders;
use std::collections::{BTreeSet, HashMap};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct WatchedFile {
    path: PathBuf,
    /// The folders of its name, of each symlink on the way to it and of the file itself; and whether each is followed.
    folders: HashMap<PathBuf, bool>,
    /// What it looked like when it was last read.
    looks: Option<Looks>,
}

/// What a file looks like from outside: times of modification and of change, size and identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Looks([i64; 4], [u64; 3]);

impl Looks {
    /// `None` for a file that does not exist.
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

    /// Whether it may have changed, given changes in these folders.
    pub fn is_told_by(&self, changed: &BTreeSet<PathBuf>) -> bool {
        self.folders.keys().any(|folder| changed.contains(folder))
    }

    pub fn remember(&mut self, looks: Option<Looks>) {
        self.looks = looks;
    }

    pub fn looks_different(&self) -> bool {
        Looks::of(&self.path) != self.looks
    }

    /// Follows the folders that matter now, and drops those that no longer do: a symlink may have changed.
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

    /// Whether we are notified of all its changes.
    pub fn is_followed(&self) -> bool {
        !self.folders.is_empty() && self.folders.values().all(|is_followed| *is_followed)
    }

    /// Notes that these folders are no longer followed.
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
