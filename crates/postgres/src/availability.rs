//! Availability: whether the database can be reached, as far as this server has seen.

use parking_lot::Mutex;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

#[derive(Default)]
pub(crate) struct Availability {
    /// Why the last attempt to connect failed.
    problem: watch::Sender<Option<String>>,
    last_failure: Mutex<Option<Instant>>,
}

impl Availability {
    pub(crate) fn note_connected(&self) {
        self.problem.send_if_modified(|problem| problem.take().is_some());
    }

    pub(crate) fn note_failure(&self, words: String) {
        *self.last_failure.lock() = Some(Instant::now());
        self.problem.send_if_modified(|problem| {
            let is_news = problem.is_none();
            *problem = Some(words);
            is_news
        });
    }

    /// Whether a connection could not be made within that time until now.
    pub(crate) fn has_failed_within(&self, time: Duration) -> bool {
        self.last_failure.lock().is_some_and(|failed| failed.elapsed() < time)
    }

    /// The problem of the last attempt to connect, and news of it: the database is lost, or back.
    pub(crate) fn follow(&self) -> watch::Receiver<Option<String>> {
        self.problem.subscribe()
    }
}
