//! Outcome: how a script ended, and what it wrote, the same for every way of running one.

use crate::confining::denial::Denial;
use crate::running::call_files::CallFiles;
use mcp_bash_budget::{Budget, Charge};
use mcp_bash_project::{Tool, excerpt};
use mcp_bash_runner::{ProcessEnding, signal_name};
use std::borrow::Cow;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// A result of the method that was called.
    Result,
    /// A JSON-RPC error.
    Error,
}

pub struct Outcome {
    pub ending: ProcessEnding,
    pub stdout: Vec<u8>,
    /// The end of standard error, up to the limit.
    pub stderr: Vec<u8>,
    /// Whether it was probably killed by the kernel for lack of memory.
    memory_ran_out: bool,
    /// The charge for standard output, if that is large.
    pub held: Charge,
    /// The files that it could leave besides its output, if it had a folder for them. Dropping this value removes them.
    files: Option<CallFiles>,
    /// The probable denial of its sandbox, if it failed.
    pub denial: Option<Denial>,
    /// The last traced command, if commands are traced.
    pub last_command: Option<String>,
    /// The host where it ran, as the text of a JSON object, if that was another one.
    pub launcher: Option<String>,
    /// If a worker answered, what standard output holds: the text of its result, or of a JSON-RPC error.
    pub worker_answer: Option<AnswerKind>,
}

impl From<mcp_bash_runner::Outcome> for Outcome {
    fn from(outcome: mcp_bash_runner::Outcome) -> Self {
        let mcp_bash_runner::Outcome { ending, stdout, held, memory_ran_out, stderr } = outcome;
        let (files, denial, last_command, launcher, worker_answer) = (None, None, None, None, None);
        Self {
            ending,
            stdout,
            stderr,
            memory_ran_out,
            held,
            files,
            denial,
            last_command,
            launcher,
            worker_answer,
        }
    }
}

impl Outcome {
    /// The answer of a worker.
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

    /// Without any output.
    pub(crate) fn of_ending(ending: ProcessEnding, budget: &Arc<Budget>) -> Self {
        Self {
            ending,
            stdout: Vec::new(),
            stderr: Vec::new(),
            memory_ran_out: false,
            held: Charge::nothing(budget),
            files: None,
            denial: None,
            last_command: None,
            launcher: None,
            worker_answer: None,
        }
    }

    /// Adds the probable denial of its sandbox, according to its output, if it failed.
    pub(crate) fn explained_by(self, explain: impl FnOnce(Option<i32>, &str) -> Option<Denial>) -> Self {
        let has_failed = !matches!(self.ending, ProcessEnding::Exited(0));
        let said = || format!("{}\n{}", self.text(), self.errors());
        let denial = if has_failed { explain(self.exit_code(), &said()) } else { None };
        Self { denial, ..self }
    }

    pub(crate) fn with_denial(self, denial: Option<Denial>) -> Self {
        Self { denial, ..self }
    }

    pub(crate) fn with_files(self, files: CallFiles) -> Self {
        Self { files: Some(files), ..self }
    }

    pub(crate) fn with_last_command(self, last_command: Option<String>) -> Self {
        Self { last_command, ..self }
    }

    pub(crate) fn with_launcher(self, launcher: Option<String>) -> Self {
        Self { launcher, ..self }
    }

    /// Its output as text, with replacement characters for invalid UTF-8.
    pub fn text(&self) -> Cow<'_, str> {
        text_of(&self.stdout)
    }

    /// The end of its standard error as text.
    pub fn errors(&self) -> Cow<'_, str> {
        text_of(&self.stderr)
    }

    /// Its output as text. The charge for it is released.
    pub fn into_text(self) -> String {
        String::from_utf8(self.stdout)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// The exit code as a shell reports it. `None` if the runner terminated it, or if a worker answered.
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

    /// How it failed, to follow its name: `failed (exit 3)`, `was ended by SIGKILL (9)`.
    pub fn failure(&self) -> String {
        let guess = if self.memory_ran_out { "; it probably ran out of memory" } else { "" };
        match self.ending {
            ProcessEnding::Signalled(signal) => format!("was ended by {}{guess}", signal_name(signal)),
            _ => format!("failed (exit {}){guess}", self.exit_code().unwrap_or_default()),
        }
    }

    /// Whether the way it ended explains more than its output: it was terminated by a signal, or memory ran out.
    pub fn ended_by_force(&self) -> bool {
        matches!(self.ending, ProcessEnding::Signalled(_)) || self.memory_ran_out
    }

    /// Whether this outcome is an answer of the tool: it exited with a code that is not a failure.
    pub fn answers(&self, tool: &Tool) -> bool {
        matches!(self.ending, ProcessEnding::Exited(code) if tool.has_answered(code))
    }

    /// The exit status, as in the standard library. `None` if the runner terminated it.
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

    /// The error that it left (`MCP_TOOL_ERROR_FILE`).
    pub fn own_error(&self) -> Option<String> {
        self.files.as_ref()?.own_error()
    }

    /// The folder of its call, if it has one.
    pub fn call_folder(&self) -> Option<&Path> {
        self.files.as_ref().map(|files| files.folder().path())
    }

    /// The list of files that it left (`MCP_TOOL_RESOURCES_FILE`), or why it cannot be read.
    pub fn list_of_resources(&self) -> io::Result<Option<String>> {
        self.files.as_ref().map_or(Ok(None), CallFiles::list_of_resources)
    }

    /// An excerpt of its standard error, or of its standard output if that is empty.
    pub(crate) fn said(&self) -> String {
        let errors = self.errors();
        excerpt(if errors.trim().is_empty() { self.text() } else { errors }.as_ref())
    }
}

fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    // The check alone is many times faster than the conversion, which is hardly ever needed.
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}
