//! Configuration lock: one change of a configuration file at a time. Without it, two of our processes that each read
//! the file, add an entry and write it would lose one. Clients do not know the lock; because of them the file is read
//! again just before it is written.

use crate::config_file::ConfigFile;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long to wait for another change, which takes milliseconds.
const TIMEOUT: Duration = Duration::from_secs(5);

const PAUSE: Duration = Duration::from_millis(5);

/// Held while a file is read and changed. It is on the folder of the file, so that nothing is left behind.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "the lock ends when it is closed")] File);

impl Lock {
    /// Waits for its turn. `None` if the system has no locks, or if another process never releases it: the change is
    /// then made without a lock.
    pub fn wait(file: &ConfigFile) -> Option<Self> {
        // The file itself, if the path is a link to it.
        let path = file.path.canonicalize().unwrap_or_else(|_| file.path.clone());
        let folder = path.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(folder).ok()?;
        let folder = mcp_bash_files::open_folder(folder).ok()?;
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Some(Self(folder)),
                Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < deadline => std::thread::sleep(PAUSE),
                Err(_) => return None,
            }
        }
    }
}
