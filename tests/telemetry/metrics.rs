//! Metrics have the names and the buckets that OpenTelemetry has for MCP.

use super::collector::{Collector, Export};
use super::{AT_ONCE, attributes, call, start};
use crate::harness::{Project, Server};
use serde_json::{Value, json};

fn metric<'a>(export: &'a Export, name: &str) -> &'a Value {
    assert_eq!(export.path, "/v1/metrics");
    let metrics = export.body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    metrics.iter().find(|metric| metric["name"] == name).unwrap_or_else(|| panic!("no {name}: {export:?}"))
}

#[test]
fn requests_sessions_and_processes_are_counted() {
    let project = Project::with_hi().tool("fails", "#!/bin/sh\nexit 3\n");
    let collector = Collector::start();
    let mut server = start(&project, &collector, &[("OTEL_TRACES_EXPORTER", "none")]);
    server.initialize("2025-11-25");
    for (id, tool) in [(1, "hi"), (2, "hi"), (3, "fails")] {
        call(&mut server, id, tool, &json!({}));
    }
    server.finish();
    let exports = collector.rest();
    assert_eq!(exports.len(), 1, "{exports:?}");
    let operations = metric(&exports[0], "mcp.server.operation.duration");
    assert_eq!(operations["unit"], "s");
    assert_eq!(operations["histogram"]["aggregationTemporality"], 2);
    let points = operations["histogram"]["dataPoints"].as_array().unwrap();
    let of_tool =
        |name: &str| points.iter().find(|point| attributes(point)["gen_ai.tool.name"] == name).unwrap();
    let hi = of_tool("hi");
    assert_eq!(
        attributes(hi),
        json!({
            "mcp.method.name": "tools/call",
            "gen_ai.tool.name": "hi",
            "gen_ai.operation.name": "execute_tool",
            "mcp.protocol.version": "2026-07-28",
            "network.transport": "pipe",
        })
    );
    assert_eq!(hi["count"], "2");
    let bounds = json!([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0]);
    assert_eq!(hi["explicitBounds"], bounds);
    let counts = hi["bucketCounts"].as_array().unwrap();
    let total: u64 = counts.iter().map(|count| count.as_str().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!((counts.len(), total), (15, 2));
    assert!(hi["sum"].as_f64().unwrap() > 0.0);
    assert_eq!(attributes(of_tool("fails"))["error.type"], "tool_error");
    let sessions = &metric(&exports[0], "mcp.server.session.duration")["histogram"]["dataPoints"];
    assert_eq!((sessions.as_array().unwrap().len(), &sessions[0]["count"]), (1, &json!("1")));
    let starts = &metric(&exports[0], "mcp_bash.process.starts")["sum"];
    assert_eq!((&starts["isMonotonic"], &starts["dataPoints"][0]["asInt"]), (&json!(true), &json!("3")));
    let states = metric(&exports[0], "mcp_bash.requests")["gauge"]["dataPoints"].as_array().unwrap();
    let states: Vec<Value> =
        states.iter().map(|point| attributes(point)["mcp_bash.request.state"].clone()).collect();
    assert_eq!(states, ["running", "waiting", "parked"]);
}

#[test]
fn metrics_are_sent_at_an_interval_and_grow() {
    let (project, collector) = (Project::with_hi(), Collector::start());
    let interval = ("OTEL_METRIC_EXPORT_INTERVAL", "20");
    let mut server = start(&project, &collector, &[("OTEL_TRACES_EXPORTER", "none"), interval]);
    for wanted in ["1", "2"] {
        call(&mut server, 1, "hi", &json!({}));
        // The next export, or a later one, has the call.
        while metric(&collector.next(), "mcp_bash.process.starts")["sum"]["dataPoints"][0]["asInt"] != wanted
        {
        }
    }
    server.finish();
}

#[test]
fn only_what_has_an_endpoint_is_exported() {
    let (project, collector) = (Project::with_hi(), Collector::start());
    let endpoint = format!("{}/own/path", collector.url);
    let environment = [&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", endpoint.as_str())][..], &AT_ONCE].concat();
    let mut server = Server::start_with(project.root(), &environment);
    call(&mut server, 1, "hi", &json!({}));
    server.finish();
    let exports = collector.rest();
    assert!(!exports.is_empty() && exports.iter().all(|export| export.path == "/own/path"), "{exports:?}");
}
