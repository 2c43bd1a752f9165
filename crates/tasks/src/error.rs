//! Errors of task stores.

use crate::TaskId;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a store cannot do what it is asked.
#[derive(Debug, Error)]
pub enum StoreError {
    #[error("the task folder {} cannot be used: {source}; MCPBASH_STORE names another one", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error(
        "the task folder {} is not private: {problem}; make it yours with mode 0700, or name another one with \
         MCPBASH_STORE",
        path.display()
    )]
    NotPrivate { path: PathBuf, problem: &'static str },
    #[error("{} cannot be written: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{} cannot be read: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is not the record of a task: {problem}", path.display())]
    Broken { path: PathBuf, problem: String },
    #[error("task {id} is run by another process since attempt {attempt}")]
    Stale { id: TaskId, attempt: u64 },
    #[error("task {id} takes no more answers or cancellations: too many were sent")]
    TooManyNotes { id: TaskId },
    /// An error of a store in a database.
    #[error(transparent)]
    Database(Box<dyn std::error::Error + Send + Sync>),
    /// The store cannot be reached now.
    #[error(transparent)]
    Away(Box<dyn std::error::Error + Send + Sync>),
}

impl StoreError {
    /// Whether a retry may succeed.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Away(_))
    }
}
