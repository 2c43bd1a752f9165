//! OTLP as JSON: ids in hexadecimal, 64-bit numbers as strings, enumerations as numbers.

use crate::histogram::BOUNDS;
use crate::metric::{HistogramPoint, Metric, NumberPoint, Points};
use crate::span::{Attribute, Span, Value};
use crate::span_context::hex;
use serde_json::{Value as Json, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// Each export has all that was counted since the start.
const CUMULATIVE: u8 = 2;

const STATUS_ERROR: u8 = 2;

/// Bits of the flags of a span beside those of W3C: whether it is known where the parent is, and whether it is elsewhere.
const KNOWS_PARENT: u32 = 0x100;
const PARENT_ELSEWHERE: u32 = 0x200;

/// The name under which spans and metrics are reported.
const SCOPE: &str = "mcp-bash";

pub(crate) fn spans(resource: &[(String, String)], spans: &[Span]) -> String {
    let spans: Vec<Json> = spans.iter().map(span).collect();
    let scope = json!({ "scope": scope(), "spans": spans });
    json!({ "resourceSpans": [{ "resource": resource_json(resource), "scopeSpans": [scope] }] }).to_string()
}

/// `start` is when counting began.
pub(crate) fn metrics(
    resource: &[(String, String)],
    metrics: &[Metric],
    start: SystemTime,
    now: SystemTime,
) -> String {
    let moment = Moment { start: nanoseconds(start), now: nanoseconds(now) };
    let metrics: Vec<Json> = metrics.iter().map(|metric| moment.metric(metric)).collect();
    let scope = json!({ "scope": scope(), "metrics": metrics });
    json!({ "resourceMetrics": [{ "resource": resource_json(resource), "scopeMetrics": [scope] }] })
        .to_string()
}

fn scope() -> Json {
    json!({ "name": SCOPE, "version": env!("CARGO_PKG_VERSION") })
}

fn resource_json(resource: &[(String, String)]) -> Json {
    let pair = |(key, value): &(String, String)| json!({ "key": key, "value": { "stringValue": value } });
    json!({ "attributes": resource.iter().map(pair).collect::<Vec<_>>() })
}

fn attributes(attributes: &[Attribute]) -> Vec<Json> {
    let pair = |(key, value): &Attribute| {
        let value = match value {
            Value::Text(text) => json!({ "stringValue": text }),
            Value::Number(number) => json!({ "intValue": number.to_string() }),
            Value::Seconds(seconds) => json!({ "doubleValue": seconds }),
        };
        json!({ "key": key, "value": value })
    };
    attributes.iter().map(pair).collect()
}

fn nanoseconds(time: SystemTime) -> String {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos()).to_string()
}

fn span(span: &Span) -> Json {
    let elsewhere = if span.is_parent_remote { PARENT_ELSEWHERE } else { 0 };
    let mut encoded = json!({
        "traceId": hex(&span.context.trace),
        "spanId": hex(&span.context.span),
        "flags": u32::from(span.context.is_sampled) | KNOWS_PARENT | elsewhere,
        "name": span.name,
        "kind": span.kind as u8,
        "startTimeUnixNano": nanoseconds(span.start),
        "endTimeUnixNano": nanoseconds(span.end),
        "attributes": attributes(&span.attributes),
    });
    if let Some(parent) = span.parent {
        encoded["parentSpanId"] = hex(&parent.span).into();
    }
    if let Some(state) = &span.state {
        encoded["traceState"] = (**state).into();
    }
    if !span.links.is_empty() {
        let link = |link: &crate::SpanContext| {
            json!({
                "traceId": hex(&link.trace),
                "spanId": hex(&link.span),
                "flags": u32::from(link.is_sampled) | KNOWS_PARENT | PARENT_ELSEWHERE,
            })
        };
        encoded["links"] = span.links.iter().map(link).collect();
    }
    if let Some(description) = &span.error {
        encoded["status"] = json!({ "code": STATUS_ERROR });
        if !description.is_empty() {
            encoded["status"]["message"] = (**description).into();
        }
    }
    encoded
}

struct Moment {
    start: String,
    now: String,
}

impl Moment {
    fn metric(&self, metric: &Metric) -> Json {
        let (kind, data) = match &metric.points {
            Points::Histogram(points) => {
                let points: Vec<Json> = points.iter().map(|point| self.histogram(point)).collect();
                ("histogram", json!({ "aggregationTemporality": CUMULATIVE, "dataPoints": points }))
            }
            Points::Counter(points) => {
                let points: Vec<Json> = points.iter().map(|point| self.number(point)).collect();
                let sum = json!({
                    "aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": points
                });
                ("sum", sum)
            }
            Points::Gauge(points) => {
                let points: Vec<Json> = points.iter().map(|point| self.number(point)).collect();
                ("gauge", json!({ "dataPoints": points }))
            }
        };
        let Metric { name, description, unit, .. } = metric;
        json!({ "name": name, "description": description, "unit": unit, kind: data })
    }

    fn histogram(&self, point: &HistogramPoint) -> Json {
        let counts = point.histogram.counts();
        json!({
            "attributes": attributes(&point.attributes),
            "startTimeUnixNano": self.start,
            "timeUnixNano": self.now,
            "count": counts.iter().sum::<u64>().to_string(),
            "sum": point.histogram.sum().as_secs_f64(),
            "bucketCounts": counts.map(|count| count.to_string()),
            "explicitBounds": BOUNDS,
        })
    }

    fn number(&self, point: &NumberPoint) -> Json {
        json!({
            "attributes": attributes(&point.attributes),
            "startTimeUnixNano": self.start,
            "timeUnixNano": self.now,
            "asInt": point.value.to_string(),
        })
    }
}
