//! Fake child for tests: a [`Runner`](crate::Runner) that starts no process. For each invocation a function of the test
//! returns a list of deeds, which the fake process performs in order.
//!
//! Only the process is fake. It is supervised by the same code as a real one, so timeouts, output limits, budgets,
//! cancellation and questions are the real ones. It waits by the clock of the runtime alone and uses no file
//! descriptors: with paused time (`tokio::time::pause`) nothing takes time.

mod connections;
mod deeds;
mod process;
#[cfg(test)]
mod tests;

use crate::supervise::Supervised;
use crate::{Input, Invocation, ProcessEnding, StartError, Variables};
use connections::{Connections, FakeLines, FakePipe, FakeQuestions};
use mcp_bash_sandbox::Confinement;
use parking_lot::{Mutex, MutexGuard};
use process::FakeProcess;
use rustix::process::Signal;
use std::ffi::OsString;
use std::fmt;
use std::future::Ready;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// One thing that a fake process does. When it has done all of them, it exits with code 0.
#[derive(Debug, Clone)]
pub enum Deed {
    /// Writes to standard output.
    Print(Vec<u8>),
    /// Writes to standard error.
    PrintError(Vec<u8>),
    /// Writes a line, given without its newline, to the side channel. Panics if the invocation has none.
    WriteLine(Vec<u8>),
    /// Asks a question through the socket and waits until it is answered, as [`ChildRecord::answers`] shows. Panics if
    /// the process may not ask.
    Ask(Vec<u8>),
    Wait(Duration),
    /// Waits until the test calls `notify_one`, which it may have done before.
    WaitFor(Arc<Notify>),
    /// `TERM` has no effect from now on, as after `trap '' TERM`.
    IgnoreTermination,
    /// `TERM` ends the process from now on, as it does initially.
    HonourTermination,
    Exit(i32),
    /// Ends by a signal of this number.
    DieBy(i32),
}

/// What a fake process was started with.
#[derive(Debug, Clone)]
pub struct StartedWith {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub directory: PathBuf,
    /// As in the invocation: without the variables for side channel and questions, which the runner adds.
    pub environment: Variables,
    /// The whole standard input.
    pub input: Vec<u8>,
    pub confinement: Confinement,
    pub has_side_channel: bool,
    pub may_ask: bool,
}

/// The current state of one fake process.
#[derive(Debug, Clone)]
pub struct ChildRecord {
    pub started_with: StartedWith,
    /// The answers to its questions so far, `None` for one that was dropped without an answer.
    pub answers: Vec<Option<Vec<u8>>>,
    /// How the process itself ended: `Exited` or `Signalled`. `None` while it runs.
    pub ending: Option<ProcessEnding>,
}

type Script = dyn Fn(&StartedWith) -> Vec<Deed> + Send + Sync;

/// The fake processes of a runner, and what they are to do.
#[derive(Clone)]
pub struct FakeChildren {
    script: Arc<Script>,
    children: Arc<Mutex<Vec<Arc<FakeChild>>>>,
}

impl FakeChildren {
    /// `script` is called for each invocation, and says what its process does.
    pub fn new(script: impl Fn(&StartedWith) -> Vec<Deed> + Send + Sync + 'static) -> Self {
        Self { script: Arc::new(script), children: Arc::default() }
    }

    /// All processes that were started, in order.
    pub fn records(&self) -> Vec<ChildRecord> {
        self.children.lock().iter().map(|child| child.record().clone()).collect()
    }

    pub(crate) fn start(
        &self,
        invocation: Invocation<'_>,
        runner_has_ended: &AtomicBool,
    ) -> Result<Supervised<FakeProcess, Ready<()>, FakePipe, FakeLines, FakeQuestions>, StartError> {
        if runner_has_ended.load(Ordering::Acquire) {
            let source = io::Error::other("the server is ending");
            return Err(StartError::Spawn { program: invocation.program, source });
        }
        let budget = Arc::clone(&invocation.budget);
        let started_with = StartedWith::of(invocation)?;
        let deeds = (self.script)(&started_with);
        let (connections, ends) = Connections::new(&started_with, budget);
        let child = Arc::new(FakeChild::new(started_with));
        self.children.lock().push(Arc::clone(&child));
        let (output, errors, lines, questions) = ends;
        let process = FakeProcess::start(child, deeds, connections);
        Ok(Supervised { process, feeding: std::future::ready(()), output, errors, lines, questions })
    }

    /// Terminates all processes: by `TERM`, or by `KILL` if that is ignored. Nothing takes time here, so there is no
    /// grace.
    pub(crate) fn end_all(&self) {
        for child in self.children.lock().iter() {
            if !child.signal(Signal::TERM) {
                child.signal(Signal::KILL);
            }
        }
    }
}

impl fmt::Debug for FakeChildren {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FakeChildren").field("children", &self.children).finish_non_exhaustive()
    }
}

impl StartedWith {
    fn of(invocation: Invocation<'_>) -> Result<Self, StartError> {
        let input = match invocation.input {
            Input::Bytes(bytes) => Ok(bytes.to_vec()),
            Input::File(mut file) => rest_of(&mut file),
        };
        let program = invocation.program;
        let input = input.map_err(|source| StartError::Spawn { program: program.clone(), source })?;
        Ok(Self {
            program,
            arguments: invocation.arguments,
            directory: invocation.directory,
            environment: invocation.environment,
            input,
            confinement: invocation.confinement,
            has_side_channel: invocation.talk.is_some_and(|talk| !talk.side_channel.is_empty()),
            may_ask: invocation.talk.is_some_and(|talk| talk.questions.is_some()),
        })
    }
}

fn rest_of(file: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The state of a fake process that the test, the runner and the process itself share.
#[derive(Debug)]
struct FakeChild {
    record: Mutex<ChildRecord>,
    /// The signal that ends it.
    fatal: watch::Sender<Option<Signal>>,
    ignores_termination: Mutex<bool>,
}

impl FakeChild {
    fn new(started_with: StartedWith) -> Self {
        Self {
            record: Mutex::new(ChildRecord { started_with, answers: Vec::new(), ending: None }),
            fatal: watch::Sender::new(None),
            ignores_termination: Mutex::new(false),
        }
    }

    /// Sends a signal. False if it is ignored.
    fn signal(&self, signal: Signal) -> bool {
        let ignores = self.ignores_termination.lock();
        let is_ignored = signal == Signal::TERM && *ignores;
        if !is_ignored {
            self.fatal.send_replace(Some(signal));
        }
        !is_ignored
    }

    fn ignore_termination(&self, ignore: bool) {
        *self.ignores_termination.lock() = ignore;
    }

    /// Completes with a signal that ends the process.
    async fn killed(&self) -> ProcessEnding {
        let mut fatal = self.fatal.subscribe();
        match fatal.wait_for(Option::is_some).await.map(|signal| *signal) {
            Ok(Some(signal)) => ProcessEnding::Signalled(signal.as_raw()),
            // The sender is ours, so it is not dropped.
            _ => std::future::pending().await,
        }
    }

    fn record(&self) -> MutexGuard<'_, ChildRecord> {
        self.record.lock()
    }
}
