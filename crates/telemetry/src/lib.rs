//! OpenTelemetry: spans and metrics, sent to a collector with OTLP over HTTP.
//!
//! # Theory of operation
//!
//! [`Config`] reads the standard variables (`OTEL_…`). Without an endpoint there is no configuration, and nothing of
//! this crate runs. With one, an [`Exporter`] has a thread of its own. [`Exporter::record`] puts a finished [`Span`] into a
//! bounded queue (`queue.rs`) and never waits: a full queue loses its oldest span and counts it. The thread takes
//! batches, by size or by time, encodes them as OTLP JSON (`encode.rs`) and posts them (`delivery.rs`). It asks for
//! [`Metric`]s at an interval. [`Exporter::close`] sends what is left, within a limit of time.
//!
//! # Decisions
//!
//! - JSON and not protobuf: collectors take both at the same address, and JSON needs no generated code.
//! - Metrics are cumulative, so that a lost export loses nothing but its moment; they are not sent again.
//! - A wrong variable is a [`Problem`] for the operator and never stops the server, as the specification asks.
//! - Nothing here knows MCP: attributes are given.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

mod config;
mod delivery;
mod encode;
mod exporter;
mod histogram;
mod ids;
mod key_values;
mod metric;
mod problem;
mod queue;
mod sampler;
mod span;
mod span_context;

pub use config::{Config, is_requested};
pub use exporter::{Exporter, News, Resource};
pub use histogram::{BOUNDS, Histogram};
pub use metric::{HistogramPoint, Metric, NumberPoint, Points};
pub use problem::Problem;
pub use sampler::Sampler;
pub use span::{Attribute, Span, SpanKind, Value};
pub use span_context::{SpanContext, hex};
