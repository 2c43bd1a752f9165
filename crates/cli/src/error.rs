//! What can go wrong before a client is there to be told.

use mcp_bash_project::LocationError;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use thiserror::Error;

/// The messages complete "mcp-bash: ...".
#[derive(Debug, Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Location(#[from] LocationError),
    #[error("{0}")]
    Setting(String),
    #[error("failed to set up the built-in project: {0}")]
    Embedded(io::Error),
    #[error("failed to start: {0}")]
    Start(io::Error),
    #[error("no project found here: use --project-root or set MCPBASH_PROJECT_ROOT")]
    NoProject,
    #[error("--filter is no folder below the tools of the project: {}", .0.display())]
    Filter(PathBuf),
    #[error("failed to look at {}: {source}", file.display())]
    Provider { file: PathBuf, source: io::Error },
    #[error("failed to write the log to {}: {source}", path.display())]
    LogFile { path: PathBuf, source: io::Error },
    #[error("failed to ask: {0}")]
    Ask(io::Error),
    #[error("the demo failed: {0}")]
    Demo(String),
}

impl Error {
    /// 2 for what the person who called us can mend by calling us differently, 1 for the rest.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::LogFile { .. }
            | Self::Location(_)
            | Self::Setting(_)
            | Self::NoProject
            | Self::Filter(_)
            | Self::Provider { .. } => ExitCode::from(2),
            Self::Embedded(_) | Self::Start(_) | Self::Ask(_) | Self::Demo(_) => ExitCode::FAILURE,
        }
    }
}
