//! Measurements: durations of requests and sessions, by kind. The metrics of HTTP and of OpenTelemetry are read from them.

use super::error_type::ErrorType;
use super::meter::{EndedSession, Meter, OTHER, Operation};
use arc_swap::ArcSwap;
use mcp_bash_telemetry::Histogram;
use mcp_bash_wire::Revision;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Above this number of kinds, operations are not distinguished by the names of tools and the codes of errors.
const MOST_KINDS: usize = 1000;

#[derive(Default)]
pub struct Measurements {
    /// Replaced as a whole when a new kind is added, which is rare, so that counting never waits.
    operations: ArcSwap<Operations>,
    sessions: ArcSwap<HashMap<Revision, Arc<Histogram>>>,
    /// Held while a kind is added.
    adding: Mutex<()>,
}

/// The durations of one kind of operation.
pub struct MeasuredOperation {
    pub kind: OperationKind,
    /// The name of the tool or prompt.
    pub name: Option<Box<str>>,
    pub histogram: Arc<Histogram>,
}

impl MeasuredOperation {
    /// Whether the name is that of a prompt.
    pub fn is_of_prompt(&self) -> bool {
        self.kind.method == "prompts/get"
    }
}

/// The known kinds of operations.
#[derive(Clone, Default)]
struct Operations {
    by_kind: HashMap<OperationKind, Named>,
    count: usize,
}

/// The labels of an operation, besides the name of its tool or prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationKind {
    pub method: &'static str,
    pub error: Option<ErrorLabel>,
    pub revision: Option<Revision>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorLabel {
    Known(ErrorType),
    Other,
}

impl fmt::Display for ErrorLabel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(error) => error.fmt(formatter),
            Self::Other => formatter.write_str(OTHER),
        }
    }
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

    /// All operations, in order.
    fn all(&self) -> Vec<MeasuredOperation> {
        let mut all = Vec::with_capacity(self.count);
        for (kind, named) in &self.by_kind {
            let operation = |name: Option<&str>, histogram: &Arc<Histogram>| MeasuredOperation {
                kind: *kind,
                name: name.map(Box::from),
                histogram: Arc::clone(histogram),
            };
            all.extend(named.unnamed.iter().map(|histogram| operation(None, histogram)));
            all.extend(named.by_name.iter().map(|(name, histogram)| operation(Some(name), histogram)));
        }
        all.sort_by(|one, other| (one.kind, &one.name).cmp(&(other.kind, &other.name)));
        all
    }
}

impl Meter for Measurements {
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

impl Measurements {
    /// All kinds of operations so far, in order.
    pub fn operations(&self) -> Vec<MeasuredOperation> {
        self.operations.load().all()
    }

    /// The durations of sessions, by revision.
    pub fn sessions(&self) -> Vec<(Revision, Arc<Histogram>)> {
        let sessions = self.sessions.load();
        let of = |revision| sessions.get(&revision).map(|histogram| (revision, Arc::clone(histogram)));
        Revision::ALL.into_iter().filter_map(of).collect()
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn operation<'a>(method: &'static str, name: Option<&'a str>, error: Option<ErrorType>) -> Operation<'a> {
        let revision = Some(Revision::V2026_07_28);
        Operation { method, name, revision, duration: Duration::from_millis(30), error }
    }

    fn total(operations: &[MeasuredOperation]) -> u64 {
        operations.iter().map(|operation| operation.histogram.cumulative()[14]).sum()
    }

    #[test]
    fn kinds_are_bounded_and_nothing_goes_uncounted() {
        let measurements = Measurements::default();
        for number in 0..3 * i32::try_from(MOST_KINDS).unwrap() {
            let name = format!("tool-{number}");
            measurements.served(&operation("tools/call", Some(&name), Some(ErrorType::Code(number))));
        }
        measurements.served(&operation("tools/call", Some("tool-0"), Some(ErrorType::Code(0))));
        let operations = measurements.operations();
        assert!(operations.len() <= MOST_KINDS + 1, "{}", operations.len());
        assert_eq!(total(&operations), 3 * MOST_KINDS as u64 + 1);
        let is_folded = |operation: &MeasuredOperation| {
            operation.name.as_deref() == Some(OTHER) && operation.kind.error == Some(ErrorLabel::Other)
        };
        assert!(operations.iter().any(is_folded));
        assert!(operations.iter().any(|operation| operation.name.as_deref() == Some("tool-0")));
    }

    #[test]
    fn many_threads_count_at_once_and_lose_nothing() {
        let measurements = Measurements::default();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let measurements = &measurements;
                scope.spawn(move || {
                    for number in 0..1000 {
                        let name = format!("tool-{}", (number + thread) % 50);
                        measurements.served(&operation("tools/call", Some(&name), None));
                    }
                });
            }
        });
        let operations = measurements.operations();
        assert_eq!((operations.len(), total(&operations)), (50, 8000));
    }
}
