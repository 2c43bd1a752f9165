//! When a process has had its time.

use crate::{Overrun, Patience};
use std::time::Duration;
use tokio::time::Instant;

/// Further than any deadline.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// The time of one process, which signs of life may extend.
#[derive(Debug)]
pub(crate) struct Deadline {
    patience: Patience,
    started: Instant,
    last_sign: Instant,
}

impl Deadline {
    pub(crate) fn from_now(patience: Patience) -> Self {
        let now = Instant::now();
        Self { patience, started: now, last_sign: now }
    }

    /// The process has said something.
    pub(crate) fn note_sign_of_life(&mut self) {
        if self.patience.most.is_some() {
            self.last_sign = Instant::now();
        }
    }

    /// When it is over, unless there are further signs of life, and why.
    pub(crate) fn end(&self) -> (Instant, Overrun) {
        let silent = self.last_sign + self.patience.limit.min(FAR);
        match self.patience.most {
            None => (silent, Overrun::Fixed),
            Some(most) => {
                let latest = self.started + most.min(FAR);
                if latest <= silent { (latest, Overrun::Most) } else { (silent, Overrun::Idle) }
            }
        }
    }
}
