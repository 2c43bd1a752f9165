//! Errors of the audit log: what cannot be opened, written or read, and where.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error("the folder {} cannot be made: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("{} cannot be opened: {source}", path.display())]
    Open { path: PathBuf, source: io::Error },
    #[error("{} cannot be written: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{} cannot be read: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} cannot be renamed, to begin a new file: {source}", path.display())]
    Rotate { path: PathBuf, source: io::Error },
    #[error("{} is not an audit log: name a file that is one, or that does not exist yet", path.display())]
    NotAnAuditLog { path: PathBuf },
    #[error("another process has held {} for {} s", path.display(), waited.as_secs())]
    Locked { path: PathBuf, waited: Duration },
    #[error("the key {} cannot be used: {source}", path.display())]
    Key { path: PathBuf, source: io::Error },
    #[error("{} is no key: it needs 64 hexadecimal digits", path.display())]
    NoKey { path: PathBuf },
    #[error("other users can read the key {}; `chmod 600` it, or remove it to have a new one made", path.display())]
    OpenKey { path: PathBuf },
    #[error("{} cannot be reached: {source}", path.display())]
    Socket { path: PathBuf, source: io::Error },
    #[error("lines cannot be made durable: {source}")]
    Commit { source: io::Error },
    #[error("standard error cannot be written: {source}")]
    StandardError { source: io::Error },
    #[error("the system has no random numbers: {source}")]
    Random { source: io::Error },
}
