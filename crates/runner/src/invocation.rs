//! Invocation: what to run, and within which limits.

use crate::{CallFolder, Variables};
use mcp_bash_budget::Budget;
use mcp_bash_sandbox::Confinement;
use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// One process to start. Arguments and environment are data: no shell ever reads them.
#[derive(Debug)]
pub struct Invocation<'a> {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub directory: PathBuf,
    /// The whole environment: nothing is inherited.
    pub environment: Variables,
    pub input: Input<'a>,
    pub patience: TimeLimits,
    /// The grace period: how long the process may take to exit after `TERM` before it is killed.
    pub grace: Duration,
    /// How many bytes of standard output the process may write; it is terminated if it writes more.
    pub output_limit: usize,
    /// Output and questions are charged to this budget while they are held. When it has no room for the output, the
    /// process is terminated.
    pub budget: Arc<Budget>,
    /// How many bytes of the end of standard error are kept.
    pub error_tail: usize,
    /// The side channel and the questions of the process. `None` if it has neither.
    pub talk: Option<Talk<'a>>,
    /// The restrictions that the process applies to itself before it runs its program.
    pub confinement: Confinement,
}

/// The channels from a running process to the server.
#[derive(Debug, Clone, Copy)]
pub struct Talk<'a> {
    /// The folder with the pipe of its side channel and the socket for its questions.
    pub folder: &'a CallFolder,
    /// The environment variables that name the side channel. Without any there is none.
    pub side_channel: &'static [&'static str],
    /// The environment variables that tell a process how to ask questions: the socket, the key of its call, the file
    /// for a question and the file for its answer. `None` if it may not ask.
    pub questions: Option<[&'static str; 4]>,
}

/// The whole standard input of a process; after it comes end of file.
#[derive(Debug)]
pub enum Input<'a> {
    Bytes(&'a [u8]),
    /// From the current position of the file on.
    File(File),
}

/// The timeouts of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimits {
    /// The timeout of the whole run; or, with `most`, the longest time without a line on the side channel.
    pub limit: Duration,
    /// If set, each line on the side channel restarts `limit`, and this is the timeout of the whole run.
    pub most: Option<Duration>,
    /// How long in all its time may be paused while its questions wait for answers. This is bounded because the process
    /// can do something else meanwhile.
    pub pause: Duration,
}

impl TimeLimits {
    /// A timeout that nothing extends.
    pub fn fixed(limit: Duration) -> Self {
        Self { limit, most: None, pause: Duration::ZERO }
    }
}
