//! Metrics of the HTTP server, named as in OpenTelemetry's conventions for MCP where those have a name. Only known values
//! become labels, so that clients cannot make the text grow.

mod exposition;
pub(super) mod health;
#[cfg(test)]
mod reading;

use exposition::{Exposition, Format};
use mcp_bash_server::{AuditCounts, MeasuredOperation, Measurements};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

const OPERATIONS: &str = "mcp_server_operation_duration_seconds";
const SESSIONS: &str = "mcp_server_session_duration_seconds";

/// A snapshot of current values.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Gauges {
    pub(super) connections: usize,
    pub(super) streams: usize,
    pub(super) sessions: usize,
    pub(super) running_calls: usize,
    pub(super) waiting_calls: usize,
    pub(super) parked_calls: usize,
    /// Bytes charged to the memory budget of the process.
    pub(super) held_bytes: usize,
    /// Whether the store that servers share can be reached, if they share one.
    pub(super) is_store_reachable: Option<bool>,
    /// Counts of the audit log, if there is one.
    pub(super) audit: Option<AuditCounts>,
}

pub(super) struct Metrics {
    /// How clients reach the server: `tcp` or `unix`.
    transport: &'static str,
    measurements: Arc<Measurements>,
    refused: Mutex<BTreeMap<&'static str, u64>>,
}

impl Metrics {
    pub(super) fn new(transport: &'static str, measurements: Arc<Measurements>) -> Self {
        Self { transport, measurements, refused: Mutex::default() }
    }

    /// Counts a refused request or connection.
    pub(super) fn refused(&self, reason: &'static str) {
        *self.refused.lock().entry(reason).or_default() += 1;
    }

    /// All metrics as text.
    fn render(&self, gauges: &Gauges, format: Format) -> String {
        let mut text = Exposition::new(format);
        text.histogram_family(OPERATIONS, "Time from the arrival of a request to its answer.");
        for operation in self.measurements.operations() {
            let error = operation.kind.error.map(|error| error.to_string());
            let labels = self.labels(&operation, error.as_deref());
            text.histogram(OPERATIONS, &labels, &operation.histogram);
        }
        text.histogram_family(SESSIONS, "How long sessions lived, of revisions that have sessions.");
        for (revision, histogram) in self.measurements.sessions() {
            let labels = [("network_transport", self.transport), ("mcp_protocol_version", revision.as_str())];
            text.histogram(SESSIONS, &labels, &histogram);
        }
        let refused = self.refused.lock().clone();
        text.counter(
            "mcp_server_http_refused_requests",
            "Requests and connections that were refused, by reason.",
            "reason",
            refused,
        );
        let numbers = [
            ("mcp_server_http_connections", "Open connections.", gauges.connections),
            ("mcp_server_http_streams", "Open event streams.", gauges.streams),
            ("mcp_server_sessions", "Sessions that have begun and not ended.", gauges.sessions),
            ("mcp_server_running_calls", "Requests that are being worked on.", gauges.running_calls),
            ("mcp_server_waiting_calls", "Requests that wait for their turn.", gauges.waiting_calls),
            ("mcp_server_parked_calls", "Calls that wait for the answer of a client.", gauges.parked_calls),
        ];
        for (name, help, value) in numbers {
            text.gauge(name, None, help, value as u64);
        }
        let help =
            "Bytes of messages, results and files that are held, as MCPBASH_MAX_PROCESS_BYTES bounds them.";
        text.gauge("mcp_server_held_bytes", Some("bytes"), help, gauges.held_bytes as u64);
        if let Some(is_reachable) = gauges.is_store_reachable {
            let help = "1 while the database of MCPBASH_STORE can be reached, else 0.";
            text.gauge("mcp_server_store_reachable", None, help, u64::from(is_reachable));
        }
        if let Some(audit) = &gauges.audit {
            let records = [("written", audit.written), ("lost", audit.lost)];
            let help = "Records of the audit log, written or lost because they could not be written.";
            text.counter("mcp_server_audit_records", help, "state", records);
            let help = "Failed attempts to write to the audit log.";
            text.counter("mcp_server_audit_failures", help, "sink", [("audit", audit.failures)]);
            let help = "1 while the audit log cannot be written, else 0.";
            text.gauge("mcp_server_audit_broken", None, help, u64::from(audit.is_broken));
        }
        if let Some(bytes) = resident_bytes() {
            let help = "Memory of the server's process that is not swapped out.";
            text.gauge("process_resident_memory_bytes", Some("bytes"), help, bytes);
        }
        text.finish()
    }

