//! Audited request: its record from arrival to answer. The record is written once, whatever becomes of the request.

use super::audit_log::{AuditLog, refusal};
use super::error_type::ErrorType;
use crate::callers::Principal;
use mcp_bash_audit::{Cause, Event, Outcome, Reason, Record};
use mcp_bash_wire::{Id, Raw, RpcError};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::oneshot;

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
    outcome: Option<(Outcome, Option<Reason>)>,
    /// The rule of the policy that decided.
    rule: Option<Box<str>>,
}

/// What further lines about a request have in common with its own: those of questions and answers, and of resources that
/// it follows.
#[derive(Clone)]
pub(crate) struct Related {
    audit: Arc<AuditLog>,
    /// The id of its event.
    call: String,
    record: Record,
    rule: Option<Box<str>>,
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
        let state = Mutex::new(AuditedState { record: Some(record), outcome: None, rule: None });
        Self { audit: Arc::clone(audit), is_only_refusal: event.is_none(), event_id, state }
    }

    /// Adds a text to the record.
    pub(super) fn note(&self, name: &'static str, text: &str) {
        if let Some(record) = &mut self.state.lock().record {
            record.text(name, text);
        }
    }

    pub(super) fn set_rule(&self, rule: &str) {
        self.state.lock().rule = Some(rule.into());
    }

    /// What further lines have in common with this one, which is not written yet.
    pub(super) fn related(&self) -> Option<Related> {
        let state = self.state.lock();
        let (record, rule) = (state.record.clone()?, state.rule.clone());
        Some(Related { audit: Arc::clone(&self.audit), call: self.event_id.clone(), record, rule })
    }

    /// Adds what was found out about its call while another request was open, which it continues.
    pub(super) fn continues(&self, earlier: &Related) {
        let mut state = self.state.lock();
        state.rule.clone_from(&earlier.rule);
        if let Some(record) = &mut state.record {
            record.share(&earlier.record, &OF_CALL);
        }
    }

    /// What becomes of it, and why. The first one counts.
    pub(super) fn decide(&self, outcome: Outcome, reason: Option<Reason>) {
        self.state.lock().outcome.get_or_insert((outcome, reason));
    }

    /// It is refused for want of the shared secret. Beyond some of them in a minute it has no line, and is counted.
    pub(super) fn refuse_without_secret(&self, principal: &Principal) {
        self.decide(Outcome::Refused, Some(Reason::Secret));
        if !self.audit.has_line_without_secret(principal.bare_address()) {
            self.state.lock().record = None;
        }
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
        record.text_if("policy.rule", state.rule.as_deref());
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
            (Some((_, Some(reason))), _) => record.error(reason),
            (_, Some(ErrorType::Code(code))) => record.error(Cause::Code(code)),
            (_, Some(ErrorType::Tool)) => record.error(Reason::ToolError),
            _ => &mut record,
        };
        record.milliseconds("duration_ms", duration).number("bytes.out", bytes_out as u64);
        let line = UnwrittenLine { audit: Arc::clone(&self.audit), record };
        if self.audit.is_durable() && is_answered {
            return Some(line);
        }
        line.write();
        None
    }
}

/// The members of a line that all lines about its request have.
const SHARED: [&str; 11] = [
    "gen_ai.tool.name",
    "gen_ai.prompt.name",
    "caller.name",
    "caller.known_by",
    "caller.groups",
    "client.address",
    "client.name",
    "client.version",
    "mcp.session.id",
    "task.id",
    "trace.id",
];

/// Those that the line of the beginning has besides: if the server is killed, there is no other line.
const BEGUN: [&str; 5] =
    ["mcp.method.name", "mcp.resource.uri", "mcp.completion.ref", "arguments", "arguments.hash"];

/// Those about a call that are not in its request.
const OF_CALL: [&str; 2] = ["launcher", "sandbox"];

impl Related {
    fn begin(&self, event: Event) -> Record {
        let mut record = Record::new(event, SystemTime::now());
        record.text("event.id", &self.audit.trail().event_id());
        record
    }

    /// Makes a line durable that says that the work on the request begins, if the log is durable: a server that is killed
    /// meanwhile writes no other. Returns the problem if that is not possible and the request must not be served.
    pub(crate) async fn begins(&self, id: &Id) -> Option<RpcError> {
        if !self.audit.is_durable() {
            return None;
        }
        let mut record = self.begin(Event::Begun);
        record.text("call.id", &self.call).text("jsonrpc.request.id", id.as_json());
        record.share(&self.record, &BEGUN).share(&self.record, &SHARED);
        UnwrittenLine { audit: Arc::clone(&self.audit), record }.written().await
    }

    /// Writes the line of a question, or of the answer to it, whose content is recorded if arguments are.
    pub(crate) fn exchanged(
        &self,
        event: Event,
        method: &str,
        outcome: Option<(Outcome, &str)>,
        content: &str,
    ) {
        let mut record = self.begin(event);
        record.text("call.id", &self.call).text("mcp.method.name", method).share(&self.record, &SHARED);
        if let Some((outcome, consent)) = outcome {
            record.text("outcome", outcome.name()).text("consent", consent);
        }
        self.audit.add_content(&mut record, content);
        // A problem is reported by the trail, and kept records are written later.
        let _ = self.audit.trail().append(record);
    }

    /// Writes the line of a resource that the request follows, or may not follow. Returns the problem if the line has to be
    /// durable and is not.
    pub(crate) async fn followed(&self, followed: FollowedResource<'_>) -> Option<RpcError> {
        let mut record = self.begin(Event::ResourceSubscribe);
        record.share(&self.record, &["mcp.method.name", "jsonrpc.request.id"]).share(&self.record, &SHARED);
        record.text("mcp.resource.uri", &self.audit.shown(followed.uri));
        record.text_if("policy.rule", followed.rule);
        record.text("outcome", followed.outcome.name());
        if let Some(error) = followed.error {
            record.error(error);
        }
        record.milliseconds("duration_ms", followed.duration);
        let line = UnwrittenLine { audit: Arc::clone(&self.audit), record };
        if !self.audit.is_durable() {
            line.write();
            return None;
        }
        line.written().await
    }
}

/// A resource that a request follows, or may not follow.
pub(crate) struct FollowedResource<'a> {
    pub(crate) uri: &'a str,
    pub(crate) rule: Option<&'a str>,
    pub(crate) outcome: Outcome,
    pub(crate) error: Option<Cause>,
    pub(crate) duration: Duration,
}

impl UnwrittenLine {
    /// Writes the line, durable or not.
    fn write(self) {
        // A problem is reported by the trail, and kept records are written later.
        let _ = self.audit.trail().append(self.record);
    }

    /// Makes the line durable. Returns the error to answer with if the request must not go on.
    async fn written(self) -> Option<RpcError> {
        let (sender, written) = oneshot::channel();
        self.write_durably(move |problem| drop(sender.send(problem)));
        written.await.ok().flatten()
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
