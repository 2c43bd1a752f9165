//! Waits for a sign. No test sleeps and hopes that something has happened meanwhile.

use std::time::{Duration, Instant};

/// The timeout of a test. It only keeps a broken server from blocking the tests for ever, so it is longer
/// than any machine needs; endless scripts last longer still.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(300);

/// Polls until `look` finds something.
pub(crate) fn wait_until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    wait_at_most(TIMEOUT, look).unwrap_or_else(|| panic!("waited in vain for {what}"))
}

/// The same for a test that goes on if nothing is found.
pub(crate) fn wait_at_most<T>(time: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + time;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() >= deadline {
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
