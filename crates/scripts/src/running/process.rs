//! Process invocation: the only place where one is built.

use crate::confining::confined::Confined;
use mcp_bash_budget::Budget;
use mcp_bash_project::trust::Start;
use mcp_bash_runner::{Input, Invocation, Talk, TimeLimits, Variables};
use mcp_bash_sandbox::Confinement;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The timeout of a process, and the limits of its output.
#[derive(Debug, Clone, Copy)]
pub struct Limits<'a> {
    pub patience: TimeLimits,
    /// The limit of its standard output, in bytes; a process that exceeds it is terminated.
    pub output: usize,
    /// How much of the end of its standard error is kept.
    pub error_tail: usize,
    /// The budget that its output and its questions are charged to while they are held.
    pub budget: &'a Arc<Budget>,
}

/// A process of a project that is about to be run.
pub(crate) struct Process<'a> {
    pub(crate) start: Start,
    /// Its arguments, after those of its interpreter.
    pub(crate) words: Vec<OsString>,
    pub(crate) directory: &'a Path,
    /// The whole environment.
    pub(crate) environment: Variables,
    pub(crate) input: Input<'a>,
    pub(crate) limits: Limits<'a>,
    /// The grace period after `TERM`.
    pub(crate) grace: Duration,
    /// Its channels to the server while it runs.
    pub(crate) talk: Option<Talk<'a>>,
    /// What determines its sandbox. `None` for our own programs and those of the operator, which have none.
    pub(crate) sandbox: Option<Confined<'a>>,
}

impl<'a> Process<'a> {
    pub(crate) fn invocation(self, confinement: Confinement) -> Invocation<'a> {
        let process = self;
        let Start { program, mut arguments } = process.start;
        arguments.extend(process.words);
        Invocation {
            program,
            arguments,
            directory: process.directory.to_owned(),
            environment: process.environment,
            input: process.input,
            patience: process.limits.patience,
            grace: process.grace,
            output_limit: process.limits.output,
            budget: Arc::clone(process.limits.budget),
            error_tail: process.limits.error_tail,
            talk: process.talk,
            confinement,
        }
    }
}
