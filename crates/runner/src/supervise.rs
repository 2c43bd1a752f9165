//! Supervision: follows one started process until it has ended, passes data in and out, enforces its deadline and the
//! limits on its output, and terminates it when necessary.
//!
//! It knows the process and its pipes only through the traits of `child.rs`.

use crate::ask::MAX_OPEN;
use crate::capture::{Capture, ReadStop};
use crate::child::{ByteSource, Lines, Process, Questions};
use crate::deadline::Deadline;
use crate::{Invocation, Outcome, ProcessEnding, Question, TimeLimits};
use mcp_bash_budget::Budget;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

/// How long to go on reading when all processes of a call have ended. A pipe that is still open then is held by a
/// process outside the call.
const PIPE_CLOSE_TIMEOUT: Duration = Duration::from_millis(100);

/// How often [`Process::upkeep`] is called for a long call.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(1);

/// The interval at first, and after each upkeep that found work: a script can create ten thousand orphans in a second.
const FIRST_UPKEEP_INTERVAL: Duration = Duration::from_millis(20);

/// A process, and the server's ends of its pipes and channels.
pub(crate) struct Supervised<P, F, S, L, Q> {
    pub(crate) process: P,
    /// Writes the input.
    pub(crate) feeding: F,
    pub(crate) output: S,
    pub(crate) errors: S,
    /// `None` if the process has no side channel.
    pub(crate) lines: Option<L>,
    /// `None` if the process may not ask questions.
    pub(crate) questions: Option<Q>,
}

/// The limits of an [`Invocation`].
#[derive(Debug)]
pub(crate) struct Bounds {
    pub(crate) time_limits: TimeLimits,
    pub(crate) grace: Duration,
    pub(crate) output_limit: usize,
    pub(crate) error_tail: usize,
    pub(crate) budget: Arc<Budget>,
}

impl Bounds {
    pub(crate) fn of(invocation: &Invocation<'_>) -> Self {
        Self {
            time_limits: invocation.patience,
            grace: invocation.grace,
            output_limit: invocation.output_limit,
            error_tail: invocation.error_tail,
            budget: Arc::clone(&invocation.budget),
        }
    }
}

pub(crate) async fn supervise<P: Process, F: Future<Output = ()>, S: ByteSource, L: Lines, Q: Questions>(
    supervised: Supervised<P, F, S, L, Q>,
    bounds: Bounds,
    cancelled: impl Future<Output = ()>,
    mut on_line: impl FnMut(&[u8]),
    mut on_question: impl FnMut(Question),
) -> Outcome {
    // The process is bound last, so that it is dropped first if this future is dropped.
    let Supervised { feeding, output, errors, mut lines, mut questions, mut process } = supervised;
    let mut stdout = Capture::new(bounds.output_limit, &bounds.budget);
    let mut stderr = Capture::new(bounds.error_tail, &bounds.budget);
    let ending = {
        let start_reading = Notify::new();
        let transfer = transfer(stdout.all(output), stderr.tail(errors), feeding, &start_reading);
        tokio::pin!(transfer, cancelled);
        let mut transferred = None;
        let mut deadline = Deadline::from_now(bounds.time_limits);
        let first_alarm = Instant::now() + process.first_read_delay();
        let alarm = sleep_until(deadline.end().0.min(first_alarm));
        tokio::pin!(alarm);
        let (mut is_first, mut interval) = (true, FIRST_UPKEEP_INTERVAL);
        let mut open = JoinSet::new();
        let cut_short = loop {
            tokio::select! {
                biased;
                () = process.exited() => break None,
                () = &mut cancelled => break Some(ProcessEnding::Cancelled),
                () = &mut alarm => {
                    let (now, (end, overrun)) = (Instant::now(), deadline.end());
                    if now >= end {
                        break Some(ProcessEnding::TimedOut(overrun));
                    }
                    if std::mem::take(&mut is_first) {
                        start_reading.notify_one();
                    } else if process.upkeep() {
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
                Ok(()) = next_lines(lines.as_mut(), &mut on_line) => deadline.note_sign_of_life(),
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
        let ending = end(process, cut_short, bounds.grace);
        tokio::pin!(ending);
        let ending = loop {
            tokio::select! {
                biased;
                ending = &mut ending => break ending,
                result = &mut transfer, if transferred.is_none() => transferred = Some(result),
                Ok(()) = next_lines(lines.as_mut(), &mut on_line) => {}
            }
        };
        // All processes of the call have ended, so the pipes are read to their end.
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
    if let Some(lines) = lines {
        lines.drain(&mut on_line);
    }
    stderr.cut_to_tail();
    Outcome { ending, stdout: stdout.bytes, held: stdout.held, memory_ran_out: false, stderr: stderr.bytes }
}

/// Terminates the process (`TERM`, then `KILL` after `grace`) if it is cut short, and returns how it ended.
async fn end(mut process: impl Process, cut_short: Option<ProcessEnding>, grace: Duration) -> ProcessEnding {
    if cut_short.is_some() {
        process.terminate(grace).await;
    }
    let ending = process.finish().await;
    cut_short.unwrap_or(ending)
}

/// Writes the input and reads both outputs, until all three are done or standard output exceeds its limits.
async fn transfer(
    stdout: impl Future<Output = Result<(), ReadStop>>,
    stderr: impl Future<Output = ()>,
    feeding: impl Future<Output = ()>,
    start_reading: &Notify,
) -> Result<(), ReadStop> {
    let reading = async {
        // Most scripts exit soon, and one read then returns all of their output.
        start_reading.notified().await;
        let errors = async {
            stderr.await;
            Ok(())
        };
        tokio::try_join!(stdout, errors)
    };
    let feeding = async {
        feeding.await;
        Ok(())
    };
    tokio::try_join!(reading, feeding).map(drop)
}

/// A question to pass to `on_question`. A task in `open` waits for its answer, and forwards it to the asker.
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

async fn next_question(questions: Option<&mut impl Questions>) -> Question {
    match questions {
        Some(questions) => questions.next().await,
        None => std::future::pending().await,
    }
}

async fn next_lines(lines: Option<&mut impl Lines>, on_line: &mut impl FnMut(&[u8])) -> io::Result<()> {
    match lines {
        Some(lines) => lines.read(on_line).await,
        None => std::future::pending().await,
    }
}
