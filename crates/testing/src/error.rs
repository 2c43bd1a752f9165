//! Test errors: what prevents tests from being run at all.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// The messages complete "mcp-bash: ...".
#[derive(Debug, Error)]
pub enum TestError {
    #[error("{}", problems.join("\nmcp-bash: "))]
    CaseFiles { problems: Vec<String> },
    #[error("no test matches `{pattern}`; {remedy}")]
    NothingMatches { pattern: String, remedy: String },
    #[error(
        "`--update` shows each change and asks, and there is no terminal to ask at; `--update --yes` records them all"
    )]
    NobodyToAsk,
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
