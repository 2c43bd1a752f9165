//! Metrics of the HTTP server. The names are OpenTelemetry's for MCP, where it has one. Only known values become labels, so
//! that no client can make the text grow.

mod exposition;
pub(super) mod health;
mod histogram;
#[cfg(test)]
mod reading;

use arc_swap::ArcSwap;
use exposition::{Exposition, Format};
use histogram::Histogram;
use mcp_bash_server::{AuditCounts, EndedSession, ErrorType, Meter, OTHER, Operation};
use mcp_bash_wire::Revision;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

const OPERATIONS: &str = "mcp_server_operation_duration_seconds";
const SESSIONS: &str = "mcp_server_session_duration_seconds";

/// More kinds of operations than these are not told apart by the names of tools and the codes of errors.
const MOST_KINDS: usize = 1000;

/// What is told of one moment.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Gauges {
    pub(super) connections: usize,
    pub(super) streams: usize,
    pub(super) sessions: usize,
    pub(super) running_calls: usize,
    pub(super) waiting_calls: usize,
    pub(super) parked_calls: usize,
    /// As the budget of the process counts them.
    pub(super) held_bytes: usize,
    /// Of the audit log, if there is one.
    pub(super) audit: Option<AuditCounts>,
}

pub(super) struct Metrics {
    /// How clients reach the server: `tcp` or `unix`.
    transport: &'static str,
    /// Replaced as a whole when there is a new kind, which is rare, so that nobody ever waits to count.
    operations: ArcSwap<Operations>,
    sessions: ArcSwap<HashMap<Revision, Arc<Histogram>>>,
    /// Held while a kind is added.
    adding: Mutex<()>,
    refused: Mutex<BTreeMap<&'static str, u64>>,
}

/// The kinds of operations so far.
#[derive(Clone, Default)]
struct Operations {
    by_kind: HashMap<OperationKind, Named>,
    count: usize,
}

/// What tells operations apart beside the name of the tool or the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct OperationKind {
    method: &'static str,
    error: Option<ErrorLabel>,
    revision: Option<Revision>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum ErrorLabel {
    Known(ErrorType),
    Other,
}

#[derive(Clone, Default)]
struct Named {
    unnamed: Option<Arc<Histogram>>,
    by_name: HashMap<Box<str>, Arc<Histogram>>,
}

impl Operations {
    fn find(&self, kind: OperationKind, name: Option<&str>) -> Option<&Arc<Histogram>> {
        let named = self.by_kind.get(&kind)?;
        match name {
            None => named.unnamed.as_ref(),
            Some(name) => named.by_name.get(name),
        }
    }

    fn add(&mut self, kind: OperationKind, name: Option<&str>) -> Arc<Histogram> {
        let histogram = Arc::new(Histogram::default());
        let named = self.by_kind.entry(kind).or_default();
        match name {
            None => named.unnamed = Some(Arc::clone(&histogram)),
            Some(name) => drop(named.by_name.insert(name.into(), Arc::clone(&histogram))),
        }
        self.count += 1;
        histogram
    }

    /// All of them, in order.
    fn all(&self) -> Vec<(OperationKind, Option<&str>, &Histogram)> {
        let mut all = Vec::with_capacity(self.count);
        for (kind, named) in &self.by_kind {
            all.extend(named.unnamed.iter().map(|histogram| (*kind, None, &**histogram)));
            all.extend(named.by_name.iter().map(|(name, histogram)| (*kind, Some(&**name), &**histogram)));
        }
        all.sort_by_key(|(kind, name, _)| (*kind, *name));
        all
    }
}

impl Meter for Metrics {
    fn served(&self, operation: &Operation<'_>) {
        let Operation { method, name, revision, duration, error } = *operation;
        let kind = OperationKind { method, error: error.map(ErrorLabel::Known), revision };
        self.histogram(kind, name).observe(duration);
    }

    fn session_ended(&self, session: &EndedSession) {
        if let Some(histogram) = self.sessions.load().get(&session.revision) {
            return histogram.observe(session.duration);
        }
        let _adding = self.adding.lock();
        let mut sessions = HashMap::clone(&self.sessions.load());
        sessions.entry(session.revision).or_default().observe(session.duration);
        self.sessions.store(Arc::new(sessions));
    }
}

impl Metrics {
    pub(super) fn new(transport: &'static str) -> Self {
        Self {
            transport,
            operations: ArcSwap::default(),
            sessions: ArcSwap::default(),
            adding: Mutex::default(),
            refused: Mutex::default(),
        }
    }

    /// A request was refused before it reached the server, or a connection was.
    pub(super) fn refused(&self, reason: &'static str) {
        *self.refused.lock().entry(reason).or_default() += 1;
    }

    fn histogram(&self, kind: OperationKind, name: Option<&str>) -> Arc<Histogram> {
        if let Some(known) = self.operations.load().find(kind, name) {
            return Arc::clone(known);
        }
        let _adding = self.adding.lock();
        let known = self.operations.load();
        let (kind, name) = if known.count < MOST_KINDS {
            (kind, name)
        } else {
            (OperationKind { error: kind.error.map(|_| ErrorLabel::Other), ..kind }, name.map(|_| OTHER))
        };
        if let Some(known) = known.find(kind, name) {
            return Arc::clone(known);
        }
        let mut operations = Operations::clone(&known);
        let histogram = operations.add(kind, name);
        self.operations.store(Arc::new(operations));
        histogram
    }

