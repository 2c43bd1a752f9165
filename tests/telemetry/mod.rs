//! OpenTelemetry: spans and metrics in the hands of a collector, and the trace in the hands of scripts.

mod collector;
mod hostile;
mod metrics;
mod over_http;
mod propagation;
mod spans;

use crate::harness::{Project, Server, stateless_meta};
use collector::Collector;
use serde_json::{Map, Value, json};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Prints the trace variables.
const PRINT: &str =
    "#!/bin/sh\nprintf '%s|%s|%s' \"${TRACEPARENT-none}\" \"${TRACESTATE-none}\" \"${BAGGAGE-none}\"\n";

/// Each span is exported at once; metrics only when the server ends.
const AT_ONCE: [(&str, &str); 2] =
    [("OTEL_BSP_SCHEDULE_DELAY", "1"), ("OTEL_METRIC_EXPORT_INTERVAL", "86400000")];

/// A server that exports to `collector`, with more settings.
fn start(project: &Project, collector: &Collector, more: &[(&str, &str)]) -> Server {
    let endpoint = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str())];
    Server::start_with(project.root(), &[&endpoint[..], &AT_ONCE, more].concat())
}

/// Calls the tool with more members of `_meta`, and returns the text of its result.
fn call(server: &mut Server, id: u32, tool: &str, more: &Value) -> String {
    let mut meta = stateless_meta();
    for (name, value) in more.as_object().expect("an object") {
        meta[name] = value.clone();
    }
    let answer = server.ask(id, "tools/call", &json!({ "name": tool, "arguments": {}, "_meta": meta }));
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Attributes as an object of plain values.
fn attributes(of: &Value) -> Value {
    let pair = |attribute: &Value| {
        let value = attribute["value"].as_object().expect("a value").values().next().cloned();
        (attribute["key"].as_str().expect("a key").to_owned(), value.expect("a value"))
    };
    let all = of["attributes"].as_array().unwrap_or_else(|| panic!("no attributes: {of}"));
    Value::Object(all.iter().map(pair).collect::<Map<_, _>>())
}

/// The span of that name.
fn named<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    spans.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("no {name} in {spans:#?}"))
}
