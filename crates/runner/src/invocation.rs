//! What to run, and what came of it.

use crate::{CallFolder, Variables};
use mcp_bash_budget::{Budget, Charge, NoRoom};
use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// One process to start. Arguments and environment are data: no shell ever reads them.
#[derive(Debug)]
pub struct Invocation<'a> {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub directory: PathBuf,
    /// The whole environment: nothing is inherited.
    pub environment: Variables,
    pub input: Input<'a>,
    pub patience: Patience,
    /// How long a process may take to end after `TERM` before it is killed.
    pub grace: Duration,
    /// How much standard output a call may produce; more ends it.
    pub output_limit: usize,
    /// What its output and its questions are charged to while they are held. A process whose output has no room there is
    /// ended.
    pub budget: Arc<Budget>,
    /// How much of the end of standard error is kept.
    pub error_tail: usize,
    /// Where it can talk to us while it runs. Without it, it cannot.
    pub talk: Option<Talk<'a>>,
}

/// How a process can talk to us while it runs.
#[derive(Debug, Clone, Copy)]
pub struct Talk<'a> {
    /// Where the pipe of its side channel and the socket for its questions stand.
    pub folder: &'a CallFolder,
    /// The environment variables that name the side channel. Without any there is none.
    pub side_channel: &'static [&'static str],
    /// The environment variables that tell a process how to ask questions: the socket, the key of its call, the file for
    /// a question and the file for its answer. Without them it cannot.
    pub questions: Option<[&'static str; 4]>,
}

/// What a process reads on its standard input, before it finds the end.
#[derive(Debug)]
pub enum Input<'a> {
    Bytes(&'a [u8]),
    /// From where it stands in the file.
    File(File),
}

/// How long a process may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// How long it may take in all; or how long it may be silent, if signs of life extend its time.
    pub limit: Duration,
    /// Where a line on the side channel starts the time anew: how long it may take however lively it is.
    pub most: Option<Duration>,
    /// How long in all its time may stand still while its questions wait for answers. It can do something else
    /// meanwhile, so this has an end too.
    pub pause: Duration,
}

impl Patience {
    /// A time that nothing extends.
    pub fn fixed(limit: Duration) -> Self {
        Self { limit, most: None, pause: Duration::ZERO }
    }
}

/// Which bound a process broke that took too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overrun {
    /// Its time, which nothing extends.
    Fixed,
    /// It was silent for too long.
    Idle,
    /// It was lively, but for too long.
    Most,
}

/// How a process came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Exited(i32),
    /// A signal that was not ours.
    Signalled(i32),
    TimedOut(Overrun),
    Cancelled,
    /// It wrote more than it may.
    OutputTooLarge,
    /// There was no room for what it wrote.
    NoRoom(NoRoom),
}

#[derive(Debug)]
pub struct Outcome {
    pub ending: Ending,
    pub stdout: Vec<u8>,
    /// What standard output costs, where it is large.
    pub held: Charge,
    /// The end of standard error, as much as was asked for.
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
}
