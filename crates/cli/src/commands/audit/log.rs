//! The audit log that a command is about: files, or the store of several servers.

use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::startup;
use mcp_bash_audit::{AuditError, ChainStore, Destination, files_of};
use mcp_bash_server::StorePlace;
use std::path::PathBuf;
use std::sync::Arc;

pub(super) enum Log {
    /// Oldest first.
    Files(Vec<PathBuf>),
    Store(Arc<dyn ChainStore>),
}

/// Why the log cannot be shown or verified.
#[derive(Debug, thiserror::Error)]
pub(super) enum LogError {
    #[error("name the audit log: as an argument, or in MCPBASH_AUDIT")]
    NotNamed,
    #[error("there is no audit log {}", .0.display())]
    NoLog(PathBuf),
    #[error("{} has no record", .0.display())]
    Empty(PathBuf),
    #[error(
        "the audit log is in the store: set MCPBASH_STORE to its address, `postgres://USER@HOST/DATABASE`"
    )]
    NoStore,
    #[error("the store has no audit log")]
    EmptyStore,
    #[error("files have one head, `SEQ:HASH`")]
    NoHeadOfFiles,
    #[error("a head in a store begins with its chain: `CHAIN:SEQ:HASH`, as `audit head` prints it")]
    NoHeadOfStore,
}

impl Log {
    /// The log that is named, or the one that is written.
    pub(super) fn named(named: Option<&PathBuf>) -> Result<Self, Error> {
        let settings = startup::settings().0;
        let destination = match named {
            Some(path) => path.to_str().map_or_else(|| Destination::File(path.clone()), Destination::parse),
            None => settings.audit.destination.ok_or_else(|| usage(LogError::NotNamed))?,
        };
        if destination == Destination::Store {
            let unusable = |error| Error::Setting(format!("MCPBASH_STORE: {error}"));
            let place = settings.tasks.store.map(|store| StorePlace::named(&store)).transpose();
            let store = place.and_then(|place| Ok(place.map(StorePlace::audit_logs).transpose()?.flatten()));
            return store.map_err(unusable)?.map(Self::Store).ok_or_else(|| usage(LogError::NoStore));
        }
        // A path that is named is one, also if its name is that of another destination.
        let log = named.or(destination.file()).ok_or_else(|| usage(LogError::NotNamed))?;
        let files = files_of(log);
        if files.is_empty() { Err(usage(LogError::NoLog(log.clone()))) } else { Ok(Self::Files(files)) }
    }
}

pub(super) fn failed(error: AuditError) -> Error {
    Error::of_command(Exit::Failed, error)
}

pub(super) fn usage(error: LogError) -> Error {
    Error::of_command(Exit::Usage, error)
}
