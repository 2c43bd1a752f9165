//! One request that is being worked on: it is answered once, and nothing is sent for it afterwards.

use crate::answers::Answers;
use crate::limiter::Limiter;
use mcp_bash_wire::{Id, RpcError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// A request between its arrival and its answer.
pub(crate) struct Call {
    id: Id,
    answers: Answers,
    state: Mutex<State>,
    cancelled: Notify,
}

enum State {
    Open(Open),
    Answered,
    Cancelled,
}

/// What may still be said about a request.
struct Open {
    last_progress: Option<f64>,
    progress: Limiter,
    logs: Limiter,
    /// The newest progress that the limit held back. It is sent before the answer.
    withheld: Option<Vec<u8>>,
    /// Notifications that wait for the answer, where they are not sent live.
    buffered: Vec<Vec<u8>>,
    buffered_bytes: usize,
}

/// More bytes of notifications than these do not wait for an answer. What comes then is dropped.
const MOST_BUFFERED: usize = 1024 * 1024;

/// How many notifications of a request may leave, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) progress_per_minute: u32,
    pub(crate) logs_per_minute: u32,
    pub(crate) live: bool,
}

impl Call {
    pub(crate) fn new(id: Id, answers: Answers, pace: Pace) -> Self {
        let open = Open {
            last_progress: None,
            progress: Limiter::new(pace.progress_per_minute),
            logs: Limiter::new(pace.logs_per_minute),
            withheld: None,
            buffered: Vec::new(),
            buffered_bytes: 0,
        };
        Self { id, answers, state: Mutex::new(State::Open(open)), cancelled: Notify::new() }
    }

    pub(crate) fn id(&self) -> &Id {
        &self.id
    }

    /// Queues the answer. False when the request was cancelled or has one.
    pub(crate) fn answer(&self, answer: Result<String, RpcError>) -> bool {
        let mut state = self.lock();
        match std::mem::replace(&mut *state, State::Answered) {
            State::Open(open) => {
                for message in open.buffered.into_iter().chain(open.withheld) {
                    self.answers.notify(message);
                }
                // Sent while the state is locked, so that no notification can overtake it.
                match answer {
                    Ok(result) => self.answers.result(&self.id, result),
                    Err(error) => self.answers.error(Some(&self.id), &error),
                }
                true
            }
            decided => {
                *state = decided;
                false
            }
        }
    }

    /// Lets what was queued for this request leave.
    pub(crate) fn flush(&self) {
        self.answers.flush();
    }

    /// Whether the client leaves so much unread that nothing should be started for it.
    pub(crate) fn is_clogged(&self) -> bool {
        self.answers.is_clogged()
    }

    /// Ends the request without an answer. False when it has been answered or cancelled before.
    pub(crate) fn cancel(&self) -> bool {
        let mut state = self.lock();
        if !matches!(*state, State::Open(_)) {
            return false;
        }
        *state = State::Cancelled;
        drop(state);
        self.answers.withdraw();
        self.answers.flush();
        self.cancelled.notify_one();
        true
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        matches!(*self.lock(), State::Cancelled)
    }

    /// Completes when the request is cancelled.
    pub(crate) async fn cancelled(&self) {
        // A permit is stored, so that a cancellation before this was awaited is not missed.
        if !self.is_cancelled() {
            self.cancelled.notified().await;
        }
    }

    /// Sends a progress notification if its value is greater than the last one's.
    pub(crate) fn progress(&self, value: f64, message: Vec<u8>, pace: Pace) {
        let mut state = self.lock();
        let State::Open(open) = &mut *state else { return };
        if open.last_progress.is_some_and(|last| value <= last) {
            return;
        }
        open.last_progress = Some(value);
        if open.progress.allow() && !self.answers.is_clogged() {
            open.withheld = None;
            self.send(open, message, pace);
        } else {
            open.withheld = Some(message);
        }
        drop(state);
        self.answers.flush();
    }

    /// Sends a log notification, within the limit.
    pub(crate) fn log(&self, message: Vec<u8>, pace: Pace) {
        let mut state = self.lock();
        let State::Open(open) = &mut *state else { return };
        if open.logs.allow() && !self.answers.is_clogged() {
            self.send(open, message, pace);
        }
        drop(state);
        self.answers.flush();
    }

    fn send(&self, open: &mut Open, message: Vec<u8>, pace: Pace) {
        if pace.live {
            self.answers.notify(message);
        } else if open.buffered_bytes + message.len() <= MOST_BUFFERED {
            open.buffered_bytes += message.len();
            open.buffered.push(message);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
