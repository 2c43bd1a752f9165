//! Errors of the audit log: what cannot be opened, written or read, and where.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Why nothing can be written.
pub type Problem = Arc<AuditError>;

/// Why a store does not take lines.
pub(crate) type StoreError = Arc<dyn Error + Send + Sync>;

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
    #[error("{0}")]
    Store(Arc<dyn Error + Send + Sync>),
    #[error("the store has not taken {lines} lines yet")]
    Behind { lines: usize },
    #[error("there is no store of several servers: MCPBASH_STORE has to be the address of a database")]
    NoStore,
    #[error("the system has no thread to write with: {source}")]
    Thread { source: io::Error },
    #[error("the system has no random numbers: {source}")]
    Random { source: io::Error },
}
