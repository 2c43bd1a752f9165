//! Task table: the tasks that this process runs, and the store of all tasks.

use super::turns::{PlaceInTurn, WaitingHere};
use super::view::{View, owner_of};
use crate::callers::Principal;
use crate::logging::Log;
use crate::requests::TaskQuestions;
use mcp_bash_settings::TaskSettings;
use mcp_bash_tasks::{
    Claim, Durability, Failure, Filter, Lease, Note, Owner, Status, StoreError, TaskId, TaskRecord,
    TaskStore, Turn, TurnLimits,
};
use mcp_bash_wire::{LogLevel, Revision, code};
use parking_lot::{Condvar, Mutex};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use thiserror::Error;
use tokio::sync::{Notify, watch};

/// How long a client should wait between requests for a task.
const POLL: Duration = Duration::from_secs(1);

/// Why a call does not become a task.
#[derive(Debug, Error)]
pub(crate) enum NotMade {
    #[error(
        "{0} tasks of this caller are kept already; MCPBASH_MAX_TASKS_PER_CALLER sets the limit, and tasks expire after \
             MCPBASH_TASK_TTL_SECS"
    )]
    TooMany(usize),
    #[error("the task cannot be kept: {0}")]
    Store(#[from] StoreError),
    #[error("there are no random numbers")]
    NoId,
}

/// The tasks of a project, as this process sees them.
pub(crate) struct Deferred {
    store: Arc<dyn TaskStore>,
    log: Arc<Log>,
    ttl: Duration,
    most_per_caller: usize,
    limits: TurnLimits,
    waiting: Arc<WaitingHere>,
    running: Mutex<HashMap<TaskId, Arc<Running>>>,
    /// Notified when a task stops running here.
    left: Condvar,
    /// The expiry times of the tasks that this process created, by caller, if the store does not count them.
    expiries: Mutex<HashMap<Owner, VecDeque<u64>>>,
    /// Changes whenever a task of this process changes.
    changes: watch::Sender<u64>,
    is_stopping: AtomicBool,
    /// Whether no task starts here any more.
    is_leaving: AtomicBool,
    /// Whether expired and abandoned tasks are swept.
    is_tended: AtomicBool,
    /// Whether a problem of the store was already logged as a warning.
    has_told: AtomicBool,
}

/// A task that this process runs.
pub(crate) struct Running {
    pub(crate) questions: Arc<TaskQuestions>,
    /// Wakes the keeper: there are notes or questions, or the server is stopping.
    pub(super) poke: Arc<Notify>,
}

impl Deferred {
    /// Uses a store, which is not opened before the first task.
    pub(crate) fn new(store: Arc<dyn TaskStore>, settings: &TaskSettings, log: Arc<Log>) -> Arc<Self> {
        let deferred = Arc::new(Self {
            store,
            log,
            ttl: settings.ttl,
            most_per_caller: settings.most_per_caller,
            limits: TurnLimits { all: settings.most_running, per_caller: settings.most_running_per_caller },
            waiting: Arc::default(),
            running: Mutex::default(),
            left: Condvar::new(),
            expiries: Mutex::default(),
            changes: watch::Sender::new(0),
            is_stopping: AtomicBool::new(false),
            is_leaving: AtomicBool::new(false),
            is_tended: AtomicBool::new(false),
            has_told: AtomicBool::new(false),
        });
        let told = Arc::downgrade(&deferred);
        deferred.store.on_change(Box::new(move |id| {
            if let Some(deferred) = told.upgrade() {
                deferred.wake_keeper(id);
            }
        }));
        deferred
    }

    pub(crate) fn store(&self) -> &Arc<dyn TaskStore> {
        &self.store
    }

    /// Records that tasks are tended. False if they already were.
    pub(crate) fn is_tended_from_now_on(&self) -> bool {
        !self.is_tended.swap(true, Ordering::Relaxed)
    }

