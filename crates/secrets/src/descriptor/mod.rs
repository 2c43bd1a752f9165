//! Descriptor of a secret: a file that only the processes that inherit it can read.

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod linux;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use linux as system;

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
mod elsewhere;
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
use elsewhere as system;

use crate::secret::Secret;
use std::io;
use std::os::fd::OwnedFd;

impl Secret {
    /// A new descriptor from which the value can be read. It has no name in any folder.
    pub fn descriptor(&self) -> io::Result<OwnedFd> {
        system::descriptor(self.reveal())
    }
}
