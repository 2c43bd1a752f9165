//! Metrics exposition: the text formats of Prometheus and `OpenMetrics`.

use mcp_bash_telemetry::{BOUNDS, Histogram};
use std::fmt::Write as _;

/// The text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Prometheus,
    OpenMetrics,
}

impl Format {
    /// The format that the client prefers, by its `Accept` header.
    pub(super) fn wanted(accept: Option<&str>) -> Self {
        let is_open = accept.is_some_and(|accept| accept.contains("application/openmetrics-text"));
        if is_open { Self::OpenMetrics } else { Self::Prometheus }
    }

    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// Label names and values.
pub(super) type Labels<'a> = [(&'static str, &'a str)];

/// Writes the text of all metrics.
pub(super) struct Exposition {
    format: Format,
    text: String,
}

impl Exposition {
    pub(super) fn new(format: Format) -> Self {
        Self { format, text: String::new() }
    }

    /// Begins a histogram family in seconds.
    pub(super) fn histogram_family(&mut self, name: &str, help: &str) {
        self.family(name, "histogram", Some("seconds"), help);
    }

    pub(super) fn histogram(&mut self, name: &str, labels: &Labels<'_>, histogram: &Histogram) {
        let cumulative = histogram.cumulative();
        let bucket = format!("{name}_bucket");
        for (bound, count) in BOUNDS.iter().zip(cumulative) {
            let bound = match self.format {
                Format::Prometheus => format!("{bound}"),
                Format::OpenMetrics => format!("{bound:?}"),
            };
            self.sample(&bucket, labels, Some(&bound), &count.to_string());
        }
        let total = cumulative[BOUNDS.len()].to_string();
        self.sample(&bucket, labels, Some("+Inf"), &total);
        self.sample(&format!("{name}_count"), labels, None, &total);
        self.sample(&format!("{name}_sum"), labels, None, &histogram.sum().as_secs_f64().to_string());
    }

    /// Writes a gauge.
    pub(super) fn gauge(&mut self, name: &str, unit: Option<&str>, help: &str, value: u64) {
        self.family(name, "gauge", unit, help);
        self.sample(name, &[], None, &value.to_string());
    }

    /// Writes a counter with one sample for each value of a label. `name` is without the suffix `_total`.
    pub(super) fn counter<'a>(
        &mut self,
        name: &str,
        help: &str,
        label: &'static str,
        values: impl IntoIterator<Item = (&'a str, u64)>,
    ) {
        let total = format!("{name}_total");
        // Only Prometheus counts the suffix as part of the family name.
        let family = if self.format == Format::Prometheus { &*total } else { name };
        self.family(family, "counter", None, help);
        for (value, count) in values {
            self.sample(&total, &[(label, value)], None, &count.to_string());
        }
    }

    pub(super) fn finish(mut self) -> String {
        if self.format == Format::OpenMetrics {
            self.text.push_str("# EOF\n");
        }
        self.text
    }

    fn family(&mut self, name: &str, kind: &str, unit: Option<&str>, help: &str) {
        let _ = writeln!(self.text, "# TYPE {name} {kind}");
        if let Some(unit) = unit.filter(|_| self.format == Format::OpenMetrics) {
            let _ = writeln!(self.text, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.text, "# HELP {name} {help}");
    }

    fn sample(&mut self, name: &str, labels: &Labels<'_>, bound: Option<&str>, value: &str) {
        self.text.push_str(name);
        let labels = labels.iter().copied().chain(bound.map(|bound| ("le", bound)));
        let mut separator = '{';
        for (label, value) in labels {
            self.text.push(separator);
            self.text.push_str(label);
            self.text.push_str("=\"");
            self.text.extend(value.chars().flat_map(escaped));
            self.text.push('"');
            separator = ',';
        }
        if separator == ',' {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
    }
}

/// Escapes a character of a label value.
fn escaped(character: char) -> impl Iterator<Item = char> {
    let (before, character) = match character {
        '\n' => (Some('\\'), 'n'),
        '\\' | '"' => (Some('\\'), character),
        _ => (None, character),
    };
    before.into_iter().chain([character])
}
