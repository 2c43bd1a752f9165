//! SSE replay buffer: the messages of one reply, or those of a session that belong to no request, in order. Its reader takes
//! them one by one. If the client may resume the stream, messages that were sent are kept for a while.

mod copying;

pub(in crate::http) use copying::Copied;

use bytes::Bytes;
use copying::Copying;
use mcp_bash_budget::{Budget, Charge, SMALL};
use mcp_bash_server::Server;
use mcp_bash_wire::{Id, RpcError, write};
use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// The longest event: clients abort on longer ones. A longer answer is sent as JSON if nothing was sent before it.
pub(in crate::http) const LONGEST_EVENT: usize = 1024 * 1024;

/// How many bytes of sent messages are kept for a client that resumes, besides the unread ones.
const MOST_KEPT: usize = 1024 * 1024;

/// Settings shared by all buffers.
pub(in crate::http) struct Rules {
    /// How many bytes may be unread before the buffer is clogged. Senders then drop progress and log notifications.
    pub(in crate::http) limit: usize,
    /// Resumes the work that backpressure held back.
    pub(in crate::http) relieve: Box<dyn Fn() + Send + Sync>,
}

impl Rules {
    pub(in crate::http) fn of(server: &Arc<Server>) -> Arc<Self> {
        let (limit, server) = (server.settings().max_unread_bytes, Arc::downgrade(server));
        let relieve = move || {
            if let Some(server) = server.upgrade() {
                // This can take long, and the thread serves other readers too.
                tokio::spawn(async move { server.relieved() });
            }
        };
        Arc::new(Self { limit, relieve: Box::new(relieve) })
    }
}

pub(in crate::http) struct ReplayBuffer {
    /// The number by which a client resumes the stream. `None` if sent messages are not kept.
    pub(in crate::http) number: Option<u64>,
    rules: Arc<Rules>,
    budget: Arc<Budget>,
    is_clogged: AtomicBool,
    state: Mutex<State>,
    /// `None` if the client cannot resume the stream at another server.
    copying: OnceLock<Copying>,
}

struct State {
    messages: VecDeque<Message>,
    /// Bytes of all messages queued so far.
    total_bytes: u64,
    /// The number of the first message in `messages`. Numbers begin with 1.
    first: u64,
    /// The number of the next message to read.
    next: u64,
    unread_bytes: usize,
    taken_bytes: usize,
    /// Bytes of all short messages. A long message has a charge of its own, which it keeps until it has been sent.
    short_bytes: usize,
    held: Charge,
    stage: Stage,
    /// When the answer was queued, or the reply ended without one.
    finished_at: Option<Instant>,
    /// Whether the response is an event stream, so that the answer has to be an event.
    has_begun: bool,
    /// The buffer has no reader any more and accepts no messages.
    is_closed: bool,
    /// The number of the current reader. A new reader replaces the previous one.
    reader: u64,
    has_reader: bool,
    waker: Option<Waker>,
}

/// A message, and how many bytes were queued before it, so that resuming costs the same at any position.
struct Message {
    bytes: Bytes,
    before: u64,
}

/// Whether more messages may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Open,
    /// The last message is the answer; with the error code if the request was refused.
    Answered(Option<i32>),
    /// The reply ended without an answer.
    Ended,
}

/// How a reply begins, which decides the form of the response.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::http) enum Beginning {
    /// The answer is the only message; with the error code if the request was refused.
    Answer(Bytes, Option<i32>),
    /// Another message comes first: the response is an event stream.
    Events,
    /// The reply ended without a message.
    Nothing,
}

/// The next message for a reader.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::http) enum Next {
    Message(u64, Bytes),
    /// No more messages follow.
    Over,
    /// Another reader has replaced this one.
    Replaced,
}

impl ReplayBuffer {
    pub(in crate::http) fn new(number: Option<u64>, rules: &Arc<Rules>, budget: &Arc<Budget>) -> Self {
        Self {
            number,
            rules: Arc::clone(rules),
            budget: Arc::clone(budget),
            is_clogged: AtomicBool::new(false),
            state: Mutex::new(State {
                messages: VecDeque::new(),
                total_bytes: 0,
                first: 1,
                next: 1,
                unread_bytes: 0,
                taken_bytes: 0,
                short_bytes: 0,
                held: Charge::nothing(budget),
                stage: Stage::Open,
                finished_at: None,
                has_begun: false,
                is_closed: false,
                reader: 0,
                has_reader: false,
                waker: None,
            }),
            copying: OnceLock::new(),
        }
    }

    /// A buffer for the messages of a stream after that one.
    pub(in crate::http) fn continuing(
        stream: u64,
        number: u64,
        rules: &Arc<Rules>,
        budget: &Arc<Budget>,
    ) -> Self {
        let mut buffer = Self::new(Some(stream), rules, budget);
        let state = buffer.state.get_mut();
        (state.first, state.next) = (number + 1, number + 1);
        buffer
    }

