//! Runner: prepares and starts a process for each invocation, and has it supervised.

use crate::ask::{CallQuestions, FileQuestions};
use crate::calls::RunnerId;
use crate::capture::PipeSource;
#[cfg(any(test, feature = "fake-child"))]
use crate::fake_child::FakeChildren;
use crate::folders::call_folder::CallFolders;
use crate::question::Question;
use crate::running_call::{self, RunningCall};
use crate::side_channel::SideChannel;
use crate::start::{Pipes, prepare};
use crate::supervise::{Bounds, Supervised, supervise};
use crate::{
    CallFolder, Invocation, Outcome, ProcessEnding, StartError, StateDir, Talk, WorkerInvocation,
    WorkerProcess,
};
use mcp_bash_budget::Budget;
use parking_lot::Mutex;
use rustix::process::Signal;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe::Sender;

/// Runs processes, and keeps track of the running calls.
#[derive(Debug)]
pub struct Runner {
    id: RunnerId,
    folders: Arc<CallFolders>,
    /// Started by the first call that may ask questions.
    file_questions: Mutex<Option<Arc<FileQuestions>>>,
    /// Set at shutdown: no more processes are started.
    ended: AtomicBool,
    #[cfg(any(test, feature = "fake-child"))]
    fake_children: Option<FakeChildren>,
}

impl Runner {
    pub fn new(state_dir: Arc<StateDir>) -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        Self {
            id: LAST.fetch_add(1, Ordering::Relaxed),
            folders: Arc::new(CallFolders::new(state_dir)),
            file_questions: Mutex::default(),
            ended: AtomicBool::new(false),
            #[cfg(any(test, feature = "fake-child"))]
            fake_children: None,
        }
    }

    /// A runner that starts no process, and uses the fake `children` instead.
    #[cfg(any(test, feature = "fake-child"))]
    pub fn pretending(state_dir: Arc<StateDir>, children: &FakeChildren) -> Self {
        Self { fake_children: Some(children.clone()), ..Self::new(state_dir) }
    }

    /// A folder for one call, which no other call uses at the same time.
    pub fn folder(&self) -> io::Result<CallFolder> {
        self.folders.take()
    }

    /// Removes the spare call folders.
    pub fn discard_spare_folders(&self) {
        self.folders.discard_spare();
    }

    /// Runs `invocation` to its end, or until `cancelled` completes. `on_line` receives the lines of the side channel
    /// while the process runs, and `on_question` its questions. While a question is open, the deadline is paused, up to
    /// [`TimeLimits::pause`](crate::TimeLimits::pause) in all.
    pub async fn run(
        &self,
        invocation: Invocation<'_>,
        cancelled: impl Future<Output = ()>,
        on_line: impl FnMut(&[u8]),
        on_question: impl FnMut(Question),
    ) -> Result<Outcome, StartError> {
        #[cfg(any(test, feature = "fake-child"))]
        if let Some(children) = &self.fake_children {
            let bounds = Bounds::of(&invocation);
            let supervised = children.start(invocation, &self.ended)?;
            let outcome = supervise(supervised, bounds, cancelled, on_line, on_question).await;
            return Ok(self.judged(outcome));
        }
        let lines = open_side_channel(invocation.talk)?;
        let questions = self.open_questions(invocation.talk, &invocation.budget)?;
        let bounds = Bounds::of(&invocation);
        let program = invocation.program.clone();
        let failed = |source| StartError::Spawn { program, source };
        let started = prepare(invocation, lines.as_ref(), questions.as_ref())
            .and_then(|(launch, pipes)| Ok((RunningCall::start(self.id, launch, None, &self.ended)?, pipes)));
        let (process, Pipes { input, output, errors }) = started.map_err(failed)?;
        let (output, errors) = (PipeSource::new(output), PipeSource::new(errors));
        let supervised = Supervised { process, feeding: feed(input), output, errors, lines, questions };
        Ok(self.judged(supervise(supervised, bounds, cancelled, on_line, on_question).await))
    }

    /// During shutdown, a process that a signal terminated counts as [`ProcessEnding::Shutdown`]. So does one with the
    /// exit code of a shell whose child `TERM` or `KILL` has terminated.
    fn judged(&self, outcome: Outcome) -> Outcome {
        let ending = outcome.ending;
        let is_by_signal = matches!(ending, ProcessEnding::Signalled(_))
            || ending.is_by(Signal::TERM)
            || ending.is_by(Signal::KILL);
        if is_by_signal && self.ended.load(Ordering::Acquire) {
            return Outcome { ending: ProcessEnding::Shutdown, ..outcome };
        }
        Outcome { memory_ran_out: ending.is_for_want_of_memory(), ..outcome }
    }

    /// Starts a process that stays alive and serves many calls. Must be called inside the Tokio runtime that drives it.
    pub fn start_worker(&self, invocation: WorkerInvocation) -> Result<WorkerProcess, StartError> {
        #[cfg(any(test, feature = "fake-child"))]
        if self.fake_children.is_some() {
            let source = io::Error::other("no worker can be pretended");
            return Err(StartError::Spawn { program: invocation.program, source });
        }
        let program = invocation.program.clone();
        WorkerProcess::start(self.id, invocation, &self.ended)
            .map_err(|source| StartError::Spawn { program, source })
    }

    /// Terminates every process of this runner, and starts no more. Closes the input of the workers, so that they can
    /// clean up, sends `TERM` to all groups, and after `grace` sends `KILL` to every remaining process, in its group or
    /// outside it. A worker that does not exit extends the grace period to that of workers (`running_call`).
    pub fn end_all(&self, grace: Duration) {
        self.ended.store(true, Ordering::Release);
        #[cfg(any(test, feature = "fake-child"))]
        if let Some(children) = &self.fake_children {
            children.end_all();
            return;
        }
        running_call::end_all(self.id, grace);
        self.folders.clear();
    }

    fn open_questions(
        &self,
        talk: Option<Talk<'_>>,
        budget: &Arc<Budget>,
    ) -> Result<Option<CallQuestions>, StartError> {
        let Some(talk) = talk.filter(|talk| talk.questions.is_some()) else { return Ok(None) };
        let mut files = self.file_questions.lock();
        let files = files.get_or_insert_with(FileQuestions::start);
        let socket = talk.folder.socket().map_err(StartError::Questions)?;
        CallQuestions::open(Arc::clone(socket), talk.folder.path(), files, budget)
            .map(Some)
            .map_err(StartError::Questions)
    }
}

fn open_side_channel(talk: Option<Talk<'_>>) -> Result<Option<SideChannel>, StartError> {
    let Some(talk) = talk.filter(|talk| !talk.side_channel.is_empty()) else { return Ok(None) };
    let pipe = talk.folder.pipe().map_err(StartError::SideChannel)?;
    Ok(Some(SideChannel::of(Arc::clone(pipe))))
}

/// Writes the rest of the input. A process that does not read all of it is not an error.
async fn feed(input: Option<(Sender, &[u8])>) {
    if let Some((mut pipe, rest)) = input {
        let _ = pipe.write_all(rest).await;
    }
}
