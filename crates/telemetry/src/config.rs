//! Configuration: the standard variables of OpenTelemetry that have a meaning here, and their defaults.

use crate::key_values;
use crate::problem::Problem;
use crate::sampler::Sampler;
use mcp_bash_fetch::{OperatorUrl, Trust};
use std::path::PathBuf;
use std::time::Duration;

/// Reads a variable. An empty one counts as unset.
type Get<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The largest file of certificates.
const MOST_CERTIFICATE_BYTES: u64 = 1024 * 1024;

#[derive(Debug)]
pub struct Config {
    pub(crate) traces: Option<Signal>,
    pub(crate) metrics: Option<Signal>,
    pub sampler: Sampler,
    /// `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`.
    pub(crate) resource: Vec<(String, String)>,
    pub(crate) batches: Batches,
    pub(crate) metric_interval: Duration,
    /// Whether arguments and results of calls are recorded.
    pub captures_content: bool,
}

/// Where one kind of telemetry goes.
#[derive(Debug)]
pub(crate) struct Signal {
    pub(crate) url: OperatorUrl,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) timeout: Duration,
    pub(crate) trust: Trust,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Batches {
    /// The most spans that wait.
    pub(crate) queue: usize,
    pub(crate) size: usize,
    /// How long a span waits for others.
    pub(crate) delay: Duration,
}

/// The names of the variables of one kind of telemetry. Each overrides the general one.
struct Names {
    /// What is added to the general endpoint.
    path: &'static str,
    exporter: &'static str,
    endpoint: &'static str,
    headers: &'static str,
    timeout: &'static str,
    protocol: &'static str,
    certificate: &'static str,
}

const GENERAL: Names = Names {
    path: "",
    exporter: "",
    endpoint: "OTEL_EXPORTER_OTLP_ENDPOINT",
    headers: "OTEL_EXPORTER_OTLP_HEADERS",
    timeout: "OTEL_EXPORTER_OTLP_TIMEOUT",
    protocol: "OTEL_EXPORTER_OTLP_PROTOCOL",
    certificate: "OTEL_EXPORTER_OTLP_CERTIFICATE",
};

const TRACES: Names = Names {
    path: "v1/traces",
    exporter: "OTEL_TRACES_EXPORTER",
    endpoint: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    headers: "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    timeout: "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
    protocol: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    certificate: "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
};

const METRICS: Names = Names {
    path: "v1/metrics",
    exporter: "OTEL_METRICS_EXPORTER",
    endpoint: "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    headers: "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
    timeout: "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT",
    protocol: "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
    certificate: "OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE",
};

/// Whether the environment names an endpoint. Everything else is read only then.
pub fn is_requested(is_set: impl Fn(&str) -> bool) -> bool {
    [GENERAL.endpoint, TRACES.endpoint, METRICS.endpoint].into_iter().any(is_set)
}

impl Config {
    /// Reads the variables. `None` if nothing is to be exported.
    pub fn read(get: impl Fn(&str) -> Option<String>) -> (Option<Self>, Vec<Problem>) {
        let get: Get<'_> =
            &|name| get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let mut problems = Vec::new();
        if is_true(get("OTEL_SDK_DISABLED").as_deref()) {
            return (None, problems);
        }
        let mut signal = |names| Signal::read(names, get, &mut problems);
        let (traces, metrics) = (signal(&TRACES), signal(&METRICS));
        if traces.is_none() && metrics.is_none() {
            return (None, problems);
        }
        let sampler = get("OTEL_TRACES_SAMPLER").map(|name| name.to_ascii_lowercase());
        let argument = get("OTEL_TRACES_SAMPLER_ARG");
        let captured = get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT");
        let captured = captured.unwrap_or_default().to_ascii_lowercase();
        let config = Self {
            traces,
            metrics,
            sampler: Sampler::read(sampler.as_deref(), argument.as_deref(), &mut problems),
            resource: resource(get, &mut problems),
            batches: Batches::read(get, &mut problems),
            metric_interval: milliseconds(get, "OTEL_METRIC_EXPORT_INTERVAL", 60_000, &mut problems),
            captures_content: matches!(&*captured, "true" | "span_only" | "span_and_event"),
        };
        (Some(config), problems)
    }

    /// Whether spans are exported.
    pub fn has_traces(&self) -> bool {
        self.traces.is_some()
    }

    /// Whether metrics are exported.
    pub fn has_metrics(&self) -> bool {
        self.metrics.is_some()
    }
}

