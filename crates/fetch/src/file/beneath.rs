//! Opens a file beneath a folder, so that no spelling, link or race leads out of it.

use super::walk::walk_beneath;
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

/// How a folder is held while names are looked up in it.
#[cfg(target_os = "linux")]
pub(super) const OPEN_FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
pub(super) const OPEN_FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// How a file is opened: for reading, without waiting for the other end of a pipe or becoming anyone's terminal.
pub(super) const OPEN_FILE: OFlags = OFlags::RDONLY.union(mcp_bash_files::HARMLESS);

/// Opens what this relative path leads to, wherever it leads within the folder. What leads out is `XDEV`.
///
/// Links are followed as long as they stay inside. One with an absolute target counts as leading out, even if it comes
/// back: that is how the kernel sees it, and a link that depends on where the project lies is worth mending.
#[cfg(target_os = "linux")]
pub(crate) fn open_beneath(folder: impl std::os::fd::AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    use rustix::fs::{Mode, ResolveFlags, openat2};

    /// How often a lookup that was disturbed by a renaming is tried again.
    const ATTEMPTS: usize = 64;

    let folder: BorrowedFd<'_> = folder.as_fd();
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

#[cfg(not(target_os = "linux"))]
pub(crate) fn open_beneath(folder: impl std::os::fd::AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    walk_beneath(folder.as_fd(), path)
}
