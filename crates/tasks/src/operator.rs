//! Operator commands: cancel and retry tasks, without a server and without being their owner.

use crate::{Claim, Durability, Note, Status, StoreError, TaskId, TaskRecord, TaskStore};

/// The outcome of cancelling a task.
#[derive(Debug, PartialEq, Eq)]
pub enum Cancelling {
    /// No process ran it, and none will.
    Done,
    /// A process runs it, and was notified.
    Asked,
    /// It had ended before, with this status.
    HadEnded(Status),
    Unknown,
}

/// Cancels a task, whichever server runs it.
pub fn cancel(store: &dyn TaskStore, id: &TaskId, now_ms: u64) -> Result<Cancelling, StoreError> {
    match store.get(id)? {
        None => return Ok(Cancelling::Unknown),
        Some(record) if record.status.is_final() => return Ok(Cancelling::HadEnded(record.status)),
        Some(_) => {}
    }
    store.post(id, &Note::Cancel)?;
    Ok(match store.claim(id)? {
        Claim::Held => Cancelling::Asked,
        Claim::Finished(_, record) => Cancelling::HadEnded(record.status),
        Claim::Gone => Cancelling::Unknown,
        Claim::Taken(lease, mut record) => {
            record.end(Status::Cancelled, now_ms);
            store.update(&lease, &record, Durability::Durable)?;
            Cancelling::Done
        }
    })
}

/// The outcome of retrying a task.
#[derive(Debug, PartialEq, Eq)]
pub enum Retrying {
    /// The next server that finds it runs it.
    Waiting,
    /// A process runs it already.
    Running,
    /// Its request was not kept, because its tool does not allow repeated runs.
    NotKept,
    Unknown,
}

/// Restarts a task that has ended, or that no process runs, under the same id. From now on it is kept as long as a new one:
/// its age is added to its original time to live.
pub fn retry(store: &dyn TaskStore, id: &TaskId, now_ms: u64) -> Result<Retrying, StoreError> {
    let (lease, record) = match store.claim(id)? {
        Claim::Gone => return Ok(Retrying::Unknown),
        Claim::Held => return Ok(Retrying::Running),
        Claim::Finished(lease, record) | Claim::Taken(lease, record) => (lease, record),
    };
    if !record.repeatable || store.request(id)?.is_none() {
        return Ok(Retrying::NotKept);
    }
    // An earlier cancellation does not count for the new attempt.
    let (_, notes_from) = store.notes(id, record.notes_from)?;
    let age_ms = now_ms.saturating_sub(record.created_ms);
    let mut again = TaskRecord {
        status: Status::Working,
        status_message: None,
        questions: Vec::new(),
        result: None,
        has_long_result: false,
        has_tool_failed: false,
        error: None,
        ttl_ms: record.ttl_ms.saturating_sub(record.ttl_added_ms).saturating_add(age_ms),
        ttl_added_ms: age_ms,
        notes_from,
        ..record
    };
    again.touch(now_ms);
    store.update(&lease, &again, Durability::Durable)?;
    store.release(lease)?;
    Ok(Retrying::Waiting)
}
