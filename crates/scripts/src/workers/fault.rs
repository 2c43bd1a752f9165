//! Why a worker has ended, or could not begin, in words for whoever called it.

use mcp_bash_project::WorkerProgram;
use mcp_bash_project::trust::Distrust;
use mcp_bash_runner::{FrameFault, ProcessEnding};
use std::time::Duration;
use thiserror::Error;

/// The messages complete "its worker ...".
#[derive(Debug, Error)]
pub(super) enum Why {
    /// It ended by itself.
    #[error("{}", ended(*.0))]
    Ended(ProcessEnding),
    #[error("{0}, and was ended")]
    Frames(FrameFault),
    /// It wrote what is no frame, or one about a call that is not open.
    #[error("{0}, and was ended")]
    Rubbish(String),
    #[error("does not read its standard input any more, and was ended")]
    Deaf,
    #[error(
        "needed {used} MB in the call, more than twice the {limit} MB that it may keep, and was ended; {}, or \
         MCPBASH_WORKER_MEMORY_MB, gives it more", .program.place_of_option("memoryMb")
    )]
    Memory { used: u64, limit: u64, program: WorkerProgram },
    #[error("did not heed a cancellation within a second, and was ended")]
    Unheeding,
    #[error("was not ready within {} s, and was ended; MCPBASH_WORKER_START_SECS gives it more", .0.as_secs())]
    NotReady(Duration),
    /// It says itself why it cannot serve.
    #[error("cannot serve: {0}")]
    Failed(String),
    #[error("could not be started: {0}")]
    NotStarted(String),
    /// Others could have written what it has loaded.
    #[error("has loaded what others may have written, and was ended: {0}")]
    Distrusted(Distrust),
    #[error("was ended with the server")]
    ServerEnds,
}

/// How a worker ended, with the end of what it wrote to standard error.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) why: Why,
    /// Nothing where it cannot be known which call it belongs to.
    pub(super) errors: String,
    /// The worker had not read the call.
    pub(super) is_unread: bool,
}

impl Fault {
    pub(super) fn new(why: Why) -> Self {
        Self { why, errors: String::new(), is_unread: false }
    }

    /// What whoever called is told.
    pub(super) fn told(&self) -> String {
        let when = if matches!(self.why, Why::Ended(_)) { " before it had answered" } else { "" };
        match self.errors.trim() {
            "" => format!("{}{when}", self.why),
            errors => format!("{}{when}. The end of its standard error:\n{errors}", self.why),
        }
    }
}

fn ended(ending: ProcessEnding) -> String {
    match ending {
        ProcessEnding::Exited(code) => format!("exited with code {code}"),
        ProcessEnding::Signalled(signal) => format!("was ended by signal {signal}"),
        _ => "was ended".to_owned(),
    }
}
