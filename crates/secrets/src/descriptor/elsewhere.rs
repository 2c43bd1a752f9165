//! Unlinked file: its name is removed before the value is written.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) fn descriptor(value: &[u8]) -> io::Result<OwnedFd> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let name = format!(".mcp-bash-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    let mut writing = mcp_bash_files::create_new(&path, 0o600)?;
    let reading = mcp_bash_files::open_no_link(&path);
    std::fs::remove_file(&path)?;
    writing.write_all(value)?;
    Ok(reading?.into())
}
