//! Tracer: sends the spans of requests to the telemetry exporter, and decides which traces are sampled. Without a tracer, no
//! span is created and no clock is read.

use mcp_bash_secrets::KnownSecrets;
use mcp_bash_telemetry::{Attribute, Exporter, Sampler, Span, SpanContext, Value};
use std::sync::Arc;
use std::time::Duration;

/// The time limit of the last export at shutdown.
const LAST_EXPORT: Duration = Duration::from_secs(1);

/// The longest client text in an attribute, in bytes.
const LONGEST_TEXT: usize = 1024;

/// The longest recorded arguments and results, in bytes.
const LONGEST_CONTENT: usize = 4096;

/// How clients reach the server, in OpenTelemetry terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    /// `pipe`, `tcp` or `unix`.
    pub transport: &'static str,
    pub is_http: bool,
}

impl Network {
    pub const STDIO: Self = Self { transport: "pipe", is_http: false };

    pub(crate) fn attributes(self) -> Vec<Attribute> {
        let mut attributes = vec![("network.transport", self.transport.into())];
        if self.is_http {
            attributes.push(("network.protocol.name", "http".into()));
            attributes.push(("network.protocol.version", "1.1".into()));
        }
        attributes
    }
}

pub(crate) struct Tracer {
    pub(crate) exporter: Exporter,
    pub(crate) sampler: Sampler,
    /// Whether arguments and results are recorded.
    pub(crate) captures_content: bool,
    pub(crate) network: Network,
    pub(crate) known_secrets: Arc<KnownSecrets>,
}

impl Tracer {
    /// The context of a new span, as a child of `parent` if there is one. `None` only if the system has no random numbers.
    pub(super) fn context(&self, parent: Option<SpanContext>) -> Option<SpanContext> {
        match parent {
            Some(parent) => parent.child(self.sampler.samples(parent.trace, Some(parent))),
            None => SpanContext::root(|trace| self.sampler.samples(trace, None)),
        }
    }

    /// Records a finished span, if its trace is sampled.
    pub(super) fn record(&self, span: Span) {
        if span.context.is_sampled {
            self.exporter.record(span);
        }
    }

    /// A client text without secrets, truncated for an attribute.
    pub(super) fn text(&self, text: &str) -> Value {
        self.shortened(text, LONGEST_TEXT)
    }

    /// Arguments or a result, without secrets and truncated.
    pub(super) fn content(&self, text: &str) -> Value {
        self.shortened(text, LONGEST_CONTENT)
    }

    fn shortened(&self, text: &str, longest: usize) -> Value {
        // Redacted before it is truncated, so that no part of a secret remains at the end.
        let mut shown = self.known_secrets.redacted_text(text.to_owned());
        let end = (0..=longest.min(shown.len())).rev().find(|end| shown.is_char_boundary(*end));
        shown.truncate(end.unwrap_or_default());
        Value::Text(shown.into())
    }

    /// Exports the rest, for a limited time.
    pub(crate) fn close(&self) {
        self.exporter.close(LAST_EXPORT);
    }
}
