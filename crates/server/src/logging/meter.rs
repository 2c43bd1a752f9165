//! Metrics of requests and sessions: method, name, duration and outcome, for a meter, the audit log and spans. Without any of
//! them, nothing is measured and no clock is read.

use super::audited::{Audited, Related, UnwrittenLine};
use super::child_span::ChildSpan;
use super::error_type::ErrorType;
use super::request_span::RequestSpan;
use crate::callers::Principal;
use crate::replies::{Reply, Stream};
use mcp_bash_audit::{Outcome, Reason};
use mcp_bash_scripts::TraceVariables;
use mcp_bash_telemetry::{SpanKind, Value};
use mcp_bash_wire::{Revision, RpcError};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Receives measurements. It is called before responses are sent, and must not wait.
pub trait Meter: Send + Sync {
    /// A request was answered, rejected or cancelled.
    fn served(&self, operation: &Operation<'_>);

    /// A session of the handshake era has started.
    fn session_began(&self) {}

    /// A session of the handshake era has ended.
    fn session_ended(&self, session: &EndedSession) {
        let _ = session;
    }
}

/// A served request. It contains nothing that clients can invent, so the number of distinct values is small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation<'a> {
    /// The method; [`OTHER`] for unknown methods.
    pub method: &'static str,
    /// The requested tool or prompt, if it exists.
    pub name: Option<&'a str>,
    /// The revision of the request, if it was determined.
    pub revision: Option<Revision>,
    /// The time from the arrival of its line to its response.
    pub duration: Duration,
    pub error: Option<ErrorType>,
}

/// The label of an unknown value.
pub const OTHER: &str = "_OTHER";

/// A session that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedSession {
    pub revision: Revision,
    pub duration: Duration,
}

/// A request that is being measured. It is reported once, when it is answered or cancelled; if it is dropped before, it counts
/// as cancelled.
pub(crate) struct Measured {
    meter: Option<Arc<dyn Meter>>,
    /// Its audit record, if there is one.
    audited: Option<Audited>,
    /// Its span, if spans are exported.
    span: Option<RequestSpan>,
    arrived: Instant,
    method: &'static str,
    name: Option<Box<str>>,
    state: Mutex<MeasuredState>,
}

#[derive(Default)]
struct MeasuredState {
    revision: Option<Revision>,
    is_reported: bool,
}

impl Measured {
    /// Starts to measure a request whose line arrived at `arrived`. `name` is its tool or prompt, if it exists.
    pub(crate) fn begin(
        meter: Option<&Arc<dyn Meter>>,
        audited: Option<Audited>,
        span: Option<RequestSpan>,
        arrived: Instant,
        method: &'static str,
        name: Option<Box<str>>,
    ) -> Self {
        Self { meter: meter.cloned(), audited, span, arrived, method, name, state: Mutex::default() }
    }

    pub(crate) fn set_revision(&self, revision: Revision) {
        self.state.lock().revision = Some(revision);
    }

    /// Adds a text to the audit record. `text` is called only if there is one.
    pub(crate) fn note<T: AsRef<str>>(&self, name: &'static str, text: impl FnOnce() -> Option<T>) {
        if let Some(audited) = &self.audited
            && let Some(text) = text()
        {
            audited.note(name, text.as_ref());
        }
    }

    /// Records the deciding rule of the policy. The last one is used.
    pub(crate) fn note_rule(&self, rule: Option<&str>) {
        if let (Some(audited), Some(rule)) = (&self.audited, rule) {
            audited.set_rule(rule);
        }
    }

    /// The data that further audit records share with this one, if there is an audit log.
    pub(crate) fn related(&self) -> Option<Related> {
        self.audited.as_ref()?.related()
    }

    /// Adds to the audit record what is known about the call of an earlier request, which this one continues.
    pub(crate) fn continues(&self, earlier: &Related) {
        if let Some(audited) = &self.audited {
            audited.continues(earlier);
        }
    }

    /// Joins its span to the caller's trace. `ambient` is the `traceparent` of the HTTP request.
    pub(crate) fn join(&self, trace: &TraceVariables, ambient: Option<&str>) {
        if let Some(span) = &self.span {
            span.join(trace, ambient);
        }
    }

    /// Adds the trace id to the audit record: that of the span, or else the caller's.
    pub(crate) fn note_trace(&self, trace: &TraceVariables) {
        let own = self.span.as_ref().and_then(RequestSpan::trace_id);
        self.note("trace.id", || own.as_deref().or_else(|| trace.trace_id()));
    }

    /// Adds the session id to the span.
    pub(crate) fn add_session(&self, id: Option<&str>) {
        if let (Some(span), Some(id)) = (&self.span, id) {
            span.add("mcp.session.id", id.into());
        }
    }

    /// Adds the time in the queue to the span. Call it when the handler starts.
    pub(crate) fn begins(&self) {
        if let Some(span) = &self.span {
            span.add("mcp_bash.queue.duration", Value::Seconds(self.arrived.elapsed().as_secs_f64()));
        }
    }

    /// Starts a child span, if it has a span.
    pub(crate) fn child(&self, name: &str, kind: SpanKind, trace: TraceVariables) -> Option<ChildSpan> {
        self.span.as_ref()?.child(name, kind, trace)
    }

    /// Adds the result to the span.
    pub(crate) fn note_result(&self, members: &str) {
        if let Some(span) = self.span.as_ref().filter(|_| self.method == "tools/call") {
            span.add_result(members);
        }
    }

