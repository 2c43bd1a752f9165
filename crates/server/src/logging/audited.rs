//! Audited request: its record from arrival to answer. The record is written once, whatever becomes of the request.

use super::audit_log::{AuditLog, refusal};
use super::error_type::ErrorType;
use crate::callers::Principal;
use mcp_bash_audit::{Event, Outcome, Record};
use mcp_bash_wire::{Id, Raw, RpcError};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

pub(crate) struct Audited {
    audit: Arc<AuditLog>,
    /// Whether it is recorded only if it is refused.
    is_only_refusal: bool,
    event_id: String,
    state: Mutex<AuditedState>,
}

struct AuditedState {
    /// Taken when it is written.
    record: Option<Record>,
    /// What became of it, if its answer does not say.
    outcome: Option<(Outcome, &'static str)>,
}

/// A line that has to be durable before its answer is sent.
#[must_use]
pub(crate) struct UnwrittenLine {
    audit: Arc<AuditLog>,
    record: Record,
}

impl Audited {
    pub(crate) fn begin(
        audit: &Arc<AuditLog>,
        method: &str,
        id: &Id,
        params: Option<Raw<'_>>,
        principal: &Principal,
    ) -> Self {
        let event = Event::of_method(method);
        let (record, event_id) = audit.begin(event.unwrap_or(Event::Refused), method, id, params, principal);
        let state = Mutex::new(AuditedState { record: Some(record), outcome: None });
        Self { audit: Arc::clone(audit), is_only_refusal: event.is_none(), event_id, state }
    }

    pub(super) fn event_id(&self) -> &str {
        &self.event_id
    }

    /// Adds a text to the record.
    pub(super) fn note(&self, name: &'static str, text: &str) {
        if let Some(record) = &mut self.state.lock().record {
            record.text(name, text);
        }
    }

    /// What becomes of it, and the type of the error. The first one counts.
    pub(super) fn decide(&self, outcome: Outcome, error: &'static str) {
        self.state.lock().outcome.get_or_insert((outcome, error));
    }

    /// Completes the record, and writes it unless it has to be durable first.
    pub(super) fn finish(
        &self,
        error: Option<ErrorType>,
        duration: Duration,
        bytes_out: usize,
        is_answered: bool,
    ) -> Option<UnwrittenLine> {
        let mut state = self.state.lock();
        let (mut record, decided) = (state.record.take()?, state.outcome);
        drop(state);
        let by_answer = match error {
            None => Outcome::Success,
            Some(ErrorType::Tool) => Outcome::Failure,
            Some(ErrorType::Code(_)) => Outcome::Error,
            Some(ErrorType::Cancelled) => Outcome::Cancelled,
        };
        let outcome = decided.map_or(by_answer, |(outcome, _)| outcome);
        if self.is_only_refusal && outcome != Outcome::Refused {
            return None;
        }
        record.text("outcome", outcome.name());
        match (decided, error) {
            (Some((_, kind)), _) if !kind.is_empty() => record.text("error.type", kind),
            (_, Some(ErrorType::Code(code))) => record.text("error.type", &code.to_string()),
            (_, Some(ErrorType::Tool)) => record.text("error.type", "tool_error"),
            _ => &mut record,
        };
        record.milliseconds("duration_ms", duration).number("bytes.out", bytes_out as u64);
        let line = UnwrittenLine { audit: Arc::clone(&self.audit), record };
        if self.audit.is_durable && is_answered {
            return Some(line);
        }
        line.write();
        None
    }
}

impl UnwrittenLine {
    /// Writes the line, durable or not.
    fn write(self) {
        // A problem is reported by the trail, and kept records are written later.
        let _ = self.audit.trail().append(self.record);
    }

    /// Makes the line durable, then calls `then`, perhaps on another thread, with the error to answer with if the answer
    /// must not be sent.
    pub(crate) fn write_durably(self, then: impl FnOnce(Option<RpcError>) + Send + 'static) {
        let refuses = self.audit.trail().refuses();
        self.audit.trail().append_durably(self.record, move |written| {
            then(written.err().filter(|_| refuses).map(|problem| refusal(&problem)));
        });
    }
}
