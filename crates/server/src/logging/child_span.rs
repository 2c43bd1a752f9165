//! Child span: a part of a request, such as the process of its script or a question to the client. Its trace context is passed
//! on to that process or client.

use super::tracer::Tracer;
use mcp_bash_runner::ProcessEnding;
use mcp_bash_scripts::{Outcome, ScriptError, TraceVariables};
use mcp_bash_telemetry::{Attribute, Span, SpanContext, SpanKind, Value};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

/// Without a tracer it only carries the caller's trace context.
pub(crate) struct ChildSpan {
    recorded: Option<Recorded>,
    trace: TraceVariables,
}

struct Recorded {
    tracer: Arc<Tracer>,
    context: SpanContext,
    parent: SpanContext,
    name: Box<str>,
    kind: SpanKind,
    attributes: Vec<Attribute>,
    began: Instant,
}

impl ChildSpan {
    /// Passes on the caller's trace context.
    pub(crate) fn unrecorded(trace: TraceVariables) -> Self {
        Self { recorded: None, trace }
    }

    pub(super) fn begin(
        tracer: &Arc<Tracer>,
        parent: SpanContext,
        name: &str,
        kind: SpanKind,
        trace: TraceVariables,
    ) -> Option<Self> {
        let context = parent.child(parent.is_sampled)?;
        let recorded = Recorded {
            tracer: Arc::clone(tracer),
            context,
            parent,
            name: name.into(),
            kind,
            attributes: Vec::new(),
            began: Instant::now(),
        };
        let trace = TraceVariables { parent: Some(context.to_string().into()), ..trace };
        Some(Self { recorded: Some(recorded), trace })
    }

    /// The trace context to pass on.
    pub(crate) fn trace(&self) -> &TraceVariables {
        &self.trace
    }

    pub(crate) fn add(&mut self, name: &'static str, value: impl Into<Value>) {
        if let Some(recorded) = &mut self.recorded {
            recorded.attributes.push((name, value.into()));
        }
    }

    /// Adds the network attributes, for a question to the client.
    pub(crate) fn add_network(&mut self) {
        if let Some(recorded) = &mut self.recorded {
            recorded.attributes.extend(recorded.tracer.network.attributes());
        }
    }

    /// Ends the span of a script, which has ended or could not be run.
    pub(crate) fn end_script(mut self, outcome: &Result<Outcome, ScriptError>) {
        if self.recorded.is_none() {
            return;
        }
        let error = match outcome {
            Err(error) if error.is_timeout() => Some(Cow::Borrowed("timeout")),
            Err(_) => Some(Cow::Borrowed("not_run")),
            Ok(outcome) => error_of(outcome),
        };
        if let Some(code) = outcome.as_ref().ok().and_then(Outcome::exit_code) {
            self.add("process.exit.code", Value::Number(code.into()));
        }
        self.end(error.as_deref());
    }

    pub(crate) fn end(mut self, error: Option<&str>) {
        self.finish(error);
    }

    fn finish(&mut self, error: Option<&str>) {
        let Some(recorded) = self.recorded.take() else { return };
        let Recorded { tracer, context, parent, name, kind, mut attributes, began } = recorded;
        attributes.extend(error.map(|error| ("error.type", error.into())));
        let end = SystemTime::now();
        tracer.record(Span {
            context,
            parent: Some(parent),
            is_parent_remote: false,
            state: self.trace.state.take(),
            name,
            kind,
            start: end.checked_sub(began.elapsed()).unwrap_or(end),
            end,
            attributes,
            links: Vec::new(),
            error: error.map(|_| Box::default()),
        });
    }
}

impl Drop for ChildSpan {
    /// Records the span as cancelled, like its request.
    fn drop(&mut self) {
        self.finish(Some("cancelled"));
    }
}

/// The error type of a failed script.
fn error_of(outcome: &Outcome) -> Option<Cow<'static, str>> {
    let word = match outcome.ending {
        ProcessEnding::Exited(0) => return None,
        ProcessEnding::Exited(code) => return Some(Cow::Owned(code.to_string())),
        ProcessEnding::Signalled(_) => "signal",
        ProcessEnding::TimedOut(_) => "timeout",
        ProcessEnding::Cancelled => "cancelled",
        ProcessEnding::Shutdown => "shutdown",
        ProcessEnding::OutputTooLarge => "output_too_large",
        ProcessEnding::NoRoom(_) => "no_room",
    };
    Some(Cow::Borrowed(word))
}
