//! Path walk: opens a file beneath a folder name by name, for systems whose kernel cannot do it in one step.
//!
//! Every folder on the way is held open and asked for one name at a time, never through a link. So renames meanwhile do
//! not matter: `..` goes back to the folder we came from, and never above the first.

use super::flags::{OPEN_FILE, OPEN_FOLDER};
use rustix::fs::{Mode, OFlags, openat, readlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

/// As many as Linux follows.
const MAX_LINKS: usize = 40;

pub(crate) fn walk_beneath(root: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    let mut walk = Walk { root, folders: Vec::new(), names: Vec::new(), links: 0 };
    walk.push(path)?;
    while let Some(name) = walk.names.pop() {
        if name == ".." {
            walk.folders.pop().ok_or(Errno::XDEV)?;
        } else if walk.names.is_empty() {
            match walk.open(&name, OPEN_FILE) {
                Err(errno) => walk.follow(&name, errno)?,
                opened => return opened,
            }
        } else {
            match walk.open(&name, OPEN_FOLDER) {
                Err(errno) => walk.follow(&name, errno)?,
                Ok(folder) => walk.folders.push(folder),
            }
        }
    }
    // The path led to a folder.
    walk.open(OsStr::new("."), OPEN_FILE)
}

struct Walk<'a> {
    root: BorrowedFd<'a>,
    /// The folders below the root on the way to the current one.
    folders: Vec<OwnedFd>,
    /// The remaining names, the next one last.
    names: Vec<OsString>,
    links: usize,
}

impl Walk<'_> {
    fn push(&mut self, path: &Path) -> Result<(), Errno> {
        for component in path.components().rev() {
            match component {
                Component::Normal(name) => self.names.push(name.to_owned()),
                Component::ParentDir => self.names.push("..".into()),
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return Err(Errno::XDEV),
            }
        }
        Ok(())
    }

    fn here(&self) -> BorrowedFd<'_> {
        self.folders.last().map_or(self.root, AsFd::as_fd)
    }

    fn open(&self, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
        openat(self.here(), name, flags | OFlags::NOFOLLOW, Mode::empty())
    }

    /// Continues at the target of a link, if that is why the name could not be opened.
    fn follow(&mut self, name: &OsStr, errno: Errno) -> Result<(), Errno> {
        // Systems differ in how they report that a name is a link.
        if !matches!(errno, Errno::LOOP | Errno::NOTDIR | Errno::MLINK) {
            return Err(errno);
        }
        let target = readlinkat(self.here(), name, Vec::new()).map_err(|_| errno)?;
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(Errno::LOOP);
        }
        self.push(Path::new(OsStr::from_bytes(target.to_bytes())))
    }
}
