//! Audit trail: takes the records of a server, in order. A line is written before the answer that it is about is sent.
//! What cannot be written is kept for a while, and then counted.

use crate::commits::{Commits, Then};
use crate::error::{AuditError, Problem};
use crate::event::Event;
use crate::file::rotation::Rotation;
use crate::key::Key;
use crate::outbox::Outbox;
use crate::record::Record;
use crate::sink::{Destination, Sink, Written};
use crate::stored::ChainStore;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::SystemTime;

/// The most records that are kept while nothing can be written, and their bytes.
const MOST_PENDING: usize = 1024;
const MOST_PENDING_BYTES: usize = 2 * 1024 * 1024;

/// What happens to calls while the audit log cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// They are refused.
    Refuse,
    /// They go on without a record.
    Continue,
}

#[derive(Debug, Clone)]
pub struct Options {
    pub destination: Destination,
    pub rotation: Rotation,
    pub on_error: OnError,
}

/// How many records there were so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    pub written: u64,
    /// Records that are neither written nor kept.
    pub lost: u64,
    /// Attempts to write that failed.
    pub failures: u64,
    /// Whether the last attempt failed.
    pub is_broken: bool,
}

/// Receives each change: why nothing can be written, or `None` when it can again.
type OnChange = dyn Fn(Option<&AuditError>) + Send + Sync;

pub struct Trail {
    state: Mutex<TrailState>,
    /// Whether the sink was opened, and the last attempt to write succeeded.
    is_fine: AtomicBool,
    written: AtomicU64,
    lost: AtomicU64,
    failures: AtomicU64,
    on_error: OnError,
    on_change: OnceLock<Box<OnChange>>,
    commits: Commits,
    destination: Destination,
    key: OnceLock<Key>,
    /// Lines on their way to a store.
    outbox: Option<Arc<Outbox>>,
    /// Identifies this process in the ids of its events, and names its chain in a store.
    run: String,
    events: AtomicU64,
    itself: Weak<Self>,
}

struct TrailState {
    sink: Sink,
    /// The record of the start, until the first record is written.
    start: Option<Record>,
    pending: VecDeque<String>,
    pending_bytes: usize,
    /// Lost since the last line that was written.
    lost: u64,
    problem: Option<Problem>,
    /// Where the last line is, if it can be made durable there.
    last: Option<Written>,
}

impl Trail {
    /// A trail whose first line is `start`. Nothing is opened before there is another record. `store` is the one of several
    /// servers, if there is one.
    pub fn new(options: Options, store: Option<Arc<dyn ChainStore>>, start: Record) -> Arc<Self> {
        let run = new_run();
        Arc::new_cyclic(|itself| {
            let store = store.filter(|_| options.destination == Destination::Store);
            let outbox = store.map(|store| Arc::new(Self::outbox(run.clone(), store, itself)));
            Self::with(options, outbox, start, run, itself)
        })
    }

    fn outbox(run: String, store: Arc<dyn ChainStore>, itself: &Weak<Self>) -> Outbox {
        let itself = itself.clone();
        let on_attempt = move |problem: Option<&Problem>| {
            let Some(trail) = itself.upgrade() else { return };
            match problem {
                Some(problem) => trail.note_failure(problem),
                // What was kept meanwhile is written.
                None => drop(trail.problem()),
            }
        };
        Outbox::new(run, store, Box::new(on_attempt))
    }

    fn with(
        options: Options,
        outbox: Option<Arc<Outbox>>,
        start: Record,
        run: String,
        itself: &Weak<Self>,
    ) -> Self {
        Self {
            state: Mutex::new(TrailState {
                sink: Sink::new(&options.destination, options.rotation, outbox.clone()),
                start: Some(start),
                pending: VecDeque::new(),
                pending_bytes: 0,
                lost: 0,
                problem: None,
                last: None,
            }),
            is_fine: AtomicBool::new(false),
            written: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            on_error: options.on_error,
            on_change: OnceLock::new(),
            commits: Commits::default(),
            destination: options.destination,
            key: OnceLock::new(),
            outbox,
            run,
            events: AtomicU64::new(0),
            itself: itself.clone(),
        }
    }

    /// Sets the receiver of changes, unless there is one.
    pub fn on_change(&self, on_change: impl Fn(Option<&AuditError>) + Send + Sync + 'static) {
        let _ = self.on_change.set(Box::new(on_change));
    }

