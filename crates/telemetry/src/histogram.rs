//! Histogram of durations, counted without a lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper ends of the buckets in seconds, as OpenTelemetry has them for MCP.
pub const BOUNDS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

#[derive(Default)]
pub struct Histogram {
    /// One for each bound, and one for what took longer.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    /// In nanoseconds.
    sum: AtomicU64,
}

impl Histogram {
    pub fn observe(&self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        let bucket = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.sum.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// How many are in each bucket; the last one has those that took longer than every bound.
    pub(crate) fn counts(&self) -> [u64; BOUNDS.len() + 1] {
        self.buckets.each_ref().map(|bucket| bucket.load(Ordering::Relaxed))
    }

    /// How many took no longer than each bound, and how many there are in all.
    pub fn cumulative(&self) -> [u64; BOUNDS.len() + 1] {
        let mut total = 0;
        self.counts().map(|count| {
            total += count;
            total
        })
    }

    /// All durations together.
    pub fn sum(&self) -> Duration {
        Duration::from_nanos(self.sum.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_equal_to_a_bound_is_within_it() {
        let histogram = Histogram::default();
        for milliseconds in [0, 10, 11, 300_000, 300_001, 10_000_000] {
            histogram.observe(Duration::from_millis(milliseconds));
        }
        let cumulative = histogram.cumulative();
        assert_eq!((cumulative[0], cumulative[1], cumulative[12]), (2, 3, 3));
        assert_eq!((cumulative[13], cumulative[14]), (4, 6));
        assert_eq!(histogram.sum(), Duration::from_millis(10_600_022));
    }
}
