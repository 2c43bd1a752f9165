//! Ready worker: the part of a worker that its callers use. The task of its process (`serving.rs`) has the rest.

use super::fault::Fault;
use super::frame;
use super::pool::Lease;
use super::stamps::Stamps;
use crate::confining::sandboxes::Lease as Sandbox;
use crate::running::outcome::AnswerKind;
use mcp_bash_budget::{Budget, Charge};
use mcp_bash_runner::{FrameSender, NotTaken};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::mpsc::{Receiver, Sender, UnboundedSender, channel};

/// How many events of one call are queued for its caller. When the queue is full, reading from the worker pauses.
const MOST_EVENTS: usize = 64;

pub(super) struct ReadyWorker {
    pub(super) input: Arc<FrameSender>,
    /// Its sandbox, if it has one.
    pub(super) sandbox: Option<Arc<Sandbox>>,
    pub(super) stamps: Stamps,
    pub(super) commands: UnboundedSender<Command>,
    pub(super) calls: Mutex<OpenCalls>,
}

/// The calls that a worker has received and not answered.
#[derive(Default)]
pub(super) struct OpenCalls {
    last: u64,
    pub(super) open: BTreeMap<u64, OpenCall>,
    /// Set when the process has ended: no more calls are accepted.
    pub(super) is_closed: bool,
}

impl OpenCalls {
    /// Whether it has received a call of this number, open or not.
    pub(super) fn has_had(&self, call: u64) -> bool {
        (1..=self.last).contains(&call)
    }

    /// Whether it has received at most one call, so that all its output since its start is about that call.
    pub(super) fn has_had_one_at_most(&self) -> bool {
        self.last <= 1
    }
}

pub(super) struct OpenCall {
    pub(super) events: Sender<Event>,
    pub(super) budget: Arc<Budget>,
    /// The length of its frame.
    pub(super) frame_bytes: usize,
    /// Its place in the worker; dropping it frees the place.
    pub(super) lease: Lease,
}

/// An event of a call.
pub(super) enum Event {
    /// A notification, as the worker wrote it.
    Line(Vec<u8>),
    Question {
        number: u64,
        frame: Vec<u8>,
    },
    Withdrawal(u64),
    Answer {
        kind: AnswerKind,
        text: Vec<u8>,
        held: Option<Charge>,
    },
    /// The worker has ended.
    Gone(Arc<Fault>),
}

/// A request from a caller to the task of the process.
pub(super) enum Command {
    /// The caller no longer waits for this call.
    Cancel(u64),
    /// A call takes long: upkeep is due.
    Upkeep,
    /// No more calls follow.
    Retire,
}

impl ReadyWorker {
    pub(super) fn new(
        input: Arc<FrameSender>,
        sandbox: Option<Arc<Sandbox>>,
        stamps: Stamps,
        commands: UnboundedSender<Command>,
    ) -> Self {
        Self { input, sandbox, stamps, commands, calls: Mutex::default() }
    }

    /// Sends a call to the worker. `render` builds its frame for a number.
    pub(super) fn begin(
        self: &Arc<Self>,
        lease: Lease,
        budget: &Arc<Budget>,
        render: impl FnOnce(u64) -> (Vec<u8>, Option<Charge>),
    ) -> Result<(Ticket, Receiver<Event>), NotTaken> {
        let (events, arriving) = channel(MOST_EVENTS);
        let mut calls = self.calls.lock();
        if calls.is_closed {
            return Err(NotTaken);
        }
        calls.last += 1;
        let number = calls.last;
        let (frame, held) = render(number);
        let call = OpenCall { events, budget: Arc::clone(budget), frame_bytes: frame.len(), lease };
        calls.open.insert(number, call);
        // Under the lock, so that calls are sent in the order of their numbers.
        if self.input.send(frame, held).is_err() {
            let refused = calls.open.remove(&number);
            drop(calls);
            drop(refused);
            return Err(NotTaken);
        }
        drop(calls);
        Ok((Ticket { worker: Arc::clone(self), number, is_over: false }, arriving))
    }

    /// The budget that a long frame is charged to: that of the only open call.
    pub(super) fn budget_of_only_call(&self) -> Option<Arc<Budget>> {
        let calls = self.calls.lock();
        let mut open = calls.open.values();
        let only = open.next().map(|call| Arc::clone(&call.budget))?;
        open.next().is_none().then_some(only)
    }
}

/// A call that a worker has received. Dropping it before the answer cancels the call.
pub(super) struct Ticket {
    worker: Arc<ReadyWorker>,
    pub(super) number: u64,
    is_over: bool,
}

impl Ticket {
    /// The worker has answered, or has ended.
    pub(super) fn end(mut self) {
        self.is_over = true;
    }

    pub(super) fn cancel(&self) {
        let _ = self.worker.commands.send(Command::Cancel(self.number));
    }

    pub(super) fn ask_for_upkeep(&self) {
        let _ = self.worker.commands.send(Command::Upkeep);
    }

    /// Answers a question of the call.
    pub(super) fn answer(&self, question: u64, answer: &[u8], held: Option<Charge>) {
        // If the worker no longer reads, its task notices that.
        let _ = self.worker.input.send(frame::of_answer(self.number, question, answer), held);
    }

    pub(super) fn refuse(&self, question: u64, why: &str) {
        let _ = self.worker.input.send(frame::of_refusal(self.number, question, why), None);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.is_over {
            self.cancel();
        }
    }
}