    /// An id for the next event.
    pub fn event_id(&self) -> String {
        self.event_id_of(self.events.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// The id of an event by its number. The start is number 0.
    fn event_id_of(&self, number: u64) -> String {
        format!("{}-{number}", self.run)
    }

    /// The key of argument hashes: in a file beside a log file, else of this process alone.
    pub fn key(&self) -> Result<&Key, AuditError> {
        if self.key.get().is_none() {
            let key = match self.destination.file() {
                Some(path) => {
                    self.state.lock().sink.prepare()?;
                    Key::beside(path)?
                }
                None => Key::of_this_process()?,
            };
            let _ = self.key.set(key);
        }
        self.key.get().ok_or_else(|| AuditError::Random { source: io::ErrorKind::Other.into() })
    }

    /// Why a call is refused now, if nothing can be written and calls are to be refused then.
    pub fn refusal(&self) -> Option<Problem> {
        if self.on_error == OnError::Continue || self.is_fine.load(Ordering::Acquire) {
            return None;
        }
        self.problem()
    }

    /// Why nothing can be written, if so. It is tried again.
    pub fn problem(&self) -> Option<Problem> {
        if self.is_fine.load(Ordering::Acquire) {
            return None;
        }
        let mut state = self.state.lock();
        let tried = state.sink.prepare().and_then(|()| self.write_pending(&mut state));
        self.settle(state, tried)
    }

    /// Whether calls are refused while nothing can be written.
    pub fn refuses(&self) -> bool {
        self.on_error == OnError::Refuse
    }

    /// Writes a record. If that fails, it is kept and written later.
    pub fn append(&self, record: Record) -> Result<(), Problem> {
        self.write(record).map(drop)
    }

    /// Writes a record and makes it durable, then calls `then`, perhaps on another thread. Only a file or a store can do that.
    pub fn append_durably(&self, record: Record, then: impl FnOnce(Result<(), Problem>) + Send + 'static) {
        let file = match self.write(record) {
            Err(why) => return then(Err(why)),
            Ok(None) => return then(Ok(())),
            Ok(Some(Written::File(file))) => file,
            Ok(Some(Written::Queued(outbox, seq))) => return outbox.when_stored(seq, Box::new(then)),
        };
        let trail = self.itself.clone();
        let then: Then = Box::new(move |synced: io::Result<()>| {
            then(synced.map_err(|source| {
                let problem = Arc::new(AuditError::Commit { source });
                if let Some(trail) = trail.upgrade() {
                    trail.note_failure(&problem);
                }
                problem
            }));
        });
        self.commits.commit(file, then);
    }

    /// Opens the file again, under the name that it has now.
    pub fn reopen(&self) {
        self.state.lock().sink.reopen();
    }

    /// Writes a last record, if there was any before it, and waits until all answers have been sent that wait for their
    /// lines.
    pub fn close(&self, end: impl FnOnce() -> Record) {
        let has_begun = self.state.lock().start.is_none();
        if has_begun {
            let _ = self.append(end());
        }
        self.flush();
    }

    /// Waits until all answers have been sent that wait for their lines, and a store has the lines or does not answer.
    pub fn flush(&self) {
        if let Some(outbox) = &self.outbox {
            outbox.flush();
        }
        self.commits.flush();
    }

    pub fn counts(&self) -> Counts {
        let on_their_way = self.outbox.as_ref().map_or(0, |outbox| outbox.count() as u64);
        Counts {
            written: self.written.load(Ordering::Relaxed).saturating_sub(on_their_way),
            lost: self.lost.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            is_broken: self.state.lock().problem.is_some(),
        }
    }

    fn write(&self, record: Record) -> Result<Option<Written>, Problem> {
        let members = record.into_members();
        let mut state = self.state.lock();
        state.keep(members);
        let written = self.write_pending(&mut state);
        let last = state.last.clone();
        match self.settle(state, written) {
            None => Ok(last),
            Some(why) => Err(why),
        }
    }

    /// Writes what is kept, oldest first.
    fn write_pending(&self, state: &mut TrailState) -> Result<(), AuditError> {
        if !state.pending.is_empty()
            && let Some(start) = &state.start
        {
            let mut start = start.clone();
            start.text("event.id", &self.event_id_of(0));
            state.last = state.sink.append(&start.into_members())?;
            state.start = None;
            self.written.fetch_add(1, Ordering::Relaxed);
        }
        while let Some(members) = state.pending.front() {
            state.last = state.sink.append(members)?;
            state.pending_bytes -= members.len();
            state.pending.pop_front();
            self.written.fetch_add(1, Ordering::Relaxed);
        }
        if state.lost > 0 {
            let mut record = Record::new(Event::Lost, SystemTime::now());
            record.number("audit.lost_records", state.lost);
            state.last = state.sink.append(&record.into_members())?;
            state.lost = 0;
            self.written.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Notes how an attempt ended, and returns why it failed.
    fn settle(
        &self,
        mut state: parking_lot::MutexGuard<'_, TrailState>,
        tried: Result<(), AuditError>,
    ) -> Option<Problem> {
        let problem = tried.err().map(Arc::new);
        if problem.is_some() {
            self.failures.fetch_add(1, Ordering::Relaxed);
            self.lost.fetch_add(state.drop_newest(), Ordering::Relaxed);
        }
        self.is_fine.store(problem.is_none(), Ordering::Release);
        let has_changed = problem.is_some() != state.problem.is_some();
        state.problem.clone_from(&problem);
        drop(state);
        if has_changed && let Some(on_change) = self.on_change.get() {
            on_change(problem.as_deref());
        }
        problem
    }

    fn note_failure(&self, problem: &Problem) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        let mut state = self.state.lock();
        self.is_fine.store(false, Ordering::Release);
        let before = state.problem.replace(Arc::clone(problem));
        drop(state);
        if before.is_none()
            && let Some(on_change) = self.on_change.get()
        {
            on_change(Some(problem));
        }
    }
}

impl Drop for Trail {
    fn drop(&mut self) {
        if let Some(outbox) = &self.outbox {
            outbox.end();
        }
    }
}

/// Identifies a process among all.
fn new_run() -> String {
    let mut run = String::new();
    let random = crate::key::random().unwrap_or_default();
    crate::key::push_hex(&mut run, &random[..8]);
    run
}

impl TrailState {
    fn keep(&mut self, members: String) {
        self.pending_bytes += members.len();
        self.pending.push_back(members);
    }

    /// Drops the newest records beyond the limits, and returns how many.
    fn drop_newest(&mut self) -> u64 {
        let mut dropped = 0;
        while self.pending.len() > MOST_PENDING || self.pending_bytes > MOST_PENDING_BYTES {
            let Some(members) = self.pending.pop_back() else { break };
            self.pending_bytes -= members.len();
            dropped += 1;
        }
        self.lost += dropped;
        dropped
    }
}

#[cfg(test)]
mod tests;
