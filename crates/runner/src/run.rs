//! Runs one process: starts it, passes data in and out, watches its time, and ends it.

use crate::ask::{CallQuestions, FileQuestions, MAX_OPEN, Question};
use crate::call_folder::CallFolders;
use crate::calls::{CALLS, RunnerId};
use crate::capture::{Capture, ReadStop};
use crate::deadline::Deadline;
use crate::running_call::RunningCall;
use crate::side_channel::SideChannel;
use crate::start::{Pipes, prepare};
use crate::{
    CallFolder, Invocation, Outcome, ProcessEnding, StartError, StateDir, Talk, leftovers, running_call,
    warden,
};
use mcp_bash_budget::Budget;
use rustix::process::WaitStatus;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe::Sender;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

/// How long to read the pipes of a call on when all its processes have ended. A pipe that is still open then
/// is held by a process that does not belong to the call.
const PIPE_CLOSE_TIMEOUT: Duration = Duration::from_millis(100);

/// Delay before the pipes are first read: 1 ms for each running call. Most scripts have ended by then, and
/// all their output is read in one go; with many calls at once each of them takes longer.
const FIRST_READ_DELAY: Duration = Duration::from_millis(1);

/// How often a long call reaps orphans, and restarts the warden if it has died.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(1);

/// The interval at first, and as long as there are orphans to reap: a script can make ten thousand of them in
/// a second.
const FIRST_UPKEEP_INTERVAL: Duration = Duration::from_millis(20);

/// Runs processes, and knows the calls that are running.
#[derive(Debug)]
pub struct Runner {
    id: RunnerId,
    folders: Arc<CallFolders>,
    /// Started by the first call that may ask questions.
    file_questions: Mutex<Option<Arc<FileQuestions>>>,
    /// No more processes are started.
    ended: AtomicBool,
}

