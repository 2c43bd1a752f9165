//! Exporter: a thread that sends spans and metrics to the collector.

use crate::config::Config;
use crate::delivery::{Delivery, Verdict};
use crate::encode;
use crate::ids;
use crate::metric::{Metric, NumberPoint, Points};
use crate::queue::{Queue, Work};
use crate::span::Span;
use crate::span_context::hex;
use std::io;
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant, SystemTime};
use tokio::runtime::{self, Runtime};

/// How often a batch is tried.
const MOST_ATTEMPTS: u32 = 5;

/// The pause after the first failed attempt. Each is twice as long as the one before, and up to half as long again.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// What the spans and metrics are about.
#[derive(Debug, Clone, Copy)]
pub struct Resource<'a> {
    /// The names that count unless the operator has set others.
    pub service_name: &'a str,
    pub service_version: &'a str,
}

/// What the operator should know. Each is told once, until it changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// Exports fail, for this reason.
    Fails { signal: &'static str, why: String },
    /// Exports succeed again. So many spans were lost so far.
    Works { signal: &'static str, lost: u64 },
    /// The collector did not take all of an export.
    Rejected { signal: &'static str, why: String },
}

pub struct Exporter {
    queue: Arc<Queue>,
    has_traces: bool,
}

type Collect = Box<dyn Fn() -> Vec<Metric> + Send>;
type Tell = Box<dyn Fn(News) + Send>;

impl Exporter {
    /// Starts the thread. `collect` returns the metrics of the moment, and `tell` takes news for the operator.
    pub fn start(
        config: Config,
        resource: Resource<'_>,
        collect: impl Fn() -> Vec<Metric> + Send + 'static,
        tell: impl Fn(News) + Send + 'static,
    ) -> io::Result<Self> {
        let queue = Arc::new(Queue::new(config.batches));
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let resource = attributes(&config.resource, resource);
        let has_traces = config.has_traces();
        let sending = Sending {
            queue: Arc::clone(&queue),
            runtime,
            resource,
            traces: config.traces.map(|signal| Channel::new("spans", signal)),
            metrics: config.metrics.map(|signal| Channel::new("metrics", signal)),
            metric_interval: config.metric_interval,
            collect: Box::new(collect),
            tell: Box::new(tell),
            began: SystemTime::now(),
            lost: 0,
        };
        Builder::new().name("telemetry".into()).spawn(move || sending.run())?;
        Ok(Self { queue, has_traces })
    }

    /// Takes a span that has ended. Never waits.
    pub fn record(&self, span: Span) {
        if self.has_traces {
            self.queue.push(span);
        }
    }

    /// Sends what is left, and waits for it no longer than `limit`.
    pub fn close(&self, limit: Duration) {
        self.queue.close(limit);
    }
}

/// The attributes of the resource: those of the operator, and ours for the rest.
fn attributes(given: &[(String, String)], resource: Resource<'_>) -> Vec<(String, String)> {
    let instance = ids::id::<16>().map(|id| hex(&id)).unwrap_or_default();
    let pid = std::process::id().to_string();
    let own = [
        ("service.name", resource.service_name),
        ("service.version", resource.service_version),
        ("service.instance.id", &instance),
        ("process.pid", &pid),
        ("telemetry.sdk.name", "mcp-bash"),
        ("telemetry.sdk.language", "rust"),
        ("telemetry.sdk.version", env!("CARGO_PKG_VERSION")),
    ];
    let is_given = |name: &str| given.iter().any(|(key, _)| key == name);
    let own = own.into_iter().filter(|(name, value)| !value.is_empty() && !is_given(name));
    own.map(|(name, value)| (name.to_owned(), value.to_owned())).chain(given.iter().cloned()).collect()
}

/// The way of one kind of telemetry.
struct Channel {
    name: &'static str,
    delivery: Delivery,
    is_failing: bool,
}

impl Channel {
    fn new(name: &'static str, signal: crate::config::Signal) -> Self {
        Self { name, delivery: Delivery::new(signal), is_failing: false }
    }
}

/// What the thread works with.
struct Sending {
    queue: Arc<Queue>,
    runtime: Runtime,
    resource: Vec<(String, String)>,
    traces: Option<Channel>,
    metrics: Option<Channel>,
    metric_interval: Duration,
    collect: Collect,
    tell: Tell,
    began: SystemTime,
    /// Spans that no collector took.
    lost: u64,
}

impl Sending {
    fn run(mut self) {
        let mut metrics_due = self.metrics.is_some().then(|| Instant::now() + self.metric_interval);
        loop {
            match self.queue.wait(metrics_due) {
                Work::Spans(spans) => self.send_spans(&spans),
                Work::Metrics => {
                    self.send_metrics();
                    metrics_due = Some(Instant::now() + self.metric_interval);
                }
                Work::Last(spans) => {
                    if !spans.is_empty() {
                        self.send_spans(&spans);
                    }
                    self.send_metrics();
                    return self.queue.finish();
                }
            }
        }
    }

    fn send_spans(&mut self, spans: &[Span]) {
        let Some(mut channel) = self.traces.take() else { return };
        let json = encode::spans(&self.resource, spans);
        if !self.send(&mut channel, &json, MOST_ATTEMPTS) {
            self.lost += spans.len() as u64;
        }
        self.traces = Some(channel);
    }

    /// Tried once: the next export has all of it again.
    fn send_metrics(&mut self) {
        let Some(mut channel) = self.metrics.take() else { return };
        let mut metrics = (self.collect)();
        metrics.extend(self.losses());
        if !metrics.is_empty() {
            let json = encode::metrics(&self.resource, &metrics, self.began, SystemTime::now());
            self.send(&mut channel, &json, 1);
        }
        self.metrics = Some(channel);
    }

    /// How many spans were lost, if any.
    fn losses(&self) -> Option<Metric> {
        let causes = [("queue_full", self.queue.dropped()), ("not_exported", self.lost)];
        let causes = causes.into_iter().filter(|(_, value)| *value > 0);
        let point = |(cause, value): (&str, u64)| NumberPoint {
            attributes: vec![("error.type", cause.into())],
            value,
        };
        let points: Vec<NumberPoint> = causes.map(point).collect();
        (!points.is_empty()).then_some(Metric {
            name: "mcp_bash.telemetry.lost_spans",
            description: "Spans that no collector received.",
            unit: "{span}",
            points: Points::Counter(points),
        })
    }

    /// Sends one export, if need be several times. False if the collector did not take it.
    fn send(&self, channel: &mut Channel, json: &str, most_attempts: u32) -> bool {
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            let verdict = self.runtime.block_on(channel.delivery.send(json.to_owned()));
            let (why, after) = match verdict {
                Verdict::Taken => return self.note_success(channel),
                Verdict::TakenInPart(why) => {
                    (self.tell)(News::Rejected { signal: channel.name, why });
                    return self.note_success(channel);
                }
                Verdict::Refused(why) => (why, None),
                Verdict::Later { why, after } => (why, Some(after.unwrap_or(pause))),
            };
            if !std::mem::replace(&mut channel.is_failing, true) {
                (self.tell)(News::Fails { signal: channel.name, why });
            }
            // The last words of a server are tried once.
            let Some(after) = after.filter(|_| attempt < most_attempts && !self.queue.is_ending()) else {
                return false;
            };
            self.queue.pause(after.mul_f64(1.0 + ids::fraction() / 2.0));
            pause *= 2;
        }
        false
    }

    fn note_success(&self, channel: &mut Channel) -> bool {
        if std::mem::take(&mut channel.is_failing) {
            let lost = self.lost + self.queue.dropped();
            (self.tell)(News::Works { signal: channel.name, lost });
        }
        true
    }
}
