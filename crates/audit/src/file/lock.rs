//! Lock of an audit file. Many servers can write to one file: each holds the lock while it appends. The lock is a file of
//! its own, because the log is renamed.

use crate::error::AuditError;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long another process may hold it. An append takes microseconds.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) struct Lock {
    path: PathBuf,
    file: File,
}

/// The lock is held as long as this value lives.
pub(super) struct Held<'a>(&'a File);

impl Lock {
    pub(super) fn open(path: PathBuf) -> Result<Self, AuditError> {
        match mcp_bash_files::append(&path) {
            Ok(file) => Ok(Self { path, file }),
            Err(source) => Err(AuditError::Open { path, source }),
        }
    }

    pub(super) fn path_for(log: &Path) -> PathBuf {
        super::beside(log, ".lock")
    }

    pub(super) fn hold(&self) -> Result<Held<'_>, AuditError> {
        let (mut pause, mut since) = (Duration::from_micros(20), None);
        loop {
            match flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Held(&self.file)),
                Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                Err(error) => {
                    return Err(AuditError::Open { path: self.path.clone(), source: error.into() });
                }
            }
            if since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                return Err(AuditError::Locked { path: self.path.clone(), waited: PATIENCE });
            }
            sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(1));
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let _ = flock(self.0, FlockOperation::Unlock);
    }
}
