//! How many connections are open, and when the last of them is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

pub(super) struct Connections {
    most: usize,
    open: AtomicUsize,
    /// The last one is gone.
    none: Notify,
}

impl Connections {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, open: AtomicUsize::new(0), none: Notify::new() })
    }

    /// One more, for as long as the value lives. None where there are too many.
    pub(super) fn enter(self: &Arc<Self>) -> Option<OpenConnection> {
        // Counted before it is looked at, so that it is taken back in any case.
        let before = self.open.fetch_add(1, Ordering::AcqRel);
        let connection = OpenConnection(Arc::clone(self));
        (before < self.most).then_some(connection)
    }

    pub(super) fn count(&self) -> usize {
        self.open.load(Ordering::Acquire)
    }

    /// Completes when there is none. For one who waits.
    pub(super) async fn all_gone(&self) {
        while self.count() > 0 {
            // One that goes between the look and the wait is kept.
            self.none.notified().await;
        }
    }
}

pub(super) struct OpenConnection(Arc<Connections>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        if self.0.open.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.none.notify_one();
        }
    }
}
