//! Rate limiter: a maximum number of events per minute.

use std::time::Duration;
use tokio::time::Instant;

/// Counts events in windows of one minute.
#[derive(Debug)]
pub(crate) struct Limiter {
    most: u32,
    since: Option<Instant>,
    count: u32,
}

impl Limiter {
    /// A limit of `most` events per minute; 0 means no limit.
    pub(crate) fn new(most: u32) -> Self {
        Self { most, since: None, count: 0 }
    }

    /// Whether one more event may follow at the end, so that the last message gets through. A limit of one forbids it.
    pub(crate) fn allows_final_event(&self) -> bool {
        self.most != 1
    }

    /// Counts an event. False if it exceeds the limit.
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
