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
    /// How many of its questions wait for an answer.
    open_questions: usize,
}

impl Deadline {
    pub(crate) fn from_now(patience: Patience) -> Self {
        let now = Instant::now();
        Self { patience, started: now, last_sign: now, open_questions: 0 }
    }

    /// The process has said something.
    pub(crate) fn note_sign_of_life(&mut self) {
        if self.patience.most.is_some() {
            self.last_sign = Instant::now();
        }
    }

    /// The process waits for somebody else. That time is not its own.
    pub(crate) fn pause(&mut self) {
        self.open_questions += 1;
    }

    /// An answer has come since the question was asked at `asked`.
    pub(crate) fn resume(&mut self, asked: Instant) {
        self.open_questions = self.open_questions.saturating_sub(1);
        if self.open_questions == 0 {
            let waited = asked.elapsed();
            self.started += waited;
            self.last_sign += waited;
        }
    }

    /// When it is over, unless there are further signs of life, and why.
    pub(crate) fn end(&self) -> (Instant, Overrun) {
        if self.open_questions > 0 {
            return (Instant::now() + FAR, Overrun::Fixed);
        }
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
