//! Usage errors of `install`, as opposed to errors of a file.

use crate::base::error::Error;
use crate::base::exit::Exit;
use mcp_bash_entries::{BadName, NoFile, Replaced, UnknownClient};

#[derive(Debug, thiserror::Error)]
pub(super) enum InstallError {
    #[error(transparent)]
    Client(#[from] UnknownClient),
    #[error(transparent)]
    File(#[from] NoFile),
    #[error(transparent)]
    Name(BadName),
    #[error(transparent)]
    Replaced(#[from] Replaced),
    #[error("HOME is not set to an absolute path, so no client's file can be found")]
    NoHome,
    #[error("name the clients that you mean, or use --all")]
    NoNames,
}

impl From<InstallError> for Error {
    fn from(error: InstallError) -> Self {
        let exit = match error {
            InstallError::Replaced(_) => Exit::Refused,
            _ => Exit::Usage,
        };
        Self::of_command(exit, error)
    }
}
