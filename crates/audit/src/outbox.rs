//! Outbox: lines on their way to a store. A thread sends them in batches, because a database may take long to answer.
//!
//! A line does not change after it has its number, and stays here until the store has it. A batch whose answer was lost is sent
//! again as it was.

use crate::chain::Head;
use crate::error::{AuditError, Problem, StoreError};
use crate::stored::ChainStore;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;

/// The most lines that wait for the store, and their bytes.
const MOST_LINES: usize = 1024;
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The most lines of a batch, and the bytes from which on it has no more.
const MOST_IN_BATCH: usize = 256;
const BYTES_OF_BATCH: usize = 1024 * 1024;

/// The pause after a failed attempt.
const PAUSE: Duration = Duration::from_secs(1);

/// Sends an answer, if its line is in the store, or does something else, if not.
pub(crate) type Then = Box<dyn FnOnce(Result<(), Problem>) + Send>;

/// Receives the result of each attempt.
pub(crate) type OnAttempt = Box<dyn Fn(Option<&Problem>) + Send + Sync>;

pub(crate) struct Outbox {
    /// The name of the chain of this process.
    chain: String,
    store: Arc<dyn ChainStore>,
    on_attempt: OnAttempt,
    state: Mutex<OutboxState>,
    changed: Condvar,
}

struct OutboxState {
    head: Head,
    /// Lines that are not known to be in the store.
    lines: VecDeque<String>,
    bytes: usize,
    /// The number of the first of them.
    first: u64,
    /// What waits for the line of this number.
    waiting: Vec<(u64, Then)>,
    /// Why the last attempt failed.
    problem: Option<StoreError>,
    failures: u64,
    has_thread: bool,
    is_busy: bool,
    is_ended: bool,
}

impl Outbox {
    pub(crate) fn new(chain: String, store: Arc<dyn ChainStore>, on_attempt: OnAttempt) -> Self {
        let state = OutboxState {
            head: Head::START,
            lines: VecDeque::new(),
            bytes: 0,
            first: 1,
            waiting: Vec::new(),
            problem: None,
            failures: 0,
            has_thread: false,
            is_busy: false,
            is_ended: false,
        };
        Self { chain, store, on_attempt, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Starts the thread, which first asks the store whether it answers. Fails if the last attempt did.
    pub(crate) fn prepare(self: &Arc<Self>) -> Result<(), AuditError> {
        self.ready().map(drop)
    }

    /// Takes a line with these members, and returns its number.
    pub(crate) fn append(self: &Arc<Self>, members: &str) -> Result<u64, AuditError> {
        let mut state = self.ready()?;
        if state.lines.len() >= MOST_LINES || state.bytes >= MOST_BYTES {
            return Err(AuditError::Behind { lines: state.lines.len() });
        }
        let (mut line, head) = state.head.next(members);
        line.pop();
        state.bytes += line.len();
        state.lines.push_back(line);
        state.head = head;
        self.changed.notify_all();
        Ok(head.seq)
    }

    fn ready(self: &Arc<Self>) -> Result<MutexGuard<'_, OutboxState>, AuditError> {
        let mut state = self.state.lock();
        if !state.has_thread {
            let outbox = Arc::clone(self);
            let spawned = Builder::new().name("audit".into()).spawn(move || outbox.run());
            spawned.map_err(|source| AuditError::Thread { source })?;
            state.has_thread = true;
        }
        match &state.problem {
            Some(problem) => Err(AuditError::Store(Arc::clone(problem))),
            None => Ok(state),
        }
    }

    /// Calls `then` when the line of this number is in the store or an attempt has failed, perhaps on another thread.
    pub(crate) fn when_stored(&self, seq: u64, then: Then) {
        let mut state = self.state.lock();
        let known = match &state.problem {
            _ if seq < state.first => Ok(()),
            Some(problem) => Err(Arc::new(AuditError::Store(Arc::clone(problem)))),
            None => return state.waiting.push((seq, then)),
        };
        drop(state);
        then(known);
    }

    /// How many lines are not known to be in the store.
    pub(crate) fn count(&self) -> usize {
        self.state.lock().lines.len()
    }

    /// Waits until the store has all lines, or one more attempt has failed.
    pub(crate) fn flush(&self) {
        let mut state = self.state.lock();
        let most = state.failures + 1 + u64::from(state.is_busy);
        let is_idle =
            |state: &OutboxState| !state.is_busy && state.lines.is_empty() && state.problem.is_none();
        while state.has_thread && !is_idle(&state) && state.failures < most {
            // A pause is over then.
            self.changed.notify_all();
            self.changed.wait(&mut state);
        }
    }

    /// Ends the thread, after one attempt if there are lines.
    pub(crate) fn end(&self) {
        self.state.lock().is_ended = true;
        self.changed.notify_all();
    }

    fn run(&self) {
        let gone = Gone(self);
        let mut state = self.state.lock();
        loop {
            let (first, batch) = (state.first, state.batch());
            state.is_busy = true;
            drop(state);
            let count = batch.len();
            self.settle(count, self.store.add(&self.chain, first, batch).map_err(Arc::from));
            state = self.state.lock();
            state.is_busy = false;
            self.changed.notify_all();
            while state.lines.is_empty() && state.problem.is_none() && !state.is_ended {
                self.changed.wait(&mut state);
            }
            let has_failed = state.problem.is_some();
            if state.is_ended && (has_failed || state.lines.is_empty()) {
                break;
            }
            if has_failed {
                self.changed.wait_for(&mut state, PAUSE);
            }
        }
        drop(state);
        drop(gone);
    }

    /// Takes the result of an attempt with so many lines, and passes it on without a lock.
    fn settle(&self, count: usize, added: Result<(), StoreError>) {
        let mut state = self.state.lock();
        let problem = match added {
            Ok(()) => {
                state.remove(count);
                None
            }
            Err(problem) => {
                state.failures += 1;
                Some(problem)
            }
        };
        state.problem.clone_from(&problem);
        let first = state.first;
        let waiting = std::mem::take(&mut state.waiting);
        let (done, waiting) = waiting.into_iter().partition(|(seq, _)| problem.is_some() || *seq < first);
        state.waiting = waiting;
        drop(state);
        let problem = problem.map(|problem| Arc::new(AuditError::Store(problem)));
        (self.on_attempt)(problem.as_ref());
        let done: Vec<(u64, Then)> = done;
        for (_, then) in done {
            then(problem.clone().map_or(Ok(()), Err));
        }
    }
}

impl OutboxState {
    fn batch(&self) -> Vec<String> {
        let mut bytes = 0;
        let lines = self.lines.iter().take(MOST_IN_BATCH).take_while(|line| {
            let has_room = bytes < BYTES_OF_BATCH;
            bytes += line.len();
            has_room
        });
        lines.cloned().collect()
    }

    /// Removes the first lines, which are in the store.
    fn remove(&mut self, count: usize) {
        self.bytes -= self.lines.drain(..count).map(|line| line.len()).sum::<usize>();
        self.first += count as u64;
    }
}

/// The thread has ended when this value is dropped, also if an answer panics. The next line starts another.
struct Gone<'a>(&'a Outbox);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.has_thread = false;
        state.is_busy = false;
        drop(state);
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests;
