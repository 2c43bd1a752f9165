//! Task view: a task as a client sees it, for its revision.

use crate::callers::Identity;
use crate::replies::Members;
use mcp_bash_tasks::turns::ahead;
use mcp_bash_tasks::{Entrant, Failure, Note, Owner, Question, Status, TaskRecord, TaskStore};
use mcp_bash_utc::precise;
use mcp_bash_wire::{Revision, write};
use std::time::{Duration, UNIX_EPOCH};

/// The owner of a caller's tasks.
pub(crate) fn owner_of(identity: &Identity) -> Owner {
    Owner { known_by: identity.known_by.word().to_owned(), name: identity.name.to_string() }
}

/// A task at one point in time, without its answered questions.
pub(crate) struct View {
    pub(crate) record: TaskRecord,
}

impl View {
    /// Removes the questions whose answers the task's process has not read yet.
    pub(crate) fn of(mut record: TaskRecord, store: &dyn TaskStore) -> Self {
        if record.status == Status::InputRequired {
            // If the notes cannot be read, all questions are shown: a second answer does no harm.
            let (notes, _) = store.notes(&record.id, record.notes_from).unwrap_or_default();
            let is_answered = |question: &Question| {
                notes.iter().any(|note| match note {
                    Note::Answer { key, .. } | Note::NoAnswer { key, .. } => *key == question.key,
                    Note::Cancel => false,
                })
            };
            record.questions.retain(|question| !is_answered(question));
            if record.questions.is_empty() {
                record.status = Status::Working;
            }
        }
        if record.waits() {
            let before =
                store.entrants().ok().zip(Entrant::of(&record)).map(|(all, task)| ahead(&task, &all));
            record.status_message = Some(match before {
                Some(0) | None => "It waits for its turn".to_owned(),
                Some(1) => "It waits for its turn, behind 1 other task".to_owned(),
                Some(before) => format!("It waits for its turn, behind {before} other tasks"),
            });
        }
        Self { record }
    }

    /// The members of every message about a task.
    pub(crate) fn members(&self, revision: Revision) -> Members {
        let record = &self.record;
        let (ttl, poll) =
            if revision.has_task_extension() { ("ttlMs", "pollIntervalMs") } else { ("ttl", "pollInterval") };
        let mut members = Members::default();
        members.string("taskId", Some(record.id.as_str()));
        members.string("status", Some(self.status(revision).word()));
        members.string("statusMessage", record.status_message.as_deref());
        members.string("createdAt", Some(&time(record.created_ms)));
        members.string("lastUpdatedAt", Some(&time(record.updated_ms)));
        members.raw(ttl, &record.ttl_ms.to_string());
        members.raw(poll, &record.poll_ms.to_string());
        members
    }

    /// The status for a revision: before the extension, a tool that reports a failure has failed.
    fn status(&self, revision: Revision) -> Status {
        let has_failed = self.record.has_tool_failed && !revision.has_task_extension();
        if has_failed && self.record.status == Status::Completed {
            Status::Failed
        } else {
            self.record.status
        }
    }

    /// The members with questions, result or error, as in the task extension. `result` contains the members of the result, if
    /// there is one.
    pub(crate) fn detailed(&self, revision: Revision, result: Option<&str>) -> Members {
        let mut members = self.members(revision);
        if self.record.status == Status::InputRequired {
            let mut questions = Members::default();
            for Question { key, method, params } in &self.record.questions {
                let request = format!(r#"{{"method":{},"params":{params}}}"#, write::string(method));
                questions.splice(&format!("{}:{request}", write::string(key)));
            }
            members.raw("inputRequests", &questions.object());
        }
        if let Some(result) = result {
            members.raw("result", &format!("{{{result}}}"));
        }
        if let Some(error) = &self.record.error {
            members.raw("error", &error_object(error));
        }
        members
    }
}

fn error_object(error: &Failure) -> String {
    let mut object = Members::default();
    object.raw("code", &error.code.to_string());
    object.string("message", Some(&error.message));
    object.optional_raw("data", error.data.as_deref());
    object.object()
}

fn time(milliseconds: u64) -> String {
    let time = precise(UNIX_EPOCH + Duration::from_millis(milliseconds));
    // Milliseconds are enough.
    format!("{}Z", &time[..time.len() - 4])
}