    /// Creates a task durably. May block on the disk. The client may ask for a `ttl`.
    pub(crate) fn create(
        &self,
        principal: &Principal,
        id: TaskId,
        call: &NewTask<'_>,
    ) -> Result<(Lease, TaskRecord), NotMade> {
        let (now, owner) = (now_ms(), owner_of(&principal.identity));
        let ttl = call.ttl.map_or(self.ttl, |asked| asked.clamp(Duration::from_millis(1), self.ttl));
        let ttl_ms = milliseconds(ttl);
        match self.store.count(&owner, now)? {
            Some(count) if count >= self.most_per_caller => return Err(NotMade::TooMany(count)),
            Some(_) => {}
            None => self.count(&owner, now, ttl_ms)?,
        }
        let record = TaskRecord {
            id,
            owner,
            tool: call.tool.to_owned(),
            revision: call.revision.as_str().to_owned(),
            status: Status::Working,
            status_message: None,
            created_ms: now,
            updated_ms: now,
            ttl_ms,
            ttl_added_ms: 0,
            poll_ms: milliseconds(POLL),
            questions: Vec::new(),
            used_keys: Vec::new(),
            result: None,
            has_long_result: false,
            has_tool_failed: false,
            error: None,
            notes_from: 0,
            repeatable: call.is_repeatable,
            turn: call.turn,
            attempt: 1,
        };
        match self.store.create(&record, call.request) {
            Ok(lease) => Ok((lease, record)),
            Err(error) => {
                self.uncount(&record);
                self.report(&error);
                Err(error.into())
            }
        }
    }

    /// Counts a new task of a caller, unless it has too many that are not expired.
    fn count(&self, owner: &Owner, now: u64, ttl_ms: u64) -> Result<(), NotMade> {
        let mut expiries = self.expiries.lock();
        let own = expiries.entry(owner.clone()).or_default();
        own.retain(|expiry| *expiry > now);
        if own.len() >= self.most_per_caller {
            return Err(NotMade::TooMany(own.len()));
        }
        own.push_back(now.saturating_add(ttl_ms));
        // Up to two callers are removed whose tasks have all expired.
        let gone: Vec<Owner> = expiries
            .iter()
            .filter(|(_, own)| own.iter().all(|expiry| *expiry <= now))
            .map(|(owner, _)| owner.clone())
            .take(2)
            .collect();
        for owner in gone {
            expiries.remove(&owner);
        }
        Ok(())
    }

    /// Takes back the count of a task that could not be created.
    fn uncount(&self, record: &TaskRecord) {
        let expiry = record.created_ms.saturating_add(record.ttl_ms);
        if let Some(own) = self.expiries.lock().get_mut(&record.owner)
            && let Some(place) = own.iter().rposition(|known| *known == expiry)
        {
            own.remove(place);
        }
    }

    /// Adds a task that this process runs from now on.
    pub(crate) fn enter(&self, record: &TaskRecord) -> Arc<Running> {
        let poke: Arc<Notify> = Arc::default();
        let questions = Arc::new(TaskQuestions::new(&record.used_keys, Arc::clone(&poke)));
        let running = Arc::new(Running { questions, poke });
        self.running.lock().insert(record.id.clone(), Arc::clone(&running));
        running
    }

    /// Removes a task that this process does not run any more.
    pub(super) fn leave(&self, id: &TaskId) {
        self.running.lock().remove(id);
        self.waiting.wake_first();
        self.left.notify_all();
        self.announce();
    }

