//! How a script ended, and what it left: the same for every way of running one.

use crate::running::call_files::CallFiles;
use mcp_bash_budget::{Budget, Charge};
use mcp_bash_project::{Tool, excerpt};
use mcp_bash_runner::{ProcessEnding, signal_name};
use std::borrow::Cow;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// A result, as the method that was asked for has it.
    Result,
    /// A JSON-RPC error.
    Error,
}

pub struct Outcome {
    pub ending: ProcessEnding,
    pub stdout: Vec<u8>,
    /// The end of standard error, as much as is kept.
    pub stderr: Vec<u8>,
    /// Whether it was killed, and the kernel has probably done that for want of memory.
    memory_ran_out: bool,
    /// What standard output costs, where it is large.
    pub held: Charge,
    /// What it could leave beside its output, where it had a place to. It vanishes with this value.
    files: Option<CallFiles>,
    /// The last command that was recorded, where commands are.
    pub last_command: Option<String>,
    /// Where a worker has answered, what standard output holds: the text of its result, or of a JSON-RPC error.
    pub worker_answer: Option<AnswerKind>,
}

impl From<mcp_bash_runner::Outcome> for Outcome {
    fn from(outcome: mcp_bash_runner::Outcome) -> Self {
        let mcp_bash_runner::Outcome { ending, stdout, held, memory_ran_out, stderr } = outcome;
        let (files, last_command, worker_answer) = (None, None, None);
        Self { ending, stdout, stderr, memory_ran_out, held, files, last_command, worker_answer }
    }
}

impl Outcome {
    /// A worker has answered.
    pub(crate) fn of_worker(
        kind: AnswerKind,
        text: Vec<u8>,
        held: Option<Charge>,
        budget: &Arc<Budget>,
    ) -> Self {
        Self {
            stdout: text,
            held: held.unwrap_or_else(|| Charge::nothing(budget)),
            worker_answer: Some(kind),
            ..Self::of_ending(ProcessEnding::Exited(0), budget)
        }
    }

    /// Nothing was said.
    pub(crate) fn of_ending(ending: ProcessEnding, budget: &Arc<Budget>) -> Self {
        Self {
            ending,
            stdout: Vec::new(),
            stderr: Vec::new(),
            memory_ran_out: false,
            held: Charge::nothing(budget),
            files: None,
            last_command: None,
            worker_answer: None,
        }
    }

    pub(crate) fn with_files(self, files: CallFiles) -> Self {
        Self { files: Some(files), ..self }
    }

    pub(crate) fn with_last_command(self, last_command: Option<String>) -> Self {
        Self { last_command, ..self }
    }

    /// What it printed as text, with a mark in the place of what is no UTF-8.
    pub fn text(&self) -> Cow<'_, str> {
        text_of(&self.stdout)
    }

    /// The end of its standard error as text.
    pub fn errors(&self) -> Cow<'_, str> {
        text_of(&self.stderr)
    }

    /// What it printed as text, which is not charged any more.
    pub fn into_text(self) -> String {
        String::from_utf8(self.stdout)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// The exit code as a shell has it. None where it did not end by itself, as a worker does not that has answered.
    pub fn exit_code(&self) -> Option<i32> {
        match self.ending {
            _ if self.worker_answer.is_some() => None,
            ProcessEnding::Exited(code) => Some(code),
            ProcessEnding::Signalled(signal) => Some(128 + signal),
            ProcessEnding::TimedOut(_)
            | ProcessEnding::Cancelled
            | ProcessEnding::Shutdown
            | ProcessEnding::OutputTooLarge
            | ProcessEnding::NoRoom(_) => None,
        }
    }

    /// How it failed, in words that follow its name: `failed (exit 3)`, `was ended by SIGKILL (9)`.
    pub fn failure(&self) -> String {
        let guess = if self.memory_ran_out { "; it probably ran out of memory" } else { "" };
        match self.ending {
            ProcessEnding::Signalled(signal) => format!("was ended by {}{guess}", signal_name(signal)),
            _ => format!("failed (exit {}){guess}", self.exit_code().unwrap_or_default()),
        }
    }

    /// Whether how it failed says more than what it printed: a signal ended it, or its memory ran out.
    pub fn ended_by_force(&self) -> bool {
        matches!(self.ending, ProcessEnding::Signalled(_)) || self.memory_ran_out
    }

    /// Whether a call of the tool that ended so has answered: it exited, with a code that means no failure.
    pub fn answers(&self, tool: &Tool) -> bool {
        matches!(self.ending, ProcessEnding::Exited(code) if tool.has_answered(code))
    }

    /// How it ended as the standard library has it. None where it did not end by itself.
    pub fn exit_status(&self) -> Option<ExitStatus> {
        match self.ending {
            ProcessEnding::Exited(code) => Some(ExitStatus::from_raw((code & 0xff) << 8)),
            ProcessEnding::Signalled(signal) => Some(ExitStatus::from_raw(signal)),
            ProcessEnding::TimedOut(_)
            | ProcessEnding::Cancelled
            | ProcessEnding::Shutdown
            | ProcessEnding::OutputTooLarge
            | ProcessEnding::NoRoom(_) => None,
        }
    }

    /// What it left where errors are (`MCP_TOOL_ERROR_FILE`).
    pub fn own_error(&self) -> Option<String> {
        self.files.as_ref()?.own_error()
    }

    /// What it left where it names files (`MCP_TOOL_RESOURCES_FILE`); or why that cannot be read.
    pub fn list_of_resources(&self) -> io::Result<Option<String>> {
        self.files.as_ref().map_or(Ok(None), CallFiles::list_of_resources)
    }

    /// The beginning of what it printed: of its errors, or of the rest where there are none.
    pub(crate) fn said(&self) -> String {
        let errors = self.errors();
        excerpt(if errors.trim().is_empty() { self.text() } else { errors }.as_ref())
    }
}

fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    // The check alone is many times faster than the repair, which is hardly ever needed.
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}
