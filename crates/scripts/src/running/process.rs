//! The one place where the invocation of a process is put together.

use mcp_bash_budget::Budget;
use mcp_bash_project::trust::Start;
use mcp_bash_runner::{Confinement, Input, Invocation, Patience, Talk, Variables};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long a process may take, and how much it may print.
#[derive(Debug, Clone, Copy)]
pub struct Limits<'a> {
    pub patience: Patience,
    /// How much standard output it may produce, in bytes; more ends it.
    pub output: usize,
    /// How much of the end of its standard error is kept.
    pub error_tail: usize,
    /// What its output and its questions are charged to while they are held.
    pub budget: &'a Arc<Budget>,
}

/// A process of a project that is about to be run.
pub(crate) struct Process<'a> {
    pub(crate) start: Start,
    /// What it is started with, after what its interpreter needs.
    pub(crate) words: Vec<OsString>,
    pub(crate) directory: &'a Path,
    /// The whole environment.
    pub(crate) environment: Variables,
    pub(crate) input: Input<'a>,
    pub(crate) limits: Limits<'a>,
    /// How long it may take to end when it is told to.
    pub(crate) grace: Duration,
    /// Where it can talk to us while it runs.
    pub(crate) talk: Option<Talk<'a>>,
}

impl<'a> From<Process<'a>> for Invocation<'a> {
    fn from(process: Process<'a>) -> Self {
        let Start { program, mut arguments } = process.start;
        arguments.extend(process.words);
        Self {
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
            confinement: Confinement::default(),
        }
    }
}
