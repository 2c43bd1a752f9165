//! Systems whose kernel has no lookup that stays beneath a folder.

use crate::file::walk::walk_beneath;
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

/// How a folder is held while names are looked up in it.
pub(in crate::file) const OPEN_FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

pub(super) fn open_beneath(folder: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    walk_beneath(folder, path)
}
