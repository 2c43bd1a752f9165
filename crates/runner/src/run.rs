//! Stays with one process from its start to its end.

use crate::ask::{CallQuestions, FileQuestions, MOST_OPEN, Question};
use crate::call::Call;
use crate::call_folder::CallFolders;
use crate::calls::{CALLS, RunnerId};
use crate::capture::{Capture, Surplus};
use crate::deadline::Deadline;
use crate::side_channel::SideChannel;
use crate::start::{Pipes, prepare};
use crate::{CallFolder, Ending, Invocation, Outcome, StartError, StateDir, Talk, call, leftovers, warden};
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

/// How long the pipes of a call may stay open when all its processes are gone: somebody else has them then.
const LINGER: Duration = Duration::from_millis(100);

/// How long a call may take before we look what it says. Where there are many, each takes longer.
const MOMENT: Duration = Duration::from_millis(1);

/// How often a call that takes long reaps the orphans it has made, and looks after the warden.
const UPKEEP: Duration = Duration::from_secs(1);

/// The same at first, and as long as there are orphans: a script can make ten thousand of them in a second.
const FIRST_UPKEEP: Duration = Duration::from_millis(20);

/// Runs processes, and knows those that are alive.
#[derive(Debug)]
pub struct Runner {
    id: RunnerId,
    folders: Arc<CallFolders>,
    /// Followed from the first call on that may ask.
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

    /// A folder for one call, which shares it with nobody.
    pub fn folder(&self) -> io::Result<CallFolder> {
        self.folders.take()
    }

    /// Runs `invocation` to its end, or until `cancelled` completes. `on_line` gets the lines of the side channel
    /// while it runs, and `on_question` what it wants to know. While it waits for an answer its time stands still.
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
            .and_then(|(launch, pipes)| Ok((Call::start(self.id, launch, &self.ended)?, pipes)));
        let (mut call, pipes) = started.map_err(failed)?;

        let ending = {
            let look = Notify::new();
            let moving = move_all(pipes, &mut stdout, &mut stderr, &look);
            tokio::pin!(moving, cancelled);
            let mut moved = None;
            let mut deadline = Deadline::from_now(patience);
            let moment = MOMENT * u32::try_from(CALLS.count()).unwrap_or(u32::MAX);
            let alarm = sleep_until(deadline.end().0.min(Instant::now() + moment));
            tokio::pin!(alarm);
            let (mut is_first, mut pause) = (true, FIRST_UPKEEP);
            let mut open = JoinSet::new();
            let cut = loop {
                tokio::select! {
                    biased;
                    () = call.exited() => break None,
                    () = &mut cancelled => break Some(Ending::Cancelled),
                    () = &mut alarm => {
                        let (now, (end, overrun)) = (Instant::now(), deadline.end());
                        if now >= end {
                            break Some(Ending::TimedOut(overrun));
                        }
                        if std::mem::take(&mut is_first) {
                            look.notify_one();
                        } else if upkeep() {
                            pause = FIRST_UPKEEP;
                        } else {
                            pause = UPKEEP.min(2 * pause);
                        }
                        alarm.as_mut().reset(end.min(now + pause));
                    }
                    result = &mut moving, if moved.is_none() => {
                        moved = Some(result);
                        if let Err(surplus) = result {
                            break Some(surplus.into());
                        }
                    }
                    Ok(()) = next_lines(channel.as_mut(), &mut on_line) => deadline.note_sign_of_life(),
                    question = next_question(questions.as_mut()), if open.len() < MOST_OPEN => {
                        deadline.pause();
                        alarm.as_mut().reset(deadline.end().0.min(Instant::now() + UPKEEP));
                        on_question(passed_on(question, &mut open));
                    }
                    Some(_) = open.join_next() => {
                        deadline.resume();
                        look.notify_one();
                        alarm.as_mut().reset(deadline.end().0.min(Instant::now() + UPKEEP));
                    }
                }
            };
            if cut.is_some() {
                look.notify_one();
            }
            let ending = end(call, cut, grace);
            tokio::pin!(ending);
            let ending = loop {
                tokio::select! {
                    biased;
                    ending = &mut ending => break ending,
                    result = &mut moving, if moved.is_none() => moved = Some(result),
                    Ok(()) = next_lines(channel.as_mut(), &mut on_line) => {}
                }
            };
            // The writers are gone, so what is left in the pipes is all there will be.
            look.notify_one();
            let moved = match moved {
                Some(moved) => moved,
                None => timeout(LINGER, moving).await.unwrap_or(Ok(())),
            };
            match moved {
                Err(surplus) if cut.is_none() => surplus.into(),
                _ => ending,
            }
        };
        if let Some(channel) = channel {
            channel.drain(&mut on_line);
        }
        stderr.cut_to_tail();
        Ok(Outcome { ending, stdout: stdout.bytes, held: stdout.held, stderr: stderr.bytes })
    }

    /// Ends every process of every call, and starts no more: `TERM` to all groups, then `KILL` to all that is left
    /// after `grace`, wherever it went.
    pub fn end_all(&self, grace: Duration) {
        self.ended.store(true, Ordering::Release);
        call::end_all(self.id, grace);
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

/// The question as it is passed on. A task ends with its answer.
fn passed_on(mut asked: Question, open: &mut JoinSet<()>) -> Question {
    let text = std::mem::replace(&mut asked.text, Ok(Vec::new()));
    let (question, awaited) = Question::new(text, asked.way, asked.held.take());
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

/// Sees to it that nothing is left of the call. With `cut` it has to be ended first.
async fn end(mut call: Call, cut: Option<Ending>, grace: Duration) -> Ending {
    if cut.is_some() {
        call.terminate(grace).await;
    }
    let status = call.finish().await;
    cut.unwrap_or_else(|| status.map_or(Ending::Signalled(0), ending_of))
}

/// What a call that takes long does now and then. True when it should be done again soon.
fn upkeep() -> bool {
    warden::keep_watch();
    leftovers::tidy()
}

/// Feeds and reads the process, until all its pipes have ended or it has written more than it may.
async fn move_all(
    pipes: Pipes<'_>,
    stdout: &mut Capture,
    stderr: &mut Capture,
    look: &Notify,
) -> Result<(), Surplus> {
    let reading = async {
        // Most scripts end soon, and have said all they have to say when we look for the first time.
        look.notified().await;
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

/// Gives the process the rest of its input. One that does not read it is not an error.
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

fn ending_of(status: WaitStatus) -> Ending {
    match status.exit_status() {
        Some(code) => Ending::Exited(code),
        None => Ending::Signalled(status.terminating_signal().unwrap_or(0)),
    }
}
