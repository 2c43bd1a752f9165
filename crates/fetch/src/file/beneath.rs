//! Opens a file beneath a folder, so that no spelling, link or race leads out of it.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
use elsewhere as system;

use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// Opens what this relative path leads to, wherever it leads within the folder. What leads out is `XDEV`.
///
/// Links are followed as long as they stay inside. One with an absolute target counts as leading out, even if it comes
/// back: that is how the kernel sees it, and a link that depends on where the project lies is worth mending.
pub(crate) fn open_beneath(folder: impl AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    system::open_beneath(folder.as_fd(), path)
}