    /// Queues a message that is not the last one. False if it is dropped: it is too long, comes after the answer, or nobody will
    /// read it.
    pub(in crate::http) fn queue(&self, message: Vec<u8>) -> bool {
        let mut state = self.state.lock();
        let is_taken =
            message.len() <= LONGEST_EVENT && !matches!(state.stage, Stage::Answered(_)) && !state.is_closed;
        if is_taken {
            self.push(&mut state, message);
        }
        self.wake(state);
        is_taken
    }

    /// Queues an answer that is not the last message. If it is too long for an event, it is replaced by an error.
    pub(in crate::http) fn queue_or_error(&self, message: Vec<u8>, id: impl FnOnce() -> Option<Id>) {
        if message.len() <= LONGEST_EVENT {
            self.queue(message);
            return;
        }
        let error = too_long_for_an_event(message.len());
        drop(message);
        self.queue(write::error(id().as_ref(), &error));
    }

    /// Queues the answer. If it is too long for an event and has to be one, it is replaced by an error.
    pub(in crate::http) fn answer(
        &self,
        message: Vec<u8>,
        refused: Option<i32>,
        id: impl FnOnce() -> Option<Id>,
    ) {
        let mut state = self.state.lock();
        if state.stage != Stage::Open {
            return;
        }
        state.finish(Stage::Answered(refused));
        if message.len() <= LONGEST_EVENT {
            self.push(&mut state, message);
        } else if state.has_begun {
            let error = too_long_for_an_event(message.len());
            drop(message);
            self.push(&mut state, write::error(id().as_ref(), &error));
        } else {
            // Nothing was sent yet, so the answer can be the only message.
            state.clear();
            self.push(&mut state, message);
        }
        self.wake(state);
    }

    /// Ends the reply without an answer.
    pub(in crate::http) fn end(&self) {
        let mut state = self.state.lock();
        if state.stage == Stage::Open {
            state.finish(Stage::Ended);
        }
        self.wake(state);
    }

    /// Discards all messages, and accepts no more.
    pub(in crate::http) fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        state.clear();
        self.is_clogged.store(false, Ordering::Release);
        self.wake(state);
    }

    pub(in crate::http) fn is_clogged(&self) -> bool {
        self.is_clogged.load(Ordering::Acquire)
    }

    fn push(&self, state: &mut State, message: Vec<u8>) {
        if state.is_closed {
            return;
        }
        let length = message.len();
        let bytes = if length <= SMALL {
            state.short_bytes += length;
            state.held.set(state.short_bytes);
            message.into()
        } else {
            Long::charged(message, &self.budget)
        };
        let before = state.total_bytes;
        state.messages.push_back(Message { bytes, before });
        state.total_bytes += length as u64;
        state.unread_bytes += length;
        if state.unread_bytes > self.rules.limit {
            self.is_clogged.store(true, Ordering::Release);
        }
    }

    /// Unlocks the state, then wakes the reader, and reports what may have to be copied.
    fn wake(&self, mut state: MutexGuard<'_, State>) {
        let waker = state.waker.take();
        let copying = self.copying.get().filter(|copying| copying.is_due(&state));
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        if let Some(copying) = copying {
            copying.report();
        }
    }

    /// How the reply begins, if it has begun.
    pub(in crate::http) fn try_beginning(&self) -> Option<Beginning> {
        self.state.lock().beginning()
    }

    /// Completes when the reply begins.
    pub(in crate::http) fn poll_beginning(&self, context: &Context<'_>) -> Poll<Beginning> {
        let mut state = self.state.lock();
        if let Some(beginning) = state.beginning() {
            return Poll::Ready(beginning);
        }
        state.wait(context);
        Poll::Pending
    }

    /// How the reply begins if it has to begin now: with events, unless the answer is there.
    pub(in crate::http) fn begin_now(&self) -> Beginning {
        let mut state = self.state.lock();
        state.beginning().unwrap_or_else(|| state.begin())
    }

    /// Makes the response an event stream: every message is an event from now on.
    pub(in crate::http) fn begin(&self) {
        self.state.lock().begin();
    }

    /// The longest message that can be sent from now on, in bytes.
    pub(in crate::http) fn longest_message(&self) -> usize {
        if self.state.lock().has_begun { LONGEST_EVENT } else { usize::MAX }
    }

    /// Adds a reader of the messages that were not read yet. It replaces the previous reader.
    pub(in crate::http) fn take_over(&self) -> u64 {
        self.state.lock().take_over()
    }

    /// Adds a reader of the messages after that number. It replaces the previous reader. `None` if some of them are not kept
    /// any more, or the number was never used.
    pub(in crate::http) fn read_after(&self, number: u64) -> Option<u64> {
        let mut state = self.state.lock();
        let next = number.checked_add(1)?;
        let last = state.first + state.messages.len() as u64;
        if state.is_closed || next < state.first || next > last {
            return None;
        }
        state.rewind(next);
        Some(state.take_over())
    }

    /// Completes with the next message for that reader.
    pub(in crate::http) fn poll_next(&self, reader: u64, context: &Context<'_>) -> Poll<Next> {
        let mut state = self.state.lock();
        if state.reader != reader {
            return Poll::Ready(Next::Replaced);
        }
        let number = state.next;
        let index = usize::try_from(number - state.first).unwrap_or(usize::MAX);
        if let Some(message) = state.messages.get(index).map(|message| message.bytes.clone()) {
            state.next += 1;
            state.unread_bytes -= message.len();
            state.taken_bytes += message.len();
            state.keep_at_most(if self.number.is_some() { MOST_KEPT } else { 0 });
            let has_room = self.is_clogged() && state.unread_bytes <= self.rules.limit / 2;
            drop(state);
            if has_room {
                self.is_clogged.store(false, Ordering::Release);
                (self.rules.relieve)();
            }
            return Poll::Ready(Next::Message(number, message));
        }
        if state.stage != Stage::Open || state.is_closed {
            return Poll::Ready(Next::Over);
        }
        state.wait(context);
        Poll::Pending
    }

    /// Removes that reader.
    pub(in crate::http) fn leave(&self, reader: u64) {
        let mut state = self.state.lock();
        if state.reader == reader {
            state.has_reader = false;
            state.waker = None;
            // The client may come back elsewhere.
            self.wake(state);
        }
    }

    /// How long ago the reply ended. `None` while it is open.
    pub(in crate::http) fn finished_for(&self) -> Option<Duration> {
        self.state.lock().finished_at.map(|since| since.elapsed())
    }

    /// Bytes of all messages in the buffer.
    pub(in crate::http) fn kept_bytes(&self) -> usize {
        let state = self.state.lock();
        state.unread_bytes + state.taken_bytes
    }

    /// The number of the last message that was read.
    pub(in crate::http) fn last_taken(&self) -> u64 {
        self.state.lock().next - 1
    }

    pub(in crate::http) fn has_reader(&self) -> bool {
        self.state.lock().has_reader
    }
}

