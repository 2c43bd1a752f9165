//! Task record: the state of a task, for every process that is asked about it.

use crate::{TaskId, Turn};
use serde::{Deserialize, Serialize};

/// The stage of a task. The last three are final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Working,
    /// It waits for answers to its questions.
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

impl Status {
    pub const ALL: [Self; 5] =
        [Self::Working, Self::InputRequired, Self::Completed, Self::Failed, Self::Cancelled];

    /// Its name in the protocol and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }

    /// Whether the task has ended.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// The caller that created the task, and the only one that can see it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Owner {
    /// How the caller was identified. The same name, identified in another way, is another caller.
    pub known_by: String,
    pub name: String,
}

/// A question that waits for its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Unique within its task.
    pub key: String,
    pub method: String,
    /// The text of a JSON object.
    pub params: String,
}

/// Why a task failed: a JSON-RPC error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub code: i32,
    pub message: String,
    /// JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}

/// The state of a task, without its request and a long result, which are stored separately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRecord {
    pub id: TaskId,
    pub owner: Owner,
    pub tool: String,
    /// The revision of the protocol that its client speaks.
    pub revision: String,
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// In milliseconds since the Unix epoch, like all times here.
    pub created_ms: u64,
    pub updated_ms: u64,
    /// How long after its creation it is kept.
    pub ttl_ms: u64,
    /// The part of `ttl_ms` that a retry has added: the age that the task had then.
    #[serde(default)]
    pub ttl_added_ms: u64,
    /// How long a client should wait before it asks again.
    pub poll_ms: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    /// The keys of all questions so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used_keys: Vec<String>,
    /// The members of the result as JSON text without the braces around it, unless it is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Whether the result is stored outside the record.
    #[serde(default)]
    pub has_long_result: bool,
    /// Whether the tool reports a failure in its result.
    #[serde(default)]
    pub has_tool_failed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// The position in the notes at which those of the present attempt begin.
    #[serde(default)]
    pub notes_from: u64,
    /// Whether it may run again if its server died.
    pub repeatable: bool,
    /// How it takes turns with others. `None` if no limit on concurrency applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// The number of the attempt, a fencing token: writes of another attempt are refused.
    pub attempt: u64,
}

impl TaskRecord {
    /// Whether its time to live is over. A clock that was set back extends it, and never shortens it.
    pub fn is_expired(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.created_ms) >= self.ttl_ms
    }

    /// Whether it waits for its turn, and has not started yet.
    pub fn waits(&self) -> bool {
        !self.status.is_final() && self.turn.is_some_and(|turn| turn.waits)
    }

    /// Whether another process may start it if its own dies: again, or for the first time.
    pub fn may_begin_elsewhere(&self) -> bool {
        self.repeatable || self.waits()
    }

    /// Records the time of a change. It never goes back.
    pub fn touch(&mut self, now_ms: u64) {
        self.updated_ms = self.updated_ms.max(now_ms);
    }

    /// Sets a final status. Open questions are dropped.
    pub fn end(&mut self, status: Status, now_ms: u64) {
        self.status = status;
        self.questions.clear();
        self.touch(now_ms);
    }

    /// Ends it with an error.
    pub fn fail(&mut self, failure: Failure, now_ms: u64) {
        self.status_message = Some(failure.message.clone());
        self.error = Some(failure);
        self.end(Status::Failed, now_ms);
    }
}