impl Signal {
    fn read(names: &Names, get: Get<'_>, problems: &mut Vec<Problem>) -> Option<Self> {
        if get(names.exporter).is_some_and(|exporter| exporter.eq_ignore_ascii_case("none")) {
            return None;
        }
        // The variable that counts, and its value.
        let chosen = |own: &'static str, general: &'static str| {
            get(own).map(|value| (own, value)).or_else(|| get(general).map(|value| (general, value)))
        };
        let (variable, text) = match (get(names.endpoint), get(GENERAL.endpoint)) {
            (Some(own), _) => (names.endpoint, own),
            (None, Some(base)) => {
                (GENERAL.endpoint, format!("{}/{}", base.trim_end_matches('/'), names.path))
            }
            (None, None) => return None,
        };
        if let Some((variable, protocol)) = chosen(names.protocol, GENERAL.protocol) {
            match &*protocol {
                "http/json" => {}
                "http/protobuf" => problems.push(Problem::Protobuf { variable }),
                _ => {
                    problems.push(Problem::Protocol { variable, protocol });
                    return None;
                }
            }
        }
        let url = match OperatorUrl::parse_plain(&text) {
            Ok(url) => url,
            Err(error) => {
                problems.push(Problem::Endpoint { variable, url: without_user(&text), error });
                return None;
            }
        };
        let trust = match chosen(names.certificate, GENERAL.certificate) {
            None => Trust::System,
            Some((variable, path)) => match read_certificates(variable, path.into()) {
                Ok(trust) => trust,
                Err(problem) => {
                    problems.push(problem);
                    return None;
                }
            },
        };
        let timeout = if get(names.timeout).is_some() { names.timeout } else { GENERAL.timeout };
        Some(Self {
            url,
            headers: chosen(names.headers, GENERAL.headers)
                .map(|(variable, list)| headers(variable, &list, problems))
                .unwrap_or_default(),
            timeout: milliseconds(get, timeout, 10_000, problems),
            trust,
        })
    }
}

/// The URL without what is before an `@`, which may be a password.
fn without_user(url: &str) -> String {
    match url.rsplit_once('@') {
        Some((_, rest)) => format!("…@{rest}"),
        None => url.to_owned(),
    }
}

fn read_certificates(variable: &'static str, path: PathBuf) -> Result<Trust, Problem> {
    match mcp_bash_files::read(&path, MOST_CERTIFICATE_BYTES) {
        Ok(pem) => Trust::only_pem(&pem).ok_or(Problem::NoCertificate { variable, path }),
        Err(error) => Err(Problem::Certificate { variable, path, error }),
    }
}

fn headers(variable: &'static str, list: &str, problems: &mut Vec<Problem>) -> Vec<(String, String)> {
    let is_token = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
    };
    let is_printable = |value: &str| value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    let mut headers = Vec::new();
    for (index, member) in key_values::read(list).into_iter().enumerate() {
        match member {
            Ok((name, value)) if is_token(&name) && is_printable(&value) => headers.push((name, value)),
            // Without its value, which may be a secret.
            Ok(_) => problems.push(Problem::Header { variable, number: index + 1 }),
            Err(number) => problems.push(Problem::Header { variable, number }),
        }
    }
    headers
}

fn resource(get: Get<'_>, problems: &mut Vec<Problem>) -> Vec<(String, String)> {
    let variable = "OTEL_RESOURCE_ATTRIBUTES";
    let mut attributes = Vec::new();
    for member in key_values::read(&get(variable).unwrap_or_default()) {
        match member {
            Ok(attribute) => attributes.push(attribute),
            Err(number) => problems.push(Problem::Attribute { variable, number }),
        }
    }
    if let Some(name) = get("OTEL_SERVICE_NAME") {
        attributes.retain(|(key, _)| key != "service.name");
        attributes.push(("service.name".to_owned(), name));
    }
    attributes
}

impl Batches {
    fn read(get: Get<'_>, problems: &mut Vec<Problem>) -> Self {
        let mut count = |variable, default| {
            let count = number(get, variable, default, 1, MOST_WAITING, problems);
            usize::try_from(count).unwrap_or(usize::MAX)
        };
        let queue = count("OTEL_BSP_MAX_QUEUE_SIZE", 2048);
        let size = count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512).min(queue);
        let delay = milliseconds(get, "OTEL_BSP_SCHEDULE_DELAY", 5000, problems);
        Self { queue, size, delay }
    }
}

/// A longer queue would hold memory that the budgets of the server do not count.
const MOST_WAITING: u64 = 65_536;

/// A day.
const LONGEST: u64 = 86_400_000;

fn milliseconds(get: Get<'_>, variable: &'static str, default: u64, problems: &mut Vec<Problem>) -> Duration {
    Duration::from_millis(number(get, variable, default, 1, LONGEST, problems))
}

fn number(
    get: Get<'_>,
    variable: &'static str,
    default: u64,
    least: u64,
    most: u64,
    problems: &mut Vec<Problem>,
) -> u64 {
    let Some(value) = get(variable) else { return default };
    match value.parse() {
        Ok(number) if (least..=most).contains(&number) => number,
        _ => {
            problems.push(Problem::Number { variable, value, least, most, default });
            default
        }
    }
}

fn is_true(value: Option<&str>) -> bool {
    value.is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

#[cfg(test)]
mod tests;
