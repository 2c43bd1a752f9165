//! Metrics of requests and sessions: the method, the name, the duration and the outcome of each. Without a meter nothing is
//! measured and no clock is read.

use crate::replies::{Reply, Stream};
use mcp_bash_wire::{Revision, RpcError};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Receives measurements of what was served. It is called on the path of answers, and must not wait.
pub trait Meter: Send + Sync {
    /// A request has been answered, refused or cancelled.
    fn served(&self, operation: &Operation<'_>);

    /// A session of the handshake era has begun.
    fn session_began(&self) {}

    /// A session of the handshake era has ended.
    fn session_ended(&self, session: &EndedSession) {
        let _ = session;
    }
}

/// A request that was served. It holds nothing that clients can make up, so that the number of distinct values is
/// small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation<'a> {
    /// The method; [`OTHER`] for methods that do not exist.
    pub method: &'static str,
    /// The tool or the prompt that was requested, if it exists.
    pub name: Option<&'a str>,
    /// The revision of the request, if it got that far.
    pub revision: Option<Revision>,
    /// The time from the arrival of its line to its answer.
    pub duration: Duration,
    pub error: Option<ErrorType>,
}

/// Stands for an unknown value.
pub const OTHER: &str = "_OTHER";

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorType {
    /// It was answered with this JSON-RPC error.
    Code(i32),
    /// The tool reported a failure.
    Tool,
    Cancelled,
}

/// A session that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedSession {
    pub revision: Revision,
    pub duration: Duration,
}

/// A request that is being measured. It is reported once, when it is decided; a request that is never decided was
/// cancelled.
pub(crate) struct Measured {
    meter: Arc<dyn Meter>,
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
    /// Begins to measure a request whose line arrived at `arrived`. `name` is the tool or the prompt that it is about,
    /// if it exists.
    pub(crate) fn begin(
        meter: &Arc<dyn Meter>,
        arrived: Instant,
        method: &'static str,
        name: Option<Box<str>>,
    ) -> Self {
        Self { meter: Arc::clone(meter), arrived, method, name, state: Mutex::default() }
    }

    pub(crate) fn set_revision(&self, revision: Revision) {
        self.state.lock().revision = Some(revision);
    }

    /// It was answered with a result, which may report that the tool failed.
    pub(crate) fn succeeded(&self, has_tool_failed: bool) {
        self.report(has_tool_failed.then_some(ErrorType::Tool));
    }

    pub(crate) fn failed(&self, error: &RpcError) {
        self.report(Some(ErrorType::Code(error.code)));
    }

    pub(crate) fn cancelled(&self) {
        self.report(Some(ErrorType::Cancelled));
    }

    fn report(&self, error: Option<ErrorType>) {
        let mut state = self.state.lock();
        if std::mem::replace(&mut state.is_reported, true) {
            return;
        }
        let revision = state.revision;
        drop(state);
        self.meter.served(&Operation {
            method: self.method,
            name: self.name.as_deref(),
            revision,
            duration: self.arrived.elapsed(),
            error,
        });
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        self.cancelled();
    }
}

/// Reports a refused message that was not a request.
pub(crate) fn report_refused_message(meter: &dyn Meter, arrived: Instant, error: &RpcError) {
    meter.served(&Operation {
        method: OTHER,
        name: None,
        revision: None,
        duration: arrived.elapsed(),
        error: Some(ErrorType::Code(error.code)),
    });
}

/// A session that is being measured, from its handshake on, for as long as this value lives.
pub(crate) struct MeasuredSession {
    meter: Arc<dyn Meter>,
    began: Instant,
    revision: Revision,
}

impl MeasuredSession {
    pub(crate) fn begin(meter: &Arc<dyn Meter>, revision: Revision) -> Self {
        meter.session_began();
        Self { meter: Arc::clone(meter), began: Instant::now(), revision }
    }
}

impl Drop for MeasuredSession {
    fn drop(&mut self) {
        let ended = EndedSession { revision: self.revision, duration: self.began.elapsed() };
        self.meter.session_ended(&ended);
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
        self.measured.succeeded(false);
        self.inner.answer(message);
    }

    fn notify_before_answer(&self, message: Vec<u8>) {
        self.inner.notify_before_answer(message);
    }

    fn refuse(&self, message: Vec<u8>, code: i32) {
        self.measured.report(Some(ErrorType::Code(code)));
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
