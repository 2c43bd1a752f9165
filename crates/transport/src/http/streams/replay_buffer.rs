//! SSE replay buffer: the messages of one reply, or those of a session that belong to no request, in order. The reader
//! takes them one by one. Where a reader may reconnect, messages are kept for a while after they were taken.

use bytes::Bytes;
use mcp_bash_budget::{Budget, Charge, SMALL};
use mcp_bash_server::Server;
use mcp_bash_wire::{Id, RpcError, write};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// A longer event than this makes clients give up. An answer that is longer leaves as JSON, where nothing has left before.
pub(in crate::http) const LONGEST_EVENT: usize = 1024 * 1024;

/// So much of what a reader took is kept for one that comes back, besides what it did not take.
const MOST_KEPT: usize = 1024 * 1024;

/// What holds for all buffers.
pub(in crate::http) struct Rules {
    /// How much may be left unread before what can be missed is dropped.
    pub(in crate::http) limit: usize,
    /// What was held back while somebody did not read goes on.
    pub(in crate::http) relieve: Box<dyn Fn() + Send + Sync>,
}

impl Rules {
    pub(in crate::http) fn of(server: &Arc<Server>) -> Arc<Self> {
        let (limit, server) = (server.settings().max_unread_bytes, Arc::downgrade(server));
        let relieve = move || {
            if let Some(server) = server.upgrade() {
                // It may be a lot, and this thread serves other readers too.
                tokio::spawn(async move { server.relieved() });
            }
        };
        Arc::new(Self { limit, relieve: Box::new(relieve) })
    }
}

pub(in crate::http) struct ReplayBuffer {
    /// For its reader when it comes back. None where what was taken is gone.
    pub(in crate::http) number: Option<u64>,
    rules: Arc<Rules>,
    budget: Arc<Budget>,
    is_clogged: AtomicBool,
    state: Mutex<State>,
}

struct State {
    messages: VecDeque<Message>,
    /// How many bytes were said so far.
    said_bytes: u64,
    /// The number of the first of them. Numbers begin with 1.
    first: u64,
    /// The number of the next one to be taken.
    next: u64,
    unread_bytes: usize,
    taken_bytes: usize,
    /// What the short ones take in all. A long one has a charge of its own, which it keeps until it has left.
    short_bytes: usize,
    held: Charge,
    stage: Stage,
    /// Since when there is nothing more to come.
    over_since: Option<Instant>,
    /// Whether a stream of events has begun, so that the answer has to be one of them.
    has_begun: bool,
    /// Nobody will read, ever.
    is_closed: bool,
    /// Counts those who read, of whom only the last one counts.
    reader: u64,
    has_reader: bool,
    waker: Option<Waker>,
}

/// A message, and how many bytes came before it: so that resuming costs the same at any position.
struct Message {
    bytes: Bytes,
    before: u64,
}

/// How far the messages are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Open,
    /// The last message is the answer; an error with this code where the request was not served.
    Answered(Option<i32>),
    /// There is no answer.
    Ended,
}

/// How a reply begins.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::http) enum Beginning {
    /// With its answer, which is all there is; an error with this code where the request was not served.
    Answer(Bytes, Option<i32>),
    /// With something else.
    Events,
    /// It was over before anything was said.
    Nothing,
}