    /// All metrics as text.
    fn render(&self, gauges: &Gauges, format: Format) -> String {
        let mut text = Exposition::new(format);
        text.histogram_family(OPERATIONS, "Time from the arrival of a request to its answer.");
        for (kind, name, histogram) in self.operations.load().all() {
            text.histogram(OPERATIONS, &self.labels(kind, name, &error_label(kind.error)), histogram);
        }
        text.histogram_family(SESSIONS, "How long sessions lived, of revisions that have sessions.");
        for revision in Revision::ALL {
            if let Some(histogram) = self.sessions.load().get(&revision) {
                let labels =
                    [("network_transport", self.transport), ("mcp_protocol_version", revision.as_str())];
                text.histogram(SESSIONS, &labels, histogram);
            }
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
        &self,
        kind: OperationKind,
        name: Option<&'a str>,
        error: &'a str,
    ) -> Vec<(&'static str, &'a str)>
    where
        Self: 'a,
    {
        let named = if kind.method == "prompts/get" { "gen_ai_prompt_name" } else { "gen_ai_tool_name" };
        let mut labels = vec![("mcp_method_name", kind.method)];
        labels.extend(name.map(|name| (named, name)));
        labels.extend(kind.error.map(|_| ("error_type", error)));
        labels.push(("network_transport", self.transport));
        labels.extend(kind.revision.map(|revision| ("mcp_protocol_version", revision.as_str())));
        labels
    }
}

fn error_label(error: Option<ErrorLabel>) -> String {
    match error {
        None => String::new(),
        Some(ErrorLabel::Other) => OTHER.to_owned(),
        Some(ErrorLabel::Known(ErrorType::Code(code))) => code.to_string(),
        Some(ErrorLabel::Known(ErrorType::Tool)) => "tool_error".to_owned(),
        Some(ErrorLabel::Known(ErrorType::Cancelled)) => "cancelled".to_owned(),
    }
}

/// The memory of this process, where the system tells.
fn resident_bytes() -> Option<u64> {
    let pages = mcp_bash_files::read_text(Path::new("/proc/self/statm"), 1024).ok()?;
    let pages: u64 = pages.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::reading::read;
    use super::*;
    use std::time::Duration;

    fn operation<'a>(method: &'static str, name: Option<&'a str>, error: Option<ErrorType>) -> Operation<'a> {
        let revision = Some(Revision::V2026_07_28);
        Operation { method, name, revision, duration: Duration::from_millis(30), error }
    }

    #[test]
    fn both_forms_say_the_same_and_can_be_read() {
        let metrics = Metrics::new("tcp");
        metrics.served(&operation("tools/call", Some("a\"b\\c\nd"), None));
        metrics.served(&operation("tools/call", Some("x"), Some(ErrorType::Tool)));
        metrics.served(&operation("tools/call", Some("x"), Some(ErrorType::Tool)));
        metrics.served(&operation("prompts/get", Some("p"), Some(ErrorType::Code(-32602))));
        metrics
            .served(&Operation { revision: None, ..operation(OTHER, None, Some(ErrorType::Code(-32700))) });
        metrics.served(&operation("tools/list", None, Some(ErrorType::Cancelled)));
        let session = EndedSession { revision: Revision::V2025_11_25, duration: Duration::from_secs(1000) };
        metrics.session_ended(&session);
        metrics.session_ended(&session);
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

    #[test]
    fn kinds_are_bounded_and_nothing_goes_uncounted() {
        let metrics = Metrics::new("unix");
        for number in 0..3 * i32::try_from(MOST_KINDS).unwrap() {
            let name = format!("tool-{number}");
            metrics.served(&operation("tools/call", Some(&name), Some(ErrorType::Code(number))));
        }
        metrics.served(&operation("tools/call", Some("tool-0"), Some(ErrorType::Code(0))));
        let operations = metrics.operations.load();
        assert!(operations.all().len() <= MOST_KINDS + 1, "{}", operations.all().len());
        let total: u64 = operations.all().iter().map(|(.., histogram)| histogram.cumulative()[14]).sum();
        assert_eq!(total, 3 * MOST_KINDS as u64 + 1);
        let text = metrics.render(&Gauges::default(), Format::OpenMetrics);
        let folded = "gen_ai_tool_name=\"_OTHER\",error_type=\"_OTHER\"";
        assert!(text.contains(folded) && text.contains("gen_ai_tool_name=\"tool-0\""));
        read(&text, true).unwrap();
    }

    #[test]
    fn many_threads_count_at_once_and_lose_nothing() {
        let metrics = Metrics::new("tcp");
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let metrics = &metrics;
                scope.spawn(move || {
                    for number in 0..1000 {
                        let name = format!("tool-{}", (number + thread) % 50);
                        metrics.served(&operation("tools/call", Some(&name), None));
                    }
                });
            }
        });
        let operations = metrics.operations.load();
        let total: u64 = operations.all().iter().map(|(.., histogram)| histogram.cumulative()[14]).sum();
        assert_eq!((operations.all().len(), total), (50, 8000));
    }
}
