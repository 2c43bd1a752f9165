//! Lookup beneath a folder on Linux: the kernel resolves a path in one step and never leaves the folder.

use crate::file::flags::OPEN_FILE;
use crate::file::walk::walk_beneath;
use rustix::fs::{Mode, ResolveFlags, openat2};
use rustix::io::Errno;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

/// How often a lookup that was disturbed by a rename is tried again.
const ATTEMPTS: usize = 64;

pub(super) fn open_beneath(folder: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let path_or_self = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    for _ in 0..ATTEMPTS {
        match openat2(folder, path_or_self, OPEN_FILE, Mode::empty(), resolve) {
            // The kernel cannot tell whether `..` has left the folder while folders are being moved.
            Err(Errno::AGAIN | Errno::INTR) => {}
            // Older kernels do not know the call, and some sandboxes forbid it.
            Err(Errno::NOSYS | Errno::PERM) => return walk_beneath(folder, path),
            opened => return opened,
        }
    }
    Err(Errno::XDEV)
}
