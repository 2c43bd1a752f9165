//! Private folder: only our user can enter it, and it is locked for as long as we use it.
//!
//! The lock is a shared BSD lock (`flock`) on the folder itself. `systemd-tmpfiles` leaves everything below a locked
//! folder alone, and other servers see by the lock that this one is alive (`dead_servers`).

use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, flock, openat, utimensat,
};
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(crate) struct PrivateFolder {
    path: PathBuf,
    /// The folder, opened and locked.
    folder: File,
}

impl PrivateFolder {
    /// Makes the folder. Fails if there is anything at that path, so that no other process can have put a folder or
    /// link of its own there.
    pub(crate) fn make(path: PathBuf) -> io::Result<Self> {
        DirBuilder::new().mode(0o700).create(&path)?;
        let folder = open(&path)?;
        // Other errors do no harm: a file system may have no locks. Only a server that takes the folder for a stale one
        // holds an exclusive lock, and removes the folder.
        if flock(&folder, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK) {
            return Err(removed());
        }
        let made = Self { path, folder };
        if made.is_there() { Ok(made) } else { Err(removed()) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the folder is still at its path.
    pub(crate) fn is_there(&self) -> bool {
        let (Ok(ours), Ok(found)) = (self.folder.metadata(), self.path.symlink_metadata()) else {
            return false;
        };
        (ours.dev(), ours.ino()) == (found.dev(), found.ino())
    }
}

/// Opens a folder, without following a link.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(CWD, path, flags, Mode::empty())?.into())
}

/// Sets both timestamps of a file or folder to now, so that no cleaner of temporary files removes it for its age.
pub fn touch(path: &Path) -> io::Result<()> {
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    let times = Timestamps { last_access: now, last_modification: now };
    Ok(utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

fn removed() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "the folder was removed as soon as it was made")
}
