//! Usage errors of `install`, as opposed to errors of a file.

use crate::base::error::Error;
use crate::base::exit::Exit;
use mcp_bash_entries::{BadName, Client, NoFile, NoWindows, Replaced, UnknownClient};

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
    #[error("{} takes no address of a server; leave out --http", .0.title)]
    NoRemote(&'static Client),
    #[error(
        "{} would need the token itself in its file, where others may read it; `mcp-bash config --http URL --token-env NAME \
         --client {}` prints the entry",
        .0.title, .0.name
    )]
    PlainToken(&'static Client),
    #[error(
        "`{0}` is no address of a server; write it as `mcp-bash serve --http` prints it: http://127.0.0.1:8765/mcp"
    )]
    NoAddress(String),
    #[error("HOME is not set to an absolute path, so no client's file can be found")]
    NoHome,
    #[error("name the clients that you mean, or use --all")]
    NoNames,
    #[error(transparent)]
    Windows(#[from] NoWindows),
    #[error("with --windows entries are for the user; leave out --scope")]
    WindowsScope,
}

impl From<InstallError> for Error {
    fn from(error: InstallError) -> Self {
        let exit = match error {
            InstallError::Replaced(_) | InstallError::NoRemote(_) | InstallError::PlainToken(_) => {
                Exit::Refused
            }
            _ => Exit::Usage,
        };
        Self::of_command(exit, error)
    }
}
