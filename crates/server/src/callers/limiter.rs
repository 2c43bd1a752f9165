//! Rate limiter: a maximum number of events a minute.

use std::time::Duration;
use tokio::time::Instant;

/// Counts events in windows of a minute.
#[derive(Debug)]
pub(crate) struct Limiter {
    most: u32,
    since: Option<Instant>,
    count: u32,
}

impl Limiter {
    /// A limit of `most` events a minute; 0 means none.
    pub(crate) fn new(most: u32) -> Self {
        Self { most, since: None, count: 0 }
    }

    /// Whether a limit of several events allows one more at the end, so that the last message gets through.
    pub(crate) fn allows_last_word(&self) -> bool {
        self.most != 1
    }

    /// Whether one more event is within the limit. Counts it.
    pub(crate) fn allow(&mut self) -> bool {
        if self.most == 0 {
            return true;
        }
        let now = Instant::now();
        if self.since.is_none_or(|since| now - since >= Duration::from_secs(60)) {
            self.since = Some(now);
            self.count = 0;
        }
        self.count = self.count.saturating_add(1);
        self.count <= self.most
    }
}
