//! Conversation: one call in a worker. Sends the call, passes on its notifications and questions until it is answered, and
//! enforces its timeout.

use super::call::WorkerCall;
use super::fault::{Fault, Why};
use super::frame;
use super::pool::{Lease, Resting};
use super::ready::Event;
use crate::running::error::ScriptError;
use crate::running::outcome::Outcome;
use mcp_bash_budget::SMALL;
use mcp_bash_runner::{AnswerLine, AskedThrough, Deadline, FrameFault, ProcessEnding, Question};
use serde_json::Value;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::Receiver;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep_until};

/// How often the upkeep of the worker is requested during a long call.
const UPKEEP: Duration = Duration::from_secs(1);

/// How many questions of one call may be open at once.
const MOST_QUESTIONS: usize = 16;

/// How a call in a worker ended.
pub(super) enum Conversed {
    Outcome(Box<Outcome>),
    Failed(Arc<Fault>),
    /// The worker has not read the call, so another worker can receive it.
    Untaken,
}

/// Sends the call to the worker, and waits until it is answered or the worker has ended.
pub(super) async fn converse(
    lease: Lease,
    call: &WorkerCall<'_>,
    mut cancelled: Pin<&mut impl Future<Output = ()>>,
    on_line: &mut impl FnMut(&[u8]),
    on_question: &mut impl FnMut(Question),
) -> Result<Conversed, ScriptError> {
    let (worker, pool, budget) = (Arc::clone(&lease.worker), Arc::clone(lease.pool()), call.limits.budget);
    let bytes = call.request.arguments().len() + call.meta.len();
    let held = (bytes > SMALL).then(|| budget.charge(bytes)).transpose();
    let held = held.map_err(|why| ScriptError::NoRoom { what: call.what.clone(), why })?;
    let begun = worker.begin(lease, budget, |number| (frame::of_call(number, call), held));
    let Ok((ticket, mut events)) = begun else {
        // The worker cannot take other calls either, although its task may not have noticed yet.
        pool.retire(&worker);
        return Ok(Conversed::Untaken);
    };
    let mut deadline = Deadline::from_now(call.limits.patience);
    let alarm = sleep_until(deadline.end().0.min(Instant::now() + UPKEEP));
    tokio::pin!(alarm);
    let mut questions = Questions::default();
    let cut_short = loop {
        tokio::select! {
            biased;
            event = events.recv() => match event {
                None => return Ok(ended_with_server()),
                Some(Event::Line(line)) => {
                    deadline.note_sign_of_life();
                    on_line(&line);
                }
                Some(Event::Question { number, frame }) => {
                    if questions.open.len() >= MOST_QUESTIONS {
                        ticket.refuse(number, "too many questions of this call are open");
                        continue;
                    }
                    deadline.pause();
                    questions.resting = questions.resting.take().or_else(|| pool.rest());
                    on_question(questions.ask(number, frame, call));
                }
                Some(Event::Withdrawal(number)) => questions.withdraw(number),
                Some(Event::Answer { kind, text, held }) => {
                    ticket.end();
                    let said = worker.sandbox.as_ref().and_then(|sandbox| Some((sandbox, error_in(&text)?)));
                    let denial = said.and_then(|(sandbox, said)| sandbox.explain_call(&said));
                    let outcome = Outcome::of_worker(kind, text, held, budget).with_denial(denial);
                    return Ok(Conversed::Outcome(Box::new(outcome)));
                }
                Some(Event::Gone(fault)) => {
                    ticket.end();
                    return Ok(gone(fault, call));
                }
            },
            () = &mut cancelled => break ProcessEnding::Cancelled,
            () = &mut alarm => {
                let (now, (end, overrun)) = (Instant::now(), deadline.end());
                if now >= end {
                    break ProcessEnding::TimedOut(overrun);
                }
                ticket.ask_for_upkeep();
                alarm.as_mut().reset(end.min(now + UPKEEP));
            }
            Some(answered) = questions.open.join_next() => {
                deadline.resume();
                if questions.open.is_empty() {
                    questions.resting = None;
                }
                alarm.as_mut().reset(deadline.end().0.min(Instant::now() + UPKEEP));
                if let Ok((number, Some((answer, held)))) = answered {
                    ticket.answer(number, &answer, held);
                }
            }
        }
    };
    drop(questions);
    ticket.cancel();
    let is_answered = wait_for_end(&mut events).await;
    if is_answered {
        ticket.end();
    }
    Ok(Conversed::Outcome(Box::new(Outcome::of_ending(cut_short, budget))))
}

/// The text of a result that reports a failure of the call.
fn error_in(answer: &[u8]) -> Option<String> {
    let answer = std::str::from_utf8(answer).ok()?;
    // Most answers are not errors, and parsing a long one takes time.
    ["\"isError\":true", "\"isError\": true"].iter().any(|sign| answer.contains(sign)).then_some(())?;
    let answer: Value = serde_json::from_str(answer).ok()?;
    let content = answer["content"].as_array().filter(|_| answer["isError"] == true)?;
    let texts: Vec<&str> = content.iter().filter_map(|item| item["text"].as_str()).collect();
    Some(texts.join("\n"))
}

/// Waits until a cancelled call is answered or its worker has ended. The grace period for cancellations bounds this.
async fn wait_for_end(events: &mut Receiver<Event>) -> bool {
    loop {
        match events.recv().await {
            Some(Event::Answer { .. } | Event::Gone(_)) => return true,
            Some(_) => {}
            None => return false,
        }
    }
}

fn gone(fault: Arc<Fault>, call: &WorkerCall<'_>) -> Conversed {
    let ending = match &fault.why {
        _ if fault.is_unread => return Conversed::Untaken,
        Why::Frames(FrameFault::TooLong(_)) => ProcessEnding::OutputTooLarge,
        Why::Frames(FrameFault::NoRoom(why)) => ProcessEnding::NoRoom(*why),
        _ => return Conversed::Failed(fault),
    };
    Conversed::Outcome(Box::new(Outcome::of_ending(ending, call.limits.budget)))
}

fn ended_with_server() -> Conversed {
    Conversed::Failed(Arc::new(Fault::new(Why::ServerEnds)))
}

/// The open questions of one call. Dropping it withdraws them.
#[derive(Default)]
struct Questions {
    open: JoinSet<(u64, Option<AnswerLine>)>,
    by_number: BTreeMap<u64, AbortHandle>,
    /// Set while any question is open.
    resting: Option<Resting>,
}

impl Questions {
    fn ask(&mut self, number: u64, frame: Vec<u8>, call: &WorkerCall<'_>) -> Question {
        let (text, held) = match call.limits.budget.charge(frame.len()) {
            Ok(held) => (Ok(frame), Some(held)),
            Err(why) => (Err(why), None),
        };
        let (question, awaited) = Question::new(text, AskedThrough::Socket, held);
        let waiting = self.open.spawn(async move { (number, awaited.await.ok()) });
        self.by_number.insert(number, waiting);
        question
    }

    fn withdraw(&mut self, number: u64) {
        if let Some(waiting) = self.by_number.remove(&number) {
            waiting.abort();
        }
    }
}
