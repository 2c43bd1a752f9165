//! Span: one piece of work in a trace, from its start to its end.

use crate::span_context::SpanContext;
use std::time::SystemTime;

/// As OTLP numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    Internal = 1,
    Server = 2,
    Client = 3,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(Box<str>),
    Number(i64),
    Seconds(f64),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

pub type Attribute = (&'static str, Value);

/// A span that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub context: SpanContext,
    /// The span that it is part of. `None` at the root of its trace.
    pub parent: Option<SpanContext>,
    /// Whether another process has reported the parent.
    pub is_parent_remote: bool,
    /// `tracestate` of W3C, as the caller sent it.
    pub state: Option<Box<str>>,
    pub name: Box<str>,
    pub kind: SpanKind,
    pub start: SystemTime,
    pub end: SystemTime,
    pub attributes: Vec<Attribute>,
    /// Spans that it belongs to without being part of them.
    pub links: Vec<SpanContext>,
    /// Whether it failed. The description of the failure may be empty.
    pub error: Option<Box<str>>,
}
