//! A record for the tests.

use mcp_bash_tasks::{Owner, Status, TaskId, TaskRecord};

/// A new task of attempt 1 that lives for a minute.
pub(crate) fn record(number: u8, repeatable: bool) -> TaskRecord {
    TaskRecord {
        id: TaskId::of_random([number; 16]),
        owner: Owner { known_by: "local".to_owned(), name: "me".to_owned() },
        tool: "slow".to_owned(),
        revision: "2026-07-28".to_owned(),
        status: Status::Working,
        status_message: None,
        created_ms: 1_000,
        updated_ms: 1_000,
        ttl_ms: 60_000,
        ttl_added_ms: 0,
        poll_ms: 1_000,
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