    /// Announces a change of a task of this process.
    pub(super) fn announce(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// The changes of this process's tasks.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// How many tasks may run at a time.
    pub(super) fn limits(&self) -> TurnLimits {
        self.limits
    }

    /// How a task with this priority takes turns, if a limit applies to it. It starts as waiting.
    pub(crate) fn turn(&self, priority: i32, most_of_tool: Option<u32>) -> Option<Turn> {
        let is_limited = self.limits.hold_something() || most_of_tool.is_some();
        is_limited.then_some(Turn { waits: true, priority, most_of_tool })
    }

    /// Adds a task to those that wait here.
    pub(super) fn wait(&self, record: &TaskRecord, running: &Running) -> Option<PlaceInTurn> {
        self.waiting.enter(record, &running.poke)
    }

    fn is_running(&self, id: &TaskId) -> bool {
        self.running.lock().contains_key(id)
    }

    /// The task with this id, if it belongs to this caller and has not expired. Other callers do not even learn that it exists.
    /// An error while the store is unavailable, so that the task is not reported as gone.
    pub(crate) fn find(&self, id: &str, principal: &Principal) -> Result<Option<View>, StoreError> {
        let Some(id) = TaskId::parse(id) else { return Ok(None) };
        let record = match self.store.get(&id) {
            Ok(record) => record,
            Err(error) => {
                self.report(&error);
                return if error.is_passing() { Err(error) } else { Ok(None) };
            }
        };
        let is_shown = |record: &TaskRecord| {
            record.owner == owner_of(&principal.identity) && !record.is_expired(now_ms())
        };
        Ok(record.filter(is_shown).map(|record| View::of(record, &*self.store)))
    }

    /// The members of a task's result, if it has one.
    pub(crate) fn result(&self, view: &View) -> Result<Option<String>, StoreError> {
        self.store.result(&view.record)
    }

    /// Posts notes for the process that runs a task.
    pub(crate) fn post(&self, id: &TaskId, notes: &[Note]) -> Result<(), StoreError> {
        for note in notes {
            self.store.post(id, note)?;
        }
        self.wake_keeper(id);
        Ok(())
    }

    /// Wakes the keeper of a task that may have notes, or may have changed in another process.
    fn wake_keeper(&self, id: &TaskId) {
        let running = self.running.lock().get(id).cloned();
        if let Some(running) = running {
            running.poke.notify_one();
        }
        self.waiting.wake_first();
        self.announce();
    }

    /// A page of at most `most` tasks of a caller, ordered by id and after `after`, and the id to continue after if there are
    /// more.
    pub(crate) fn page(
        &self,
        principal: &Principal,
        after: Option<&TaskId>,
        most: usize,
    ) -> Result<(Vec<View>, Option<TaskId>), StoreError> {
        let (owner, now) = (owner_of(&principal.identity), now_ms());
        let filter = Filter { owner: Some(&owner), after, ..Filter::default() };
        let mut records = self.store.list(filter, most + 1)?;
        let has_more = records.len() > most;
        records.truncate(most);
        let next = records.last().filter(|_| has_more).map(|record| record.id.clone());
        records.retain(|record| !record.is_expired(now));
        Ok((records.into_iter().map(|record| View::of(record, &*self.store)).collect(), next))
    }

    /// Claims a task whose process may have died. If it has, the task fails, unless it may run again and `may_run_again`
    /// accepts it: then this process has it now.
    pub(crate) fn settle(
        &self,
        id: &TaskId,
        may_run_again: impl Fn(&TaskRecord) -> bool,
    ) -> Option<(Lease, TaskRecord)> {
        if self.is_running(id) || self.is_stopping() {
            return None;
        }
        let is_ours = |record: &TaskRecord| !record.may_begin_elsewhere() || may_run_again(record);
        let record = self.store.get(id).ok().flatten();
        record.filter(|record| !record.status.is_final() && is_ours(record))?;
        match self.store.claim(id) {
            Ok(Claim::Taken(lease, record)) if self.is_cancelled(&record) => {
                self.end_abandoned(&lease, record, |record| record.end(Status::Cancelled, now_ms()));
            }
            Ok(Claim::Taken(lease, record)) if record.may_begin_elsewhere() => return Some((lease, record)),
            Ok(Claim::Taken(lease, record)) => self.fail_abandoned(&lease, record),
            Ok(Claim::Held | Claim::Finished(..) | Claim::Gone) => {}
            Err(error) => self.report(&error),
        }
        None
    }

    /// Fails an abandoned task that cannot run again.
    pub(crate) fn fail_abandoned(&self, lease: &Lease, record: TaskRecord) {
        self.end_abandoned(lease, record, |record| record.fail(died(), now_ms()));
    }

    /// Whether a client has cancelled the task.
    fn is_cancelled(&self, record: &TaskRecord) -> bool {
        self.store.notes(&record.id, record.notes_from).is_ok_and(|(notes, _)| notes.contains(&Note::Cancel))
    }

    fn end_abandoned(&self, lease: &Lease, mut record: TaskRecord, end: impl FnOnce(&mut TaskRecord)) {
        end(&mut record);
        if let Err(error) = self.store.update(lease, &record, Durability::Durable) {
            self.report(&error);
        }
    }

    /// Completes when this process runs no task. Tasks that have not started are left to other servers.
    pub(crate) async fn idle(&self) {
        self.is_leaving.store(true, Ordering::Release);
        self.waiting.wake_all();
        let mut changes = self.changes();
        while !self.running.lock().is_empty() && changes.changed().await.is_ok() {}
    }

    /// Stops the tasks of this process, and waits for a limited time until that is recorded: tasks that may run again are left
    /// to the next server, the others fail. Blocks.
    pub(crate) fn stop(&self, patience: Duration) {
        self.is_stopping.store(true, Ordering::Release);
        let mut running = self.running.lock();
        for task in running.values() {
            task.poke.notify_one();
        }
        self.left.wait_while_for(&mut running, |running| !running.is_empty(), patience);
    }

    /// Whether this process is stopping and does not run this task.
    pub(crate) fn has_left(&self, id: &TaskId) -> bool {
        self.is_stopping() && !self.is_running(id)
    }

    /// Whether no task starts here any more.
    pub(super) fn is_leaving(&self) -> bool {
        self.is_stopping() || self.is_leaving.load(Ordering::Acquire)
    }

    /// Writes how a restarted task takes turns.
    pub(crate) fn rejoin(
        &self,
        lease: &Lease,
        record: &mut TaskRecord,
        fresh: Option<Turn>,
    ) -> Result<(), StoreError> {
        let waits = record.waits().then_some(Turn { waits: true, priority: 0, most_of_tool: None });
        record.turn = fresh.or(waits);
        if record.turn.is_some() { self.store.update(lease, record, Durability::Durable) } else { Ok(()) }
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    /// Logs a problem of the store: the first as a warning, later ones at debug level.
    pub(crate) fn report(&self, error: &StoreError) {
        let level =
            if self.has_told.swap(true, Ordering::Relaxed) { LogLevel::Debug } else { LogLevel::Warning };
        let details = serde_json::json!({ "error": error.to_string() });
        self.log.project_event(level, "mcp.tasks", "tasks cannot be kept as they should", &details);
    }
}

/// A call that becomes a task.
pub(crate) struct NewTask<'a> {
    pub(crate) tool: &'a str,
    pub(crate) revision: Revision,
    pub(crate) ttl: Option<Duration>,
    pub(crate) is_repeatable: bool,
    /// How it takes turns, if a limit applies to it.
    pub(crate) turn: Option<Turn>,
    /// The params of the request, if it may start in another process.
    pub(crate) request: Option<&'a str>,
}

/// The failure of a task whose server died.
fn died() -> Failure {
    failure(
        "the server that ran this task ended before the task did; call the tool again if that does no harm",
    )
}

/// The failure of a task whose server was stopped.
pub(super) fn stopped() -> Failure {
    failure("the server that ran this task was stopped; call the tool again if that does no harm")
}

pub(super) fn failure(message: &str) -> Failure {
    Failure { code: code::INTERNAL_ERROR, message: message.to_owned(), data: None }
}

/// The time in milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    milliseconds(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logging::Style;
    use mcp_bash_tasks::FolderStore;

    fn owner(name: &str) -> Owner {
        Owner { known_by: "token".to_owned(), name: name.to_owned() }
    }

    fn deferred() -> Arc<Deferred> {
        let settings = TaskSettings {
            store: None,
            ttl: Duration::from_secs(60),
            most_per_caller: 2,
            most_running: None,
            most_running_per_caller: None,
        };
        let store = Arc::new(FolderStore::new("/dev/null/no-folder".into()));
        Deferred::new(store, &settings, Arc::new(Log::new(LogLevel::Error, Style::Hidden)))
    }

    #[test]
    fn a_short_task_hides_no_long_one_from_the_limit() {
        let deferred = deferred();
        deferred.count(&owner("a"), 0, 1_000).unwrap();
        deferred.count(&owner("a"), 0, 10).unwrap();
        deferred.count(&owner("b"), 20, 1_000).unwrap();
        deferred.count(&owner("a"), 20, 1_000).unwrap();
        assert!(matches!(deferred.count(&owner("a"), 20, 1_000), Err(NotMade::TooMany(2))));
        deferred.count(&owner("c"), 2_000, 1).unwrap();
        assert!(!deferred.expiries.lock().contains_key(&owner("a")), "all of its tasks have expired");
    }
}
