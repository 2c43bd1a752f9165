//! Open flags of files and folders.

use rustix::fs::OFlags;

/// A file: for reading, without waiting for the other end of a pipe or becoming a controlling terminal.
pub(super) const OPEN_FILE: OFlags = OFlags::RDONLY.union(mcp_bash_files::HARMLESS);

/// A folder that is held while names are looked up in it.
pub(super) const OPEN_FOLDER: OFlags = HOLD.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
const HOLD: OFlags = OFlags::PATH;
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
const HOLD: OFlags = OFlags::RDONLY;
