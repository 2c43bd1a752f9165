//! Errors of the store.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why the store cannot do what it is asked. No message has a password in it.
#[derive(Debug, Error)]
pub enum DatabaseError {
    #[error("the address of the store cannot be read: {0}; write postgres://USER@HOST/DATABASE")]
    Address(String),
    #[error("{place}: `{name}` is not the name of a schema; use letters, digits and `_`, 63 at most")]
    Schema { place: String, name: String },
    #[error("{path}: {problem}", path = path.display())]
    Certificate { path: PathBuf, problem: String },
    #[error("the thread of the store cannot be started: {0}")]
    Thread(io::Error),
    #[error("{place} cannot be reached: {problem}")]
    Unreachable { place: String, problem: String },
    #[error("{place} did not {operation} within {seconds} s")]
    Slow { place: String, operation: &'static str, seconds: u64 },
    #[error("{place} cannot {operation}: {problem}")]
    Refused { place: String, operation: &'static str, problem: String },
    #[error(
        "{place} has tables of version {found}, which this program cannot use (it knows {known}); a newer mcp-bash has upgraded \
         it: upgrade this server too"
    )]
    Newer { place: String, found: i32, known: i32 },
    #[error(
        "{place} has other lines in the audit chain {chain} than those from {first} on that were to be added: another program \
         wrote there; a server that is started again begins a new chain"
    )]
    OtherLines { place: String, chain: String, first: u64 },
    #[error("the thread of the store has ended")]
    Ended,
}
