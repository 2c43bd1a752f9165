//! Tally: counts of events.

use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
pub(crate) struct Tally(Mutex<Counts>);

#[derive(Debug, Default, Clone)]
pub(crate) struct Counts {
    /// By method and outcome.
    pub(crate) requests: BTreeMap<&'static str, BTreeMap<Outcome, u64>>,
    pub(crate) notifications: BTreeMap<String, u64>,
    pub(crate) questions: BTreeMap<String, u64>,
    /// By the way they were shut down.
    pub(crate) servers: BTreeMap<&'static str, u64>,
    pub(crate) revisions: BTreeMap<&'static str, u64>,
    pub(crate) cancellations: u64,
    pub(crate) refusals: u64,
    pub(crate) changes: u64,
    pub(crate) pauses: u64,
    /// In the audit logs, about requests.
    pub(crate) records: usize,
    /// That were searched for the planted secret.
    pub(crate) searched_files: usize,
    /// Of commands, that were searched for it too.
    pub(crate) searched_texts: usize,
}

/// The outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    Result,
    /// A result that reports a failed tool.
    ToolError,
    Error,
    InputRequired,
    /// Cancelled, and not answered.
    Cancelled,
    /// Its server was shut down first.
    CutOff,
}

impl Outcome {
    /// That of an answer.
    pub(crate) fn of(answer: &Value) -> Self {
        let result = &answer["result"];
        if answer.get("error").is_some() {
            Self::Error
        } else if result["resultType"] == "input_required" {
            Self::InputRequired
        } else if result["isError"] == true {
            Self::ToolError
        } else {
            Self::Result
        }
    }

    pub(crate) const ALL: [(Self, &'static str); 6] = [
        (Self::Result, "result"),
        (Self::ToolError, "tool error"),
        (Self::Error, "error"),
        (Self::InputRequired, "question"),
        (Self::Cancelled, "cancelled"),
        (Self::CutOff, "cut off"),
    ];
}

impl Tally {
    pub(crate) fn request(&self, method: &'static str, outcome: Outcome) {
        *self.lock().requests.entry(method).or_default().entry(outcome).or_default() += 1;
    }

    pub(crate) fn notification(&self, method: &str) {
        *self.lock().notifications.entry(method.to_owned()).or_default() += 1;
    }

    pub(crate) fn question(&self, what: &str) {
        *self.lock().questions.entry(what.to_owned()).or_default() += 1;
    }

    pub(crate) fn with(&self, count: impl FnOnce(&mut Counts)) {
        count(&mut self.lock());
    }

    pub(crate) fn counts(&self) -> Counts {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    /// The number of requests that were sent and accounted for.
    pub(crate) fn total(&self) -> u64 {
        self.requests.values().flat_map(BTreeMap::values).sum()
    }
}
