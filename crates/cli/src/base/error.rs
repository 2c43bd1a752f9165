//! Errors before a client is connected.

use crate::base::exit::Exit;
use mcp_bash_project::{LocationError, no_project};
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
    #[error("failed to start: {source}{}", remedy(source))]
    Start { source: io::Error },
    #[error(
        "failed to start: only {0} files may be open at once; run `ulimit -n 256` before, {LEAST_FILES} are the least"
    )]
    FewFiles(u64),
    #[error(
        "/proc/self/exe cannot be read; the server starts its own processes by it, and finds those that scripts leave behind in \
         /proc: mount the proc file system (`mount -t proc proc /proc`), or let the sandbox or container have /proc"
    )]
    NoProc,
    #[error(
        "/dev/null cannot be used: {problem}; it is the input of processes that get none: make it (`mkdir -p /dev` and \
         `mknod -m 666 /dev/null c 1 3`), or let the sandbox or container have /dev"
    )]
    NoNullDevice { problem: String },
    /// Several things that a server needs.
    #[error("this system lacks what a server needs:{}", listed(.0))]
    Missing(Vec<Error>),
    #[error(
        "temporary files cannot be made in {}: {problem}; set {setting} to a folder that you may write to and that has room",
        folder.display()
    )]
    Temporary { folder: PathBuf, problem: String, setting: &'static str },
    #[error("{}", no_project(std::env::current_dir().ok().as_deref()))]
    NoProject,
    #[error("{named_by} is no folder below the tools, resources or prompts of the project: {}", path.display())]
    Filter { path: PathBuf, named_by: &'static str },
    #[error("failed to read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("failed to write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("failed to look at {}: {source}", file.display())]
    Provider { file: PathBuf, source: io::Error },
    #[error("failed to write the log to {}: {source}", path.display())]
    LogFile { path: PathBuf, source: io::Error },
    #[error(
        "`{}` is neither a folder to serve nor a command{}; `mcp-bash --help` lists the commands",
        word.display(), meant(suggestion.as_deref())
    )]
    NeitherFolderNorCommand { word: PathBuf, suggestion: Option<String> },
    #[error("there is no command `{name}`{}; `mcp-bash --help` lists the commands", meant(suggestion.as_deref()))]
    NoCommand { name: String, suggestion: Option<String> },
    #[error("there is no folder {}", .0.display())]
    NoFolder(PathBuf),
    #[error("a command takes the folder after it: `mcp-bash {command} --project-root {}`", folder.display())]
    FolderBeforeCommand { folder: PathBuf, command: &'static str },
    #[error(
        "the demo shows the built-in project, and takes no --project-root; `mcp-bash DIR` serves a folder"
    )]
    DemoOfFolder,
    #[error("failed to ask: {0}")]
    Ask(io::Error),
    #[error("the demo failed: {0}")]
    Demo(String),
    /// An error that prevents a server from starting while a client waits on standard input and output.
    #[error(transparent)]
    Serving(Box<Error>),
    /// An error of one command.
    #[error("{error}")]
    Command { exit: Exit, error: Box<dyn std::error::Error> },
}

/// A list, each error on a line of its own.
fn listed(errors: &[Error]) -> String {
    errors.iter().flat_map(|error| ["\n- ".to_owned(), error.to_string()]).collect()
}

impl Error {
    /// An error of one command, which is shown with its own message.
    pub(crate) fn of_command(exit: Exit, error: impl Into<Box<dyn std::error::Error>>) -> Self {
        Self::Command { exit, error: error.into() }
    }

    /// Whether a client may be waiting for the answer to its first request.
    pub(crate) fn keeps_a_client_waiting(&self) -> bool {
        matches!(self, Self::Serving(_) | Self::NeitherFolderNorCommand { .. })
    }

    /// 2 for a mistake in how the user called us, 1 for the rest.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::LogFile { .. }
            | Self::Location(_)
            | Self::Setting(_)
            | Self::FewFiles(_)
            | Self::NoProject
            | Self::NeitherFolderNorCommand { .. }
            | Self::NoFolder(_)
            | Self::FolderBeforeCommand { .. }
            | Self::DemoOfFolder
            | Self::Filter { .. }
            | Self::Provider { .. } => Exit::Usage.into(),
            Self::NoCommand { .. } => Exit::NotFound.into(),
            Self::Embedded(_)
            | Self::Read { .. }
            | Self::Write { .. }
            | Self::Start { .. }
            | Self::NoProc
            | Self::NoNullDevice { .. }
            | Self::Missing(_)
            | Self::Temporary { .. }
            | Self::Ask(_)
            | Self::Demo(_) => Exit::Failed.into(),
            Self::Serving(error) => error.exit_code(),
            Self::Command { exit, .. } => (*exit).into(),
        }
    }
}

/// The part of an error message that suggests a name.
pub(crate) fn meant(suggestion: Option<&str>) -> String {
    suggestion.map(|name| format!(", did you mean `{name}`?")).unwrap_or_default()
}

/// With fewer, no call could be served: a server has some twenty open for itself, and a call up to ten.
pub(crate) const LEAST_FILES: u64 = 64;

/// The fix if the system has no threads or processes left for us.
fn remedy(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::WouldBlock {
        " (too many processes of this user; `ulimit -u` says how many there may be)"
    } else {
        ""
    }
}
