//! Test errors: what prevents tests from being run at all.

use crate::base::error::Error;
use crate::base::exit::Exit;
use std::io;
use std::path::PathBuf;
use thiserror::Error as ThisError;

/// The messages complete "mcp-bash: ...".
#[derive(Debug, ThisError)]
pub(super) enum TestError {
    #[error("{}", problems.join("\nmcp-bash: "))]
    CaseFiles { problems: Vec<String> },
    #[error("no test matches `{pattern}`; {remedy}")]
    NothingMatches { pattern: String, remedy: String },
    #[error(
        "`--update` shows each change and asks, and there is no terminal to ask at; `--update --yes` records them all"
    )]
    NobodyToAsk,
    #[error(
        "`--junit -` and `--json` both are for standard output: give one of them a file, `--junit report.xml`"
    )]
    TwoReports,
    #[error("failed to write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("failed to make a temporary folder: {0}")]
    TemporaryFolder(io::Error),
    #[error("failed to look for changes: {0}")]
    Watch(io::Error),
    #[error("interrupted")]
    Interrupted,
    #[error("{0}")]
    NoServer(String),
    #[error("there is no {file} yet; `mcp-bash test --contract --update` records what clients see now")]
    NoContract { file: String },
    #[error("{file} cannot be used: {problem}; `mcp-bash test --contract --update` records it anew")]
    BadContract { file: String, problem: String },
    #[error("{0}")]
    Print(io::Error),
}

impl TestError {
    fn exit(&self) -> Exit {
        match self {
            Self::CaseFiles { .. } | Self::NobodyToAsk | Self::TwoReports | Self::BadContract { .. } => {
                Exit::Usage
            }
            Self::NothingMatches { .. } => Exit::NotFound,
            Self::Interrupted => Exit::Interrupted,
            Self::NoServer(_) => Exit::NoServer,
            Self::Write { .. }
            | Self::TemporaryFolder(_)
            | Self::Watch(_)
            | Self::NoContract { .. }
            | Self::Print(_) => Exit::Failed,
        }
    }
}

impl From<TestError> for Error {
    fn from(error: TestError) -> Self {
        Self::of_command(error.exit(), error)
    }
}