/// The next message for a reader.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::http) enum Next {
    Message(u64, Bytes),
    /// There is nothing more to come.
    Over,
    /// Another reader has taken over.
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
                said_bytes: 0,
                first: 1,
                next: 1,
                unread_bytes: 0,
                taken_bytes: 0,
                short_bytes: 0,
                held: Charge::nothing(budget),
                stage: Stage::Open,
                over_since: None,
                has_begun: false,
                is_closed: false,
                reader: 0,
                has_reader: false,
                waker: None,
            }),
        }
    }

    /// Queues a message that is not the last one. Nothing follows the answer.
    pub(in crate::http) fn say(&self, message: Vec<u8>) {
        let mut state = self.state.lock();
        if message.len() <= LONGEST_EVENT && !matches!(state.stage, Stage::Answered(_)) {
            self.push(&mut state, message);
        }
        wake(state);
    }

    /// Queues an answer that is not the last message. One that is too long for an event is replaced by an error.
    pub(in crate::http) fn say_or_error(&self, message: Vec<u8>, id: impl FnOnce() -> Option<Id>) {
        if message.len() <= LONGEST_EVENT {
            return self.say(message);
        }
        let error = too_long_for_an_event(message.len());
        drop(message);
        self.say(write::error(id().as_ref(), &error));
    }

    /// Queues the answer. One that is too long for an event is replaced by an error if it has to be one.
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
        state.set_over(Stage::Answered(refused));
        if message.len() <= LONGEST_EVENT {
            self.push(&mut state, message);
        } else if state.has_begun {
            let error = too_long_for_an_event(message.len());
            drop(message);
            self.push(&mut state, write::error(id().as_ref(), &error));
        } else {
            // Nothing has left, so that the answer can be all there is.
            state.forget_all();
            self.push(&mut state, message);
        }
        wake(state);
    }

    /// There will be no answer.
    pub(in crate::http) fn end(&self) {
        let mut state = self.state.lock();
        if state.stage == Stage::Open {
            state.set_over(Stage::Ended);
        }
        wake(state);
    }

    /// Nobody will read any more.
    pub(in crate::http) fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        state.forget_all();
        self.is_clogged.store(false, Ordering::Release);
        wake(state);
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
        let before = state.said_bytes;
        state.messages.push_back(Message { bytes, before });
        state.said_bytes += length as u64;
        state.unread_bytes += length;
        if state.unread_bytes > self.rules.limit {
            self.is_clogged.store(true, Ordering::Release);
        }
    }

    /// How the reply begins, if something was said.
    pub(in crate::http) fn try_beginning(&self) -> Option<Beginning> {
        self.state.lock().beginning()
    }

    /// How the reply begins, as soon as something was said.
    pub(in crate::http) fn poll_beginning(&self, context: &Context<'_>) -> Poll<Beginning> {
        let mut state = self.state.lock();
        if let Some(beginning) = state.beginning() {
            return Poll::Ready(beginning);
        }
        state.wait(context);
        Poll::Pending
    }

    /// How the reply begins if it has to begin now: with events, unless there is an answer.
    pub(in crate::http) fn begin_now(&self) -> Beginning {
        let mut state = self.state.lock();
        state.beginning().unwrap_or_else(|| state.begin())
    }

    /// Everything is an event from now on.
    pub(in crate::http) fn begin(&self) {
        self.state.lock().begin();
    }

    /// The longest message that can leave from now on.
    pub(in crate::http) fn longest_message(&self) -> usize {
        if self.state.lock().has_begun { LONGEST_EVENT } else { usize::MAX }
    }

    /// A reader of the messages that no reader has taken yet. It replaces the previous reader.
    pub(in crate::http) fn take_over(&self) -> u64 {
        self.state.lock().take_over()
    }

    /// A reader of the messages after the one with that number. It replaces the previous reader. None where some of it is not kept
    /// any more, or was never said.
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

    /// The next message for that reader.
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
            let is_relieved = self.is_clogged() && state.unread_bytes <= self.rules.limit / 2;
            drop(state);
            if is_relieved {
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

    /// That reader is gone.
    pub(in crate::http) fn leave(&self, reader: u64) {
        let mut state = self.state.lock();
        if state.reader == reader {
            state.has_reader = false;
            state.waker = None;
        }
    }

    /// For how long all is said. None while there is more to come.
    pub(in crate::http) fn over_for(&self) -> Option<Duration> {
        self.state.lock().over_since.map(|since| since.elapsed())
    }

    /// How much is kept.
    pub(in crate::http) fn kept_bytes(&self) -> usize {
        let state = self.state.lock();
        state.unread_bytes + state.taken_bytes
    }

    /// The number of the last message that was taken.
    pub(in crate::http) fn last_taken(&self) -> u64 {
        self.state.lock().next - 1
    }

    /// Whether somebody reads.
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
                self.let_go(&message);
                Some(Beginning::Answer(message, refused))
            }
            _ if !self.messages.is_empty() => Some(self.begin()),
            Stage::Ended => Some(Beginning::Nothing),
            _ => self.is_closed.then_some(Beginning::Nothing),
        }
    }

    fn set_over(&mut self, stage: Stage) {
        self.stage = stage;
        self.over_since = Some(Instant::now());
    }

    /// Decided while nothing can be said, lest an answer that is too long for an event comes in between.
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
        // The previous reader ends.
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
        self.reader
    }

    /// Goes back, or ahead, to the message of that number.
    fn rewind(&mut self, next: u64) {
        self.next = next;
        let (first, next) = (self.said_before(self.first), self.said_before(next));
        let bytes = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        self.taken_bytes = bytes(next - first);
        self.unread_bytes = bytes(self.said_bytes - next);
    }

    /// How many bytes were said before the message of that number, which is kept or the next one to be said.
    fn said_before(&self, number: u64) -> u64 {
        let index = usize::try_from(number - self.first).unwrap_or(usize::MAX);
        self.messages.get(index).map_or(self.said_bytes, |message| message.before)
    }

    /// Lets go of the oldest of what was taken, until no more than `most` bytes of it are left.
    fn keep_at_most(&mut self, most: usize) {
        while self.taken_bytes > most && self.first < self.next {
            let Some(Message { bytes: message, .. }) = self.messages.pop_front() else { break };
            self.first += 1;
            self.taken_bytes -= message.len();
            self.let_go(&message);
        }
    }

    fn forget_all(&mut self) {
        self.first += self.messages.len() as u64;
        self.next = self.first;
        self.messages = VecDeque::new();
        (self.unread_bytes, self.taken_bytes, self.short_bytes) = (0, 0, 0);
        self.held.set(0);
    }

    fn let_go(&mut self, message: &Bytes) {
        if message.len() <= SMALL {
            self.short_bytes -= message.len();
            self.held.set(self.short_bytes);
        }
    }
}

/// A long message, and what it costs until nobody holds it any more: not we, and not the connection that it leaves on.
struct Long {
    message: Vec<u8>,
    _held: Charge,
}

impl Long {
    /// What was said has to be kept: a large answer has asked for room before.
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

/// Wakes the reader after the state is unlocked.
fn wake(mut state: parking_lot::MutexGuard<'_, State>) {
    let waker = state.waker.take();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
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
