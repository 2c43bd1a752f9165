//! Opening without symlinks: the Linux kernel opens a path and follows no link on the way.

use mcp_bash_files::{HARMLESS, shortage};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub(super) fn open_without_links(path: &Path) -> Option<File> {
    let mut parts = path.as_os_str().as_bytes().split(|byte| *byte == b'/');
    let is_plain = parts.next() == Some(b"") && parts.all(|part| !matches!(part, b"" | b"." | b".."));
    // Not even a named pipe in its place may block us.
    let flags = OFlags::RDONLY | HARMLESS;
    let opened = is_plain.then(|| openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS))?;
    opened.map_err(|error| shortage::noted(error.into())).ok().map(File::from)
}
