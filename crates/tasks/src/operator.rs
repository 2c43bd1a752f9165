//! What an operator does with tasks: no server and no caller is needed for it.

use crate::{Claim, Durability, Note, Status, StoreError, TaskId, TaskRecord, TaskStore};

/// The outcome of cancelling a task.
#[derive(Debug, PartialEq, Eq)]
pub enum Cancelling {
    /// No process ran it, and now none will.
    Done,
    /// The process that runs it will read that it is cancelled.
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
    /// The next server that looks runs it.
    Waiting,
    /// A process runs it already.
    Running,
    /// Its request was not kept, because its tool does not allow that it runs again.
    NotKept,
    Unknown,
}

/// Lets a task that has ended begin again, with the same id. It lives for as long as a new one from now on.
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
        ttl_ms: record.ttl_ms.saturating_add(age_ms),
        notes_from,
        ..record
    };
    again.touch(now_ms);
    store.update(&lease, &again, Durability::Durable)?;
    store.release(lease)?;
    Ok(Retrying::Waiting)
}
