//! Lookup beneath a folder: opens a file so that no spelling, link or race leads out of the folder.

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod linux;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use linux as system;

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
mod elsewhere;
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
use elsewhere as system;

use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// Opens the file at this relative path, anywhere within the folder. A path that leads out fails with `XDEV`.
///
/// Links are followed as long as they stay inside. A link with an absolute target counts as leading out, even if it
/// comes back: that is how the kernel sees it, and a link that depends on the location of the project should be fixed.
pub(crate) fn open_beneath(folder: impl AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    system::open_beneath(folder.as_fd(), path)
}
