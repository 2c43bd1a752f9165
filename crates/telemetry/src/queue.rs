//! Queue of spans: bounded, never blocks those who record, and wakes the thread that exports.

use crate::config::Batches;
use crate::span::Span;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

pub(crate) struct Queue {
    limits: Batches,
    state: Mutex<State>,
    /// The thread that exports waits for it.
    work: Condvar,
    /// Those who wait for the end of the export wait for it.
    done: Condvar,
}

#[derive(Default)]
struct State {
    spans: VecDeque<Span>,
    /// When the oldest span that waits became the oldest.
    since: Option<Instant>,
    dropped: u64,
    is_ending: bool,
    is_done: bool,
}

/// What the thread that exports has to do.
#[derive(Debug, PartialEq)]
pub(crate) enum Work {
    Spans(Vec<Span>),
    Metrics,
    /// Everything that is left.
    Last(Vec<Span>),
}

impl Queue {
    pub(crate) fn new(limits: Batches) -> Self {
        Self { limits, state: Mutex::default(), work: Condvar::new(), done: Condvar::new() }
    }

    /// Adds a span. A full queue loses its oldest.
    pub(crate) fn push(&self, span: Span) {
        let mut state = self.state.lock();
        if state.is_ending {
            state.dropped += 1;
            return;
        }
        if state.spans.len() == self.limits.queue {
            state.spans.pop_front();
            state.dropped += 1;
        }
        state.spans.push_back(span);
        let waiting = state.spans.len();
        if waiting == 1 {
            state.since = Some(Instant::now());
        }
        drop(state);
        if waiting == 1 || waiting == self.limits.size {
            self.work.notify_one();
        }
    }

    /// How many spans were lost because the queue was full.
    pub(crate) fn dropped(&self) -> u64 {
        self.state.lock().dropped
    }

    /// Waits for a batch that is complete or old enough, until metrics are due.
    pub(crate) fn wait(&self, metrics_due: Option<Instant>) -> Work {
        let mut state = self.state.lock();
        loop {
            if state.is_ending {
                return Work::Last(state.spans.drain(..).collect());
            }
            let now = Instant::now();
            let batch_due = state.since.map(|since| since + self.limits.delay);
            if state.spans.len() >= self.limits.size || batch_due.is_some_and(|due| due <= now) {
                return Work::Spans(self.take_batch(&mut state));
            }
            if metrics_due.is_some_and(|due| due <= now) {
                return Work::Metrics;
            }
            match batch_due.into_iter().chain(metrics_due).min() {
                Some(due) => drop(self.work.wait_until(&mut state, due)),
                None => self.work.wait(&mut state),
            }
        }
    }

    fn take_batch(&self, state: &mut MutexGuard<'_, State>) -> Vec<Span> {
        let size = state.spans.len().min(self.limits.size);
        let batch = state.spans.drain(..size).collect();
        state.since = (!state.spans.is_empty()).then(Instant::now);
        batch
    }

    /// Waits before another attempt. False if the server ends.
    pub(crate) fn pause(&self, duration: Duration) -> bool {
        let until = Instant::now() + duration;
        let mut state = self.state.lock();
        while !state.is_ending && Instant::now() < until {
            self.work.wait_until(&mut state, until);
        }
        !state.is_ending
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.state.lock().is_ending
    }

    /// Takes nothing more, and waits until everything is sent, or for so long.
    pub(crate) fn close(&self, limit: Duration) {
        let until = Instant::now() + limit;
        let mut state = self.state.lock();
        state.is_ending = true;
        self.work.notify_one();
        while !state.is_done && Instant::now() < until {
            self.done.wait_until(&mut state, until);
        }
    }

    /// Nothing more will be sent.
    pub(crate) fn finish(&self) {
        self.state.lock().is_done = true;
        self.done.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::SpanKind;
    use crate::span_context::SpanContext;
    use std::time::SystemTime;

    fn span(number: usize) -> Span {
        Span {
            context: SpanContext { trace: [1; 16], span: [2; 8], is_sampled: true },
            parent: None,
            is_parent_remote: false,
            state: None,
            name: number.to_string().into(),
            kind: SpanKind::Server,
            start: SystemTime::UNIX_EPOCH,
            end: SystemTime::UNIX_EPOCH,
            attributes: Vec::new(),
            links: Vec::new(),
            error: None,
        }
    }

    fn queue(size: usize, delay: Duration) -> Queue {
        Queue::new(Batches { queue: 10, size, delay })
    }

    fn names(work: Work) -> Vec<String> {
        let (Work::Spans(spans) | Work::Last(spans)) = work else { panic!("{work:?}") };
        spans.iter().map(|span| span.name.to_string()).collect()
    }

    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn a_full_queue_loses_its_oldest_and_counts_them() {
        let queue = queue(5, LONG);
        (0..100_000).for_each(|number| queue.push(span(number)));
        assert_eq!(queue.dropped(), 99_990);
        assert_eq!(names(queue.wait(None)), ["99990", "99991", "99992", "99993", "99994"]);
        queue.close(Duration::ZERO);
        queue.push(span(0));
        assert_eq!(names(queue.wait(None)), ["99995", "99996", "99997", "99998", "99999"]);
        assert_eq!(queue.dropped(), 99_991);
    }

    #[test]
    fn batches_are_taken_by_size_or_by_time_and_metrics_when_they_are_due() {
        let by_size = queue(2, LONG);
        by_size.push(span(1));
        assert_eq!(by_size.wait(Some(Instant::now())), Work::Metrics);
        by_size.push(span(2));
        assert_eq!(names(by_size.wait(Some(Instant::now()))), ["1", "2"]);
        let by_time = queue(5, Duration::from_millis(1));
        by_time.push(span(1));
        assert_eq!(names(by_time.wait(None)), ["1"]);
    }

    #[test]
    fn a_pause_ends_with_the_server() {
        let queue = queue(5, LONG);
        assert!(queue.pause(Duration::from_millis(1)));
        std::thread::scope(|scope| {
            let pausing = scope.spawn(|| queue.pause(LONG));
            queue.close(Duration::ZERO);
            assert!(!pausing.join().unwrap());
        });
        assert!(queue.is_ending());
    }

    #[test]
    fn the_end_waits_for_what_is_left() {
        let queue = queue(5, LONG);
        queue.push(span(1));
        std::thread::scope(|scope| {
            let sending = scope.spawn(|| {
                let left = names(queue.wait(None));
                queue.finish();
                left
            });
            queue.close(LONG);
            assert_eq!(sending.join().unwrap(), ["1"]);
        });
    }
}
