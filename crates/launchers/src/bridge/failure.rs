//! Failures of a launcher: why there is no exit code of the tool. The messages complete "The launcher of tool 'x' failed: ".

use crate::frames::Garbled;
use std::io;
use std::process::ExitStatus;
use thiserror::Error;

#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error("`{program}` could not be started: {source}")]
    Program { program: String, source: io::Error },
    #[error("`{command}` failed ({}){}", status_words(*status), said(.words))]
    Step { command: String, status: ExitStatus, words: String },
    /// The launcher ended before the supervisor ran.
    #[error("`{program}` did not reach a shell there ({}){}", status_words(*status), said(.words))]
    NotReached { program: String, status: ExitStatus, words: String },
    #[error("the host cannot run it: {0}")]
    Refused(String),
    /// The launcher ended while the tool was running.
    #[error("`{program}` ended before the tool did ({}){}; whether the tool has finished its work is not known", status_words(*status), said(.words))]
    Lost { program: String, status: ExitStatus, words: String },
    #[error(transparent)]
    Garbled(#[from] Garbled),
    #[error("{path} cannot be carried over: {source}")]
    Carry { path: String, source: io::Error },
    #[error("more than {} MB would be carried over; `carry` and the folder of the tool decide it", .0 / 1024 / 1024)]
    TooMuch(usize),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it was cancelled")]
    Cancelled,
}

fn status_words(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, signal) => format!("signal {}", signal.unwrap_or_default()),
    }
}

fn said(words: &str) -> String {
    match words.trim() {
        "" => String::new(),
        words => format!(": {}", mcp_bash_harmless::text(words)),
    }
}
