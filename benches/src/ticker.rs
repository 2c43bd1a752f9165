//! Ticker: does something small at regular intervals while something big runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The interval.
pub(crate) const INTERVAL: Duration = Duration::from_millis(20);

/// Calls `act` every [`INTERVAL`] until `over`. Missed intervals are skipped.
pub(crate) fn tick<E>(over: &AtomicBool, mut act: impl FnMut() -> Result<(), E>) -> Result<(), E> {
    let mut next = Instant::now() + INTERVAL;
    loop {
        thread::sleep(next.saturating_duration_since(Instant::now()));
        if over.load(Ordering::Relaxed) {
            return Ok(());
        }
        act()?;
        next = (next + INTERVAL).max(Instant::now());
    }
}
