//! Outcome: how a process ended and what it printed, or why it was not started.

use crate::cgroup;
use mcp_bash_budget::{Charge, NoRoom};
use rustix::process::Signal;
use std::path::PathBuf;
use thiserror::Error;

/// The timeout that a process has exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overrun {
    /// [`TimeLimits::limit`](crate::TimeLimits::limit), without [`TimeLimits::most`](crate::TimeLimits::most).
    Fixed,
    /// [`TimeLimits::limit`](crate::TimeLimits::limit), since its last line on the side channel.
    Idle,
    /// [`TimeLimits::most`](crate::TimeLimits::most).
    Most,
}

/// How a process ended, or why the runner terminated it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEnding {
    Exited(i32),
    /// By a signal that the runner did not send.
    Signalled(i32),
    TimedOut(Overrun),
    Cancelled,
    /// The runner terminated it with all others ([`Runner::end_all`](crate::Runner::end_all)).
    Shutdown,
    /// It wrote more than [`Invocation::output_limit`](crate::Invocation::output_limit).
    OutputTooLarge,
    /// The budget had no room for its output.
    NoRoom(NoRoom),
}

impl ProcessEnding {
    /// Whether the signal terminated it or a child of it: a shell reports the latter as exit code 128 + signal.
    pub(crate) fn is_by(self, signal: Signal) -> bool {
        match self {
            Self::Signalled(number) => number == signal.as_raw(),
            Self::Exited(code) => code == 128 + signal.as_raw(),
            _ => false,
        }
    }

    /// Whether it was killed, probably by the kernel for lack of memory. Call it when the process has just ended.
    pub fn is_for_want_of_memory(self) -> bool {
        self.is_by(Signal::KILL) && cgroup::memory_ran_out()
    }
}

#[derive(Debug)]
pub struct Outcome {
    pub ending: ProcessEnding,
    pub stdout: Vec<u8>,
    /// The charge for `stdout`, if that is large.
    pub held: Charge,
    /// Whether it was killed, probably by the kernel for lack of memory.
    pub memory_ran_out: bool,
    /// The end of standard error, at most [`Invocation::error_tail`](crate::Invocation::error_tail) bytes.
    pub stderr: Vec<u8>,
}

#[derive(Debug, Error)]
pub enum StartError {
    #[error("failed to start {program}: {source}")]
    Spawn { program: PathBuf, source: std::io::Error },
    #[error("failed to prepare the side channel: {0}")]
    SideChannel(std::io::Error),
    #[error("failed to prepare for questions: {0}")]
    Questions(std::io::Error),
    /// A restriction that it must start under is not available.
    #[error("{0}")]
    Confinement(String),
}