impl Runner {
    pub fn new(state_dir: Arc<StateDir>) -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        Self {
            id: LAST.fetch_add(1, Ordering::Relaxed),
            folders: Arc::new(CallFolders::new(state_dir)),
            file_questions: Mutex::default(),
            ended: AtomicBool::new(false),
        }
    }

    /// A folder for one call, used by no other call at the same time.
    pub fn folder(&self) -> io::Result<CallFolder> {
        self.folders.take()
    }

    /// Runs `invocation` to its end, or until `cancelled` completes. `on_line` gets the lines of the side
    /// channel while the process runs, and `on_question` its questions. While a question is open the time of
    /// the process is paused, as far as its patience allows.
    pub async fn run(
        &self,
        invocation: Invocation<'_>,
        cancelled: impl Future<Output = ()>,
        mut on_line: impl FnMut(&[u8]),
        mut on_question: impl FnMut(Question),
    ) -> Result<Outcome, StartError> {
        let mut channel = open_side_channel(invocation.talk)?;
        let mut questions = self.open_questions(invocation.talk, &invocation.budget)?;
        let (patience, grace) = (invocation.patience, invocation.grace);
        let mut stdout = Capture::new(invocation.output_limit, &invocation.budget);
        let mut stderr = Capture::new(invocation.error_tail, &invocation.budget);
        let program = invocation.program.clone();
        let failed = |source| StartError::Spawn { program, source };
        let started = prepare(invocation, channel.as_ref(), questions.as_ref())
            .and_then(|(launch, pipes)| Ok((RunningCall::start(self.id, launch, &self.ended)?, pipes)));
        let (mut call, pipes) = started.map_err(failed)?;

        let ending = {
            let start_reading = Notify::new();
            let transfer = transfer(pipes, &mut stdout, &mut stderr, &start_reading);
            tokio::pin!(transfer, cancelled);
            let mut transferred = None;
            let mut deadline = Deadline::from_now(patience);
            let first_read_delay = FIRST_READ_DELAY * u32::try_from(CALLS.count()).unwrap_or(u32::MAX);
            let alarm = sleep_until(deadline.end().0.min(Instant::now() + first_read_delay));
            tokio::pin!(alarm);
            let (mut is_first, mut interval) = (true, FIRST_UPKEEP_INTERVAL);
            let mut open = JoinSet::new();
            let cut_short = loop {
                tokio::select! {
                    biased;
                    () = call.exited() => break None,
                    () = &mut cancelled => break Some(ProcessEnding::Cancelled),
                    () = &mut alarm => {
                        let (now, (end, overrun)) = (Instant::now(), deadline.end());
                        if now >= end {
                            break Some(ProcessEnding::TimedOut(overrun));
                        }
                        if std::mem::take(&mut is_first) {
                            start_reading.notify_one();
                        } else if upkeep() {
                            interval = FIRST_UPKEEP_INTERVAL;
                        } else {
                            interval = UPKEEP_INTERVAL.min(2 * interval);
                        }
                        alarm.as_mut().reset(end.min(now + interval));
                    }
                    result = &mut transfer, if transferred.is_none() => {
                        transferred = Some(result);
                        if let Err(stop) = result {
                            break Some(stop.into());
                        }
                    }
                    Ok(()) = next_lines(channel.as_mut(), &mut on_line) => deadline.note_sign_of_life(),
                    question = next_question(questions.as_mut()), if open.len() < MAX_OPEN => {
                        deadline.pause();
                        alarm.as_mut().reset(deadline.end().0.min(Instant::now() + UPKEEP_INTERVAL));
                        on_question(forward(question, &mut open));
                    }
                    Some(_) = open.join_next() => {
                        deadline.resume();
                        start_reading.notify_one();
                        alarm.as_mut().reset(deadline.end().0.min(Instant::now() + UPKEEP_INTERVAL));
                    }
                }
            };
            if cut_short.is_some() {
                start_reading.notify_one();
            }
            let ending = end(call, cut_short, grace);
            tokio::pin!(ending);
            let ending = loop {
                tokio::select! {
                    biased;
                    ending = &mut ending => break ending,
                    result = &mut transfer, if transferred.is_none() => transferred = Some(result),
                    Ok(()) = next_lines(channel.as_mut(), &mut on_line) => {}
                }
            };
            // All writers have ended, so nothing is added to what the pipes hold now.
            start_reading.notify_one();
            let transferred = match transferred {
                Some(transferred) => transferred,
                None => timeout(PIPE_CLOSE_TIMEOUT, transfer).await.unwrap_or(Ok(())),
            };
            match transferred {
                Err(stop) if cut_short.is_none() => stop.into(),
                _ => ending,
            }
        };
        if let Some(channel) = channel {
            channel.drain(&mut on_line);
        }
        stderr.cut_to_tail();
        Ok(Outcome { ending, stdout: stdout.bytes, held: stdout.held, stderr: stderr.bytes })
    }

    /// Ends every process of every call of this runner, and starts no more: `TERM` to all groups, then `KILL`
    /// to every process that is left after `grace`, in its group or outside of it.
    pub fn end_all(&self, grace: Duration) {
        self.ended.store(true, Ordering::Release);
        running_call::end_all(self.id, grace);
        self.folders.clear();
    }

    fn open_questions(
        &self,
        talk: Option<Talk<'_>>,
        budget: &Arc<Budget>,
    ) -> Result<Option<CallQuestions>, StartError> {
        let Some(talk) = talk.filter(|talk| talk.questions.is_some()) else { return Ok(None) };
        let mut files = self.file_questions.lock().unwrap_or_else(PoisonError::into_inner);
        let files = match &*files {
            Some(files) => files,
            None => files.insert(FileQuestions::start().map_err(StartError::Questions)?),
        };
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

/// The question for `on_question`. A task in `open` waits for its answer, passes it to the asker and ends.
fn forward(mut asked: Question, open: &mut JoinSet<()>) -> Question {
    let text = std::mem::replace(&mut asked.text, Ok(Vec::new()));
    let (question, awaited) = Question::new(text, asked.asked_through, asked.held.take());
    open.spawn(async move {
        tokio::select! {
            answer = awaited => {
                if let Ok((answer, held)) = answer {
                    asked.held = held;
                    asked.answer(answer);
                }
            }
            () = asked.withdrawn() => {}
        }
    });
    question
}

async fn next_question(questions: Option<&mut CallQuestions>) -> Question {
    match questions {
        Some(questions) => questions.next().await,
        None => std::future::pending().await,
    }
}

/// Kills every process of the call, after `TERM` and `grace` if it is cut short, and returns how it ended.
async fn end(mut call: RunningCall, cut_short: Option<ProcessEnding>, grace: Duration) -> ProcessEnding {
    if cut_short.is_some() {
        call.terminate(grace).await;
    }
    let status = call.finish().await;
    cut_short.unwrap_or_else(|| status.map_or(ProcessEnding::Signalled(0), ending_of))
}

/// The periodic work of a long call. True when it should be done again soon.
fn upkeep() -> bool {
    warden::ensure_running();
    leftovers::reap_and_kill()
}

/// Writes the input and reads both outputs, until all three pipes have ended or an output was not read to its
/// end.
async fn transfer(
    pipes: Pipes<'_>,
    stdout: &mut Capture,
    stderr: &mut Capture,
    start_reading: &Notify,
) -> Result<(), ReadStop> {
    let reading = async {
        // Most scripts end soon, and then all of their output is read in one go.
        start_reading.notified().await;
        let errors = async {
            stderr.tail(pipes.errors).await;
            Ok(())
        };
        tokio::try_join!(stdout.all(pipes.output), errors)
    };
    let feeding = async {
        feed(pipes.input).await;
        Ok(())
    };
    tokio::try_join!(reading, feeding).map(drop)
}

/// Writes the rest of the input. A process that does not read it is not an error.
async fn feed(input: Option<(Sender, &[u8])>) {
    if let Some((mut pipe, rest)) = input {
        let _ = pipe.write_all(rest).await;
    }
}

async fn next_lines(channel: Option<&mut SideChannel>, on_line: &mut impl FnMut(&[u8])) -> io::Result<()> {
    match channel {
        Some(channel) => channel.read(on_line).await,
        None => std::future::pending().await,
    }
}

fn ending_of(status: WaitStatus) -> ProcessEnding {
    match status.exit_status() {
        Some(code) => ProcessEnding::Exited(code),
        None => ProcessEnding::Signalled(status.terminating_signal().unwrap_or(0)),
    }
}
