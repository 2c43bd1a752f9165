//! Task store: the interface to the storage of tasks.
//!
//! Its methods block on a disk or a network, so the server calls each of them on a thread of its own. They never wait for
//! another task. `tests/store/contract` tests what every store has to do.

use crate::{Entrant, Owner, Status, StoreError, TaskId, TaskRecord, TurnLimits};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The right to run a task and to write its record. It ends when this value is dropped, when its process dies, or when it is
/// not renewed in time, if the store requires that ([`TaskStore::lease_time`]).
pub struct Lease {
    pub id: TaskId,
    /// The attempt that this process makes: the fencing token of all its writes.
    pub attempt: u64,
    /// The store's own handle of the lease.
    _held: Box<dyn Send + Sync>,
}

impl Lease {
    pub fn new(id: TaskId, attempt: u64, held: Box<dyn Send + Sync>) -> Self {
        Self { id, attempt, _held: held }
    }
}

/// The outcome of a claim.
pub enum Claim {
    /// Another process runs it.
    Held,
    /// It has ended, so that there is nothing to run. The lease only lets its holder remove it.
    Finished(Lease, TaskRecord),
    /// No process ran it. Now this one does; the record has the new attempt.
    Taken(Lease, TaskRecord),
    /// There is no such task.
    Gone,
}

/// A message for the process that runs a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Note {
    Cancel,
    /// The answer to a question: the text of a JSON object.
    Answer {
        key: String,
        answer: String,
    },
    /// The client cannot answer a question, and why.
    NoAnswer {
        key: String,
        reason: String,
    },
}

/// Whether a change has to survive a loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It is durable before the call returns.
    Durable,
    /// It may be lost, because the next change replaces it. Progress is one.
    Passing,
}

/// Which tasks to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter<'a> {
    /// Those of this caller.
    pub owner: Option<&'a Owner>,
    /// Those with this status.
    pub status: Option<Status>,
    /// Those whose ids come after this one.
    pub after: Option<&'a TaskId>,
}

impl Filter<'_> {
    /// Whether the task is wanted.
    pub fn wants(&self, record: &TaskRecord) -> bool {
        self.owner.is_none_or(|owner| record.owner == *owner)
            && self.status.is_none_or(|status| record.status == status)
            && self.after.is_none_or(|after| record.id > *after)
    }
}

/// The result of a sweep.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Swept {
    pub removed: usize,
    /// Unfinished tasks that no process runs.
    pub abandoned: Vec<TaskId>,
    /// Whether nothing more is to be examined for now.
    pub is_whole: bool,
}

/// Receives the ids of tasks that may have changed.
pub type ChangeListener = Box<dyn Fn(&TaskId) + Send + Sync>;

/// Stores tasks.
pub trait TaskStore: Send + Sync {
    /// Where the tasks are, for operators: a folder, or an address without its password.
    fn place(&self) -> String;

    /// Whether a task could be stored now. Nothing is created.
    fn check(&self) -> Result<(), StoreError>;

    /// Stores a new task durably, with the params of its request if it may start in another process.
    fn create(&self, record: &TaskRecord, request: Option<&str>) -> Result<Lease, StoreError>;

    /// How many unexpired tasks of a caller are stored. `None` if the store cannot count them quickly; its users then count
    /// their own.
    fn count(&self, _owner: &Owner, _now_ms: u64) -> Result<Option<usize>, StoreError> {
        Ok(None)
    }

    /// The record of a task, if there is one, even if it has expired.
    fn get(&self, id: &TaskId) -> Result<Option<TaskRecord>, StoreError>;

    /// The members of the result of a task, if it has one.
    fn result(&self, record: &TaskRecord) -> Result<Option<String>, StoreError>;

    /// The params of the request of a task that may begin in another process.
    fn request(&self, id: &TaskId) -> Result<Option<String>, StoreError>;

    /// Replaces the record. Refused as stale if another process has claimed the task meanwhile, or if it is gone.
    fn update(&self, lease: &Lease, record: &TaskRecord, durability: Durability) -> Result<(), StoreError>;

    /// Ends a task with a result: the members of a JSON object. Durable, and refused like [`TaskStore::update`].
    fn complete(&self, lease: &Lease, record: &mut TaskRecord, result: String) -> Result<(), StoreError>;

    /// Starts a waiting task if it is its turn, durably. True if it was, and the record says so. The stored request of a task
    /// that may not run again is removed. Refused like [`TaskStore::update`].
    fn begin(&self, lease: &Lease, record: &mut TaskRecord, limits: TurnLimits) -> Result<bool, StoreError>;

    /// The tasks that take turns, and that wait or run in a live process.
    fn entrants(&self) -> Result<Vec<Entrant>, StoreError>;

    /// How long a lease lasts without being renewed. `None` if it lasts for as long as its process lives.
    fn lease_time(&self) -> Option<Duration> {
        None
    }

    /// Renews a lease for its whole time. Refused as stale if another process has claimed the task.
    fn renew(&self, _lease: &Lease) -> Result<(), StoreError> {
        Ok(())
    }

    /// Takes over a task whose lease is free. If several processes try, one succeeds.
    fn claim(&self, id: &TaskId) -> Result<Claim, StoreError>;

    /// Leaves a note for the process that runs a task.
    fn post(&self, id: &TaskId, note: &Note) -> Result<(), StoreError>;

    /// The notes for a task after the position `from`, oldest first, and the position after them. The first position is 0.
    fn notes(&self, id: &TaskId, from: u64) -> Result<(Vec<Note>, u64), StoreError>;

    /// At most `most` matching tasks, ordered by id. It may take time in proportion to the number of all tasks. Records that
    /// cannot be read are left out.
    fn list(&self, filter: Filter<'_>, most: usize) -> Result<Vec<TaskRecord>, StoreError>;

    /// Removes expired tasks that no process runs, and reports abandoned ones. A call examines at most `most` tasks, and the
    /// next call continues from there.
    fn sweep(&self, now_ms: u64, most: usize) -> Result<Swept, StoreError>;

    /// Releases a lease at once, so that another process can claim the task. Dropping it may take effect a little later.
    fn release(&self, lease: Lease) -> Result<(), StoreError> {
        drop(lease);
        Ok(())
    }

    /// Removes a task.
    fn remove(&self, lease: Lease) -> Result<(), StoreError>;

    /// Registers a listener for tasks that another process may have changed. It is a hint: a store without notifications drops
    /// the listener, and tasks are polled.
    fn on_change(&self, _listener: ChangeListener) {}
}
