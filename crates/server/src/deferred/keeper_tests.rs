//! Leases: a keeper renews its lease, and stops when it has lost it.

use super::{Deferred, Keeper, TaskReply};
use crate::logging::{Log, Style};
use crate::replies::Reply;
use mcp_bash_settings::TaskSettings;
use mcp_bash_tasks::{
    Claim, Durability, Entrant, Filter, Lease, Note, Owner, Status, StoreError, Swept, TaskId, TaskRecord,
    TaskStore, TurnLimits,
};
use mcp_bash_wire::LogLevel;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use tokio::time::Instant;

/// A store with leases. It answers renewals in this order, and then repeats the last answer.
struct Leased {
    answers: Mutex<Vec<Renewal>>,
    renewals: AtomicUsize,
    /// How often it is unavailable when a result is written.
    refusals: AtomicUsize,
    written: Mutex<Vec<Status>>,
    /// Whether it is the turn of the task, in reverse order. Afterwards it always is.
    turns: Mutex<Vec<bool>>,
    /// Disconnected when the test ends. Until then a renewal may hang.
    end: Mutex<Receiver<()>>,
}

#[derive(Clone, Copy)]
enum Renewal {
    Granted,
    Unreachable,
    /// The network has lost it.
    Hangs,
    Stale,
}

impl Leased {
    /// The store, and a guard that lives as long as the test.
    fn new(answers: &[Renewal]) -> (Arc<Self>, Sender<()>) {
        let (test, end) = channel();
        let store = Self {
            answers: Mutex::new(answers.iter().rev().copied().collect()),
            renewals: AtomicUsize::new(0),
            refusals: AtomicUsize::new(0),
            written: Mutex::default(),
            turns: Mutex::default(),
            end: Mutex::new(end),
        };
        (Arc::new(store), test)
    }
}

impl TaskStore for Leased {
    fn lease_time(&self) -> Option<Duration> {
        Some(Duration::from_secs(30))
    }

    fn renew(&self, lease: &Lease) -> Result<(), StoreError> {
        self.renewals.fetch_add(1, Ordering::Relaxed);
        let mut answers = self.answers.lock();
        let answer = if answers.len() > 1 { answers.pop() } else { answers.last().copied() };
        drop(answers);
        match answer {
            Some(Renewal::Hangs) => {
                let _ = self.end.lock().recv();
                Err(away())
            }
            Some(Renewal::Stale) => Err(StoreError::Stale { id: lease.id.clone(), attempt: 2 }),
            Some(Renewal::Unreachable) => Err(away()),
            Some(Renewal::Granted) | None => Ok(()),
        }
    }

    fn update(&self, _: &Lease, record: &TaskRecord, _: Durability) -> Result<(), StoreError> {
        self.written.lock().push(record.status);
        Ok(())
    }

    fn complete(&self, _: &Lease, record: &mut TaskRecord, _: String) -> Result<(), StoreError> {
        let is_away = |left: usize| left.checked_sub(1);
        if self.refusals.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_away).is_ok() {
            return Err(away());
        }
        self.written.lock().push(record.status);
        Ok(())
    }

    fn notes(&self, _: &TaskId, from: u64) -> Result<(Vec<Note>, u64), StoreError> {
        Ok((Vec::new(), from))
    }

    fn place(&self) -> String {
        String::new()
    }

    fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn create(&self, record: &TaskRecord, _: Option<&str>) -> Result<Lease, StoreError> {
        Ok(Lease::new(record.id.clone(), record.attempt, Box::new(())))
    }

    fn get(&self, _: &TaskId) -> Result<Option<TaskRecord>, StoreError> {
        Ok(None)
    }

    fn result(&self, _: &TaskRecord) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    fn request(&self, _: &TaskId) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    fn claim(&self, _: &TaskId) -> Result<Claim, StoreError> {
        Ok(Claim::Gone)
    }

    fn begin(&self, _: &Lease, _: &mut TaskRecord, _: TurnLimits) -> Result<bool, StoreError> {
        Ok(self.turns.lock().pop().unwrap_or(true))
    }

    fn entrants(&self) -> Result<Vec<Entrant>, StoreError> {
        Ok(Vec::new())
    }

    fn post(&self, _: &TaskId, _: &Note) -> Result<(), StoreError> {
        Ok(())
    }

    fn list(&self, _: Filter<'_>, _: usize) -> Result<Vec<TaskRecord>, StoreError> {
        Ok(Vec::new())
    }

    fn sweep(&self, _: u64, _: usize) -> Result<Swept, StoreError> {
        Ok(Swept::default())
    }

    fn remove(&self, _: Lease) -> Result<(), StoreError> {
        Ok(())
    }
}