    /// Records a refusal.
    pub(crate) fn refused(&self, reason: Reason) {
        self.decide(Outcome::Refused, Some(reason));
    }

    /// Records a refusal for lack of the shared secret.
    pub(crate) fn refused_without_secret(&self, principal: &Principal) {
        if let Some(audited) = &self.audited {
            audited.refuse_without_secret(principal);
        }
    }

    pub(crate) fn timed_out(&self) {
        self.decide(Outcome::Timeout, Some(Reason::Timeout));
    }

    /// Records that the arguments break the schema of the tool.
    pub(crate) fn had_wrong_arguments(&self) {
        self.decide(Outcome::Failure, Some(Reason::InvalidArguments));
    }

    /// Records that it is answered with questions.
    pub(crate) fn asks(&self) {
        self.decide(Outcome::InputRequired, None);
    }

    fn decide(&self, outcome: Outcome, reason: Option<Reason>) {
        if let Some(audited) = &self.audited {
            audited.decide(outcome, reason);
        }
    }

    /// Reports a result of this many bytes, which may contain a failure of the tool. The response must wait for the returned
    /// audit record.
    pub(crate) fn succeeded(&self, has_tool_failed: bool, bytes: usize) -> Option<UnwrittenLine> {
        self.report(has_tool_failed.then_some(ErrorType::Tool), bytes, true)
    }

    /// Reports an error of this many bytes.
    pub(crate) fn failed(&self, error: &RpcError, bytes: usize) -> Option<UnwrittenLine> {
        if let Some(span) = &self.span {
            span.set_message(&error.message);
        }
        self.report(Some(ErrorType::Code(error.code)), bytes, true)
    }

    pub(crate) fn cancelled(&self) {
        let _ = self.report(Some(ErrorType::Cancelled), 0, false);
    }

    fn report(&self, error: Option<ErrorType>, bytes: usize, is_answered: bool) -> Option<UnwrittenLine> {
        let mut state = self.state.lock();
        if std::mem::replace(&mut state.is_reported, true) {
            return None;
        }
        let revision = state.revision;
        drop(state);
        let duration = self.arrived.elapsed();
        if let Some(meter) = &self.meter {
            let (method, name) = (self.method, self.name.as_deref());
            meter.served(&Operation { method, name, revision, duration, error });
        }
        if let Some(span) = &self.span {
            if let Some(revision) = revision {
                span.add("mcp.protocol.version", revision.as_str().into());
            }
            let name = match &self.name {
                Some(name) => format!("{} {name}", self.method),
                None => self.method.to_owned(),
            };
            span.finish(name, error, duration);
        }
        let audited = self.audited.as_ref()?;
        if let Some(revision) = revision {
            audited.note("mcp.protocol.version", revision.as_str());
        }
        audited.finish(error, duration, bytes, is_answered)
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        self.cancelled();
    }
}

/// Reports a rejected message that was not a request.
pub(crate) fn report_refused_message(meter: &dyn Meter, arrived: Instant, error: &RpcError) {
    meter.served(&Operation {
        method: OTHER,
        name: None,
        revision: None,
        duration: arrived.elapsed(),
        error: Some(ErrorType::Code(error.code)),
    });
}

/// A session that is being measured, from its handshake until it ends or this value is dropped.
pub(crate) struct MeasuredSession {
    meter: Arc<dyn Meter>,
    began: Instant,
    revision: Revision,
    is_over: AtomicBool,
}

impl MeasuredSession {
    pub(crate) fn begin(meter: &Arc<dyn Meter>, revision: Revision) -> Self {
        meter.session_began();
        Self { meter: Arc::clone(meter), began: Instant::now(), revision, is_over: AtomicBool::new(false) }
    }

    /// Reports the session, once.
    pub(crate) fn end(&self) {
        if !self.is_over.swap(true, Ordering::Relaxed) {
            let ended = EndedSession { revision: self.revision, duration: self.began.elapsed() };
            self.meter.session_ended(&ended);
        }
    }
}

impl Drop for MeasuredSession {
    fn drop(&mut self) {
        self.end();
    }
}

/// The reply of a measured request that is answered directly, not through its responder.
pub(crate) struct MeasuredReply {
    pub(crate) inner: Arc<dyn Reply>,
    pub(crate) measured: Arc<Measured>,
}

impl Stream for MeasuredReply {
    fn notify(&self, message: Vec<u8>) {
        self.inner.notify(message);
    }

    fn ask(&self, message: Vec<u8>) -> bool {
        self.inner.ask(message)
    }

    fn flush(&self) {
        self.inner.flush();
    }

    fn is_clogged(&self) -> bool {
        self.inner.is_clogged()
    }

    fn takes_notifications(&self) -> bool {
        self.inner.takes_notifications()
    }
}

impl Reply for MeasuredReply {
    fn answer(&self, message: Vec<u8>) {
        let _ = self.measured.report(None, message.len(), false);
        self.inner.answer(message);
    }

    fn notify_before_answer(&self, message: Vec<u8>) {
        self.inner.notify_before_answer(message);
    }

    fn refuse(&self, message: Vec<u8>, code: i32) {
        let _ = self.measured.report(Some(ErrorType::Code(code)), message.len(), false);
        self.inner.refuse(message, code);
    }

    fn end(&self) {
        self.measured.cancelled();
        self.inner.end();
    }

    fn longest_message(&self) -> usize {
        self.inner.longest_message()
    }

    fn is_shared(&self) -> bool {
        self.inner.is_shared()
    }
}
