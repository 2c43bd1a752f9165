//! Exported metrics: the measurements under the OpenTelemetry names for MCP. Other names begin with `mcp_bash`.

use super::error_type::ErrorType;
use super::measurements::{ErrorLabel, MeasuredOperation, Measurements};
use super::tracer::Network;
use mcp_bash_telemetry::{Attribute, HistogramPoint, Metric, NumberPoint, Points};

/// Numbers at one point in time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) processes: u64,
    pub(crate) running: usize,
    pub(crate) waiting: usize,
    pub(crate) parked: usize,
}

pub(crate) fn metrics(measurements: &Measurements, network: Network, moment: Moment) -> Vec<Metric> {
    let operations = measurements.operations();
    let operations = operations.iter().map(|operation| HistogramPoint {
        attributes: attributes(operation, network),
        histogram: std::sync::Arc::clone(&operation.histogram),
    });
    let sessions = measurements.sessions().into_iter().map(|(revision, histogram)| {
        let mut attributes = network.attributes();
        attributes.push(("mcp.protocol.version", revision.as_str().into()));
        HistogramPoint { attributes, histogram }
    });
    let of_state = |(state, value): (&str, usize)| NumberPoint {
        attributes: vec![("mcp_bash.request.state", state.into())],
        value: value as u64,
    };
    let requests = [("running", moment.running), ("waiting", moment.waiting), ("parked", moment.parked)];
    let metrics = [
        Metric {
            name: "mcp.server.operation.duration",
            description: "Time from the arrival of a request to its answer.",
            unit: "s",
            points: Points::Histogram(operations.collect()),
        },
        Metric {
            name: "mcp.server.session.duration",
            description: "How long sessions lived, of revisions that have sessions.",
            unit: "s",
            points: Points::Histogram(sessions.collect()),
        },
        Metric {
            name: "mcp_bash.process.starts",
            description: "Processes that were started: scripts, workers, providers and hooks.",
            unit: "{process}",
            points: Points::Counter(vec![NumberPoint { attributes: Vec::new(), value: moment.processes }]),
        },
        Metric {
            name: "mcp_bash.requests",
            description: "Requests that are being worked on, wait for their turn or are parked.",
            unit: "{request}",
            points: Points::Gauge(requests.into_iter().map(of_state).collect()),
        },
    ];
    // A histogram without points is not exported.
    let has_points =
        |metric: &Metric| !matches!(&metric.points, Points::Histogram(points) if points.is_empty());
    metrics.into_iter().filter(has_points).collect()
}

fn attributes(operation: &MeasuredOperation, network: Network) -> Vec<Attribute> {
    let kind = operation.kind;
    let mut attributes: Vec<Attribute> = vec![("mcp.method.name", kind.method.into())];
    let named = if operation.is_of_prompt() { "gen_ai.prompt.name" } else { "gen_ai.tool.name" };
    attributes.extend(operation.name.as_deref().map(|name| (named, name.into())));
    if kind.method == "tools/call" {
        attributes.push(("gen_ai.operation.name", "execute_tool".into()));
    }
    if let Some(error) = kind.error {
        attributes.push(("error.type", error.to_string().as_str().into()));
    }
    if let Some(ErrorLabel::Known(ErrorType::Code(code))) = kind.error {
        attributes.push(("rpc.response.status_code", code.to_string().as_str().into()));
    }
    attributes.extend(kind.revision.map(|revision| ("mcp.protocol.version", revision.as_str().into())));
    attributes.extend(network.attributes());
    attributes
}
