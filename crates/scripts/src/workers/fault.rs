//! Worker faults: why a worker ended, or failed to start: as our message for every reader, and with the worker's own message
//! for the affected caller.

use super::frame::NoFrame;
use crate::running::unanswered::tells_of_shortage;
use mcp_bash_project::WorkerProgram;
use mcp_bash_project::trust::Distrust;
use mcp_bash_runner::{FrameFault, ProcessEnding, signal_name};
use std::time::Duration;
use thiserror::Error;

/// The messages complete "its worker ...". They contain no output of the worker: the operator reads them, and so does every
/// caller of the worker.
#[derive(Debug, Error)]
pub(super) enum Why {
    /// It exited by itself.
    #[error("{}", ended(*.0))]
    Ended(ProcessEnding),
    #[error("{}; it probably ran out of memory", ended(*.0))]
    OutOfMemory(ProcessEnding),
    #[error("{0}, and was ended")]
    Frames(FrameFault),
    #[error("wrote a line of {bytes} bytes to descriptor 3 that is {problem}, and was ended")]
    NoFrame { bytes: usize, problem: NoFrame },
    #[error("wrote of call {0}, which it was not given, and was ended")]
    UnknownCall(u64),
    #[error("wrote of a call before it was ready, and was ended")]
    Early,
    #[error("does not read its standard input any more, and was ended")]
    InputClosed,
    #[error(
        "needed {used} MB in the call, more than twice the {limit} MB that it may keep, and was ended; {}, or \
         MCPBASH_WORKER_MEMORY_MB, gives it more", .program.place_of_option("memoryMb")
    )]
    Memory { used: u64, limit: u64, program: WorkerProgram },
    #[error("ignored a cancellation for a second, and was ended")]
    IgnoredCancellation,
    #[error("was not ready within {} s, and was ended; MCPBASH_WORKER_START_SECS gives it more", .0.as_secs())]
    NotReady(Duration),
    /// It reported that it cannot serve, and why.
    #[error("cannot serve")]
    Failed,
    #[error("could not be started: {why}")]
    NotStarted { why: String, passes: bool },
    /// It is not trusted: another user could have written a file that it has loaded.
    #[error("has loaded what others may have written, and was ended: {0}")]
    Distrusted(Distrust),
    /// None of the workers that were started for a call could take it.
    #[error("was replaced each time before it could take the call: files that it has loaded keep changing")]
    NeverCurrent,
    #[error("was stopped because the server is shutting down")]
    ServerEnds,
}

impl Why {
    /// To be called right after the worker has exited.
    pub(super) fn ended(ending: ProcessEnding) -> Self {
        if ending.is_for_want_of_memory() { Self::OutOfMemory(ending) } else { Self::Ended(ending) }
    }

    /// Whether a worker that failed to start for this reason, with this output, may become ready at the next attempt.
    pub(super) fn passes(&self, said: &str) -> bool {
        match self {
            Self::Ended(ProcessEnding::Signalled(_)) | Self::OutOfMemory(_) | Self::NotReady(_) => true,
            Self::NotStarted { passes, .. } => *passes,
            _ => tells_of_shortage(said),
        }
    }
}

/// The failure of a worker.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) why: Why,
    /// The worker's own message about why it cannot serve, or the end of its standard error. Empty if that may be about a call
    /// other than the reader's.
    pub(super) said: String,
    /// Whether the worker had not read the call.
    pub(super) is_unread: bool,
}

impl Fault {
    pub(super) fn new(why: Why) -> Self {
        Self { why, said: String::new(), is_unread: false }
    }

    /// The message for every reader.
    pub(super) fn kind(&self) -> String {
        let when = if matches!(self.why, Why::Ended(_)) { " before it had answered" } else { "" };
        format!("{}{when}", self.why)
    }

    /// The message for the caller.
    pub(super) fn told(&self) -> String {
        match (self.said.trim(), &self.why) {
            ("", _) => self.kind(),
            (said, Why::Failed) => format!("{}: {said}", self.kind()),
            (said, _) => format!("{}. The end of its standard error:\n{said}", self.kind()),
        }
    }
}

fn ended(ending: ProcessEnding) -> String {
    match ending {
        ProcessEnding::Exited(code) => format!("exited with code {code}"),
        ProcessEnding::Signalled(signal) => format!("was ended by {}", signal_name(signal)),
        _ => "was ended".to_owned(),
    }
}
