//! Descriptor of a secret: a file that only the processes that inherit it can read.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
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
