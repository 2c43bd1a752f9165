//! Lookup beneath a folder: platforms whose kernel cannot do it.

use crate::file::walk::walk_beneath;
use rustix::io::Errno;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

pub(super) fn open_beneath(folder: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    walk_beneath(folder, path)
}