impl State {
    fn beginning(&mut self) -> Option<Beginning> {
        match self.stage {
            Stage::Answered(refused) if self.messages.len() == 1 => {
                let message = self.messages.pop_front()?.bytes;
                self.unread_bytes = 0;
                self.release(&message);
                Some(Beginning::Answer(message, refused))
            }
            _ if !self.messages.is_empty() => Some(self.begin()),
            Stage::Ended => Some(Beginning::Nothing),
            _ => self.is_closed.then_some(Beginning::Nothing),
        }
    }

    fn finish(&mut self, stage: Stage) {
        self.stage = stage;
        self.finished_at = Some(Instant::now());
    }

    /// Decided under the lock, so that no answer too long for an event can come in between.
    fn begin(&mut self) -> Beginning {
        self.has_begun = true;
        Beginning::Events
    }

    fn wait(&mut self, context: &Context<'_>) {
        if !self.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            self.waker = Some(context.waker().clone());
        }
    }

    fn take_over(&mut self) -> u64 {
        self.reader += 1;
        self.has_reader = true;
        // The previous reader finds that it was replaced.
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
        self.reader
    }

    /// Moves the read position to the message of that number.
    fn rewind(&mut self, next: u64) {
        self.next = next;
        let (first, next) = (self.bytes_before(self.first), self.bytes_before(next));
        let bytes = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        self.taken_bytes = bytes(next - first);
        self.unread_bytes = bytes(self.total_bytes - next);
    }

    /// How many bytes were queued before that message, which is in the buffer or the next one to be queued.
    fn bytes_before(&self, number: u64) -> u64 {
        let index = usize::try_from(number - self.first).unwrap_or(usize::MAX);
        self.messages.get(index).map_or(self.total_bytes, |message| message.before)
    }

    /// Drops the oldest messages that were read, until at most `most` bytes of them are left.
    fn keep_at_most(&mut self, most: usize) {
        while self.taken_bytes > most && self.first < self.next {
            let Some(Message { bytes: message, .. }) = self.messages.pop_front() else { break };
            self.first += 1;
            self.taken_bytes -= message.len();
            self.release(&message);
        }
    }

    fn clear(&mut self) {
        self.first += self.messages.len() as u64;
        self.next = self.first;
        self.messages = VecDeque::new();
        (self.unread_bytes, self.taken_bytes, self.short_bytes) = (0, 0, 0);
        self.held.set(0);
    }

    fn release(&mut self, message: &Bytes) {
        if message.len() <= SMALL {
            self.short_bytes -= message.len();
            self.held.set(self.short_bytes);
        }
    }
}

/// A long message, charged to the budget until neither the buffer nor a connection holds it.
struct Long {
    message: Vec<u8>,
    _held: Charge,
}

impl Long {
    /// Charged without a check for room: large answers have checked before.
    fn charged(message: Vec<u8>, budget: &Arc<Budget>) -> Bytes {
        let mut held = Charge::nothing(budget);
        held.set(message.len());
        Bytes::from_owner(Self { message, _held: held })
    }
}

impl AsRef<[u8]> for Long {
    fn as_ref(&self) -> &[u8] {
        &self.message
    }
}

fn too_long_for_an_event(bytes: usize) -> RpcError {
    RpcError::internal(format!(
        "The answer has {bytes} bytes, and an event of a stream at most {LONGEST_EVENT}: without a progress token and a \
         log level it comes as JSON, which has no such limit"
    ))
}

#[cfg(test)]
mod tests;