    fn labels<'a>(
        &'a self,
        operation: &'a MeasuredOperation,
        error: Option<&'a str>,
    ) -> Vec<(&'static str, &'a str)> {
        let named = if operation.is_of_prompt() { "gen_ai_prompt_name" } else { "gen_ai_tool_name" };
        let mut labels = vec![("mcp_method_name", operation.kind.method)];
        labels.extend(operation.name.as_deref().map(|name| (named, name)));
        labels.extend(error.map(|error| ("error_type", error)));
        labels.push(("network_transport", self.transport));
        labels.extend(operation.kind.revision.map(|revision| ("mcp_protocol_version", revision.as_str())));
        labels
    }
}

/// The resident memory of this process, if the system reports it.
fn resident_bytes() -> Option<u64> {
    let pages = mcp_bash_files::read_text(Path::new("/proc/self/statm"), 1024).ok()?;
    let pages: u64 = pages.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::reading::read;
    use super::*;
    use mcp_bash_server::{EndedSession, ErrorType, Meter as _, OTHER, Operation};
    use mcp_bash_wire::Revision;
    use std::time::Duration;

    fn operation<'a>(method: &'static str, name: Option<&'a str>, error: Option<ErrorType>) -> Operation<'a> {
        let revision = Some(Revision::V2026_07_28);
        Operation { method, name, revision, duration: Duration::from_millis(30), error }
    }

    #[test]
    fn both_forms_say_the_same_and_can_be_read() {
        let metrics = Metrics::new("tcp", Arc::default());
        metrics.measurements.served(&operation("tools/call", Some("a\"b\\c\nd"), None));
        metrics.measurements.served(&operation("tools/call", Some("x"), Some(ErrorType::Tool)));
        metrics.measurements.served(&operation("tools/call", Some("x"), Some(ErrorType::Tool)));
        metrics.measurements.served(&operation("prompts/get", Some("p"), Some(ErrorType::Code(-32602))));
        metrics
            .measurements
            .served(&Operation { revision: None, ..operation(OTHER, None, Some(ErrorType::Code(-32700))) });
        metrics.measurements.served(&operation("tools/list", None, Some(ErrorType::Cancelled)));
        let session = EndedSession { revision: Revision::V2025_11_25, duration: Duration::from_secs(1000) };
        metrics.measurements.session_ended(&session);
        metrics.measurements.session_ended(&session);
        metrics.refused("origin");
        metrics.refused("origin");
        let gauges = Gauges { connections: 7, parked_calls: 2, held_bytes: 9, ..Gauges::default() };
        let texts = [Format::Prometheus, Format::OpenMetrics].map(|format| metrics.render(&gauges, format));
        for (text, is_open) in texts.iter().zip([false, true]) {
            let samples = read(text, is_open).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
            let value = |name: &str, labels: &str| {
                let key = format!("{name}{{{labels}}}");
                samples.get(&key).map_or_else(|| panic!("{key} is not in\n{text}"), String::as_str)
            };
            let common = "network_transport=\"tcp\",mcp_protocol_version=\"2026-07-28\"";
            let failed = format!(
                "mcp_method_name=\"tools/call\",gen_ai_tool_name=\"x\",error_type=\"tool_error\",{common}"
            );
            assert_eq!(value(&format!("{OPERATIONS}_count"), &failed), "2");
            assert_eq!(value(&format!("{OPERATIONS}_sum"), &failed), "0.06");
            assert_eq!(value(&format!("{OPERATIONS}_bucket"), &format!("{failed},le=\"0.02\"")), "0");
            assert_eq!(value(&format!("{OPERATIONS}_bucket"), &format!("{failed},le=\"0.05\"")), "2");
            let odd = format!("mcp_method_name=\"tools/call\",gen_ai_tool_name=\"a\\\"b\\\\c\\nd\",{common}");
            assert_eq!(value(&format!("{OPERATIONS}_count"), &odd), "1");
            let prompt = format!(
                "mcp_method_name=\"prompts/get\",gen_ai_prompt_name=\"p\",error_type=\"-32602\",{common}"
            );
            assert_eq!(value(&format!("{OPERATIONS}_count"), &prompt), "1");
            let other = "mcp_method_name=\"_OTHER\",error_type=\"-32700\",network_transport=\"tcp\"";
            assert_eq!(value(&format!("{OPERATIONS}_count"), other), "1");
            let session = "network_transport=\"tcp\",mcp_protocol_version=\"2025-11-25\"";
            assert_eq!(value(&format!("{SESSIONS}_sum"), session), "2000");
            assert_eq!(value(&format!("{SESSIONS}_bucket"), &format!("{session},le=\"+Inf\"")), "2");
            assert_eq!(value("mcp_server_http_refused_requests_total", "reason=\"origin\""), "2");
            assert_eq!(value("mcp_server_http_connections", ""), "7");
            assert_eq!(value("mcp_server_parked_calls", ""), "2");
            assert_eq!(value("mcp_server_held_bytes", ""), "9");
        }
    }
}