fn away() -> StoreError {
    StoreError::Away("it is away".into())
}

fn record(repeatable: bool) -> TaskRecord {
    TaskRecord {
        id: TaskId::of_random([7; 16]),
        owner: Owner { known_by: "token".to_owned(), name: "ada".to_owned() },
        tool: "slow".to_owned(),
        revision: "2026-07-28".to_owned(),
        status: Status::Working,
        status_message: None,
        created_ms: 0,
        updated_ms: 0,
        ttl_ms: u64::MAX,
        ttl_added_ms: 0,
        poll_ms: 1000,
        questions: Vec::new(),
        used_keys: Vec::new(),
        result: None,
        has_long_result: false,
        has_tool_failed: false,
        error: None,
        notes_from: 0,
        repeatable,
        turn: None,
        attempt: 1,
    }
}

/// Keeps a task whose call has this response or none, until the keeper ends. True if the keeper has cancelled the call.
async fn keep(store: &Arc<Leased>, repeatable: bool, answer: Option<&str>) -> bool {
    let settings = TaskSettings {
        store: None,
        ttl: Duration::from_secs(60),
        most_per_caller: 9,
        most_running: None,
        most_running_per_caller: None,
    };
    let log = Arc::new(Log::new(LogLevel::Error, Style::Hidden));
    let deferred = Deferred::new(Arc::clone(store) as Arc<dyn TaskStore>, &settings, log);
    let record = record(repeatable);
    let lease = store.create(&record, None).unwrap();
    let (reply, events) = TaskReply::new();
    if let Some(answer) = answer {
        reply.answer(answer.into());
    }
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&is_cancelled);
    let cancel = Box::new(move || told.store(true, Ordering::Relaxed));
    let running = deferred.enter(&record);
    Keeper { deferred, running, lease, record, events, session: None, begin: None, cancel }.run().await;
    drop(reply);
    is_cancelled.load(Ordering::Relaxed)
}

#[tokio::test(start_paused = true)]
async fn a_keeper_that_has_lost_its_lease_stops_the_call_and_writes_nothing() {
    let (store, _test) = Leased::new(&[Renewal::Granted, Renewal::Granted, Renewal::Stale]);
    assert!(keep(&store, false, None).await, "another process has the task");
    assert_eq!(store.renewals.load(Ordering::Relaxed), 3);
    assert_eq!(*store.written.lock(), []);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_may_run_elsewhere_is_given_up_before_its_lease_ends() {
    for refusal in [Renewal::Unreachable, Renewal::Hangs] {
        let (store, _test) = Leased::new(&[refusal]);
        let begun = Instant::now();
        assert!(keep(&store, true, None).await, "another process may run the task soon");
        assert!(begun.elapsed() < store.lease_time().unwrap(), "it is too late");
        assert_eq!(*store.written.lock(), []);
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_runs_nowhere_else_goes_on_while_the_store_is_away() {
    let mut answers = vec![Renewal::Unreachable; 100];
    answers.push(Renewal::Stale);
    let (store, _test) = Leased::new(&answers);
    let begun = Instant::now();
    assert!(keep(&store, false, None).await, "another process has taken it in the end");
    assert!(begun.elapsed() > 3 * store.lease_time().unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_result_is_kept_when_the_store_is_back() {
    let (store, _test) = Leased::new(&[Renewal::Granted]);
    store.refusals.store(5, Ordering::Relaxed);
    let answer = r#"{"jsonrpc":"2.0","id":"x","result":{"content":[]}}"#;
    assert!(!keep(&store, false, Some(answer)).await);
    assert_eq!(*store.written.lock(), [Status::Completed]);
}
