//! Lifecycle: why a server shuts down, whatever the transport: signals, a dead parent, idleness. The first reason counts, and
//! the transport is notified. Nothing here exits the process.

mod ending;
mod signals;
mod watch;

pub use ending::Ending;
pub(crate) use signals::await_signals;
pub(crate) use watch::{Activity, Watch, Watcher};

use std::sync::OnceLock;
use tokio::sync::Notify;

/// The shutdown of one server, which is decided once.
#[derive(Default)]
pub(crate) struct Lifecycle {
    ending: OnceLock<Ending>,
    decided: Notify,
}

impl Lifecycle {
    /// Requests shutdown. Only the first reason counts.
    pub(crate) fn end(&self, ending: Ending) {
        if self.ending.set(ending).is_ok() {
            self.decided.notify_one();
        }
    }

    /// Completes when shutdown is requested. Supports one waiting task.
    pub(crate) async fn ended(&self) -> Ending {
        loop {
            if let Some(ending) = self.ending.get() {
                return *ending;
            }
            // `Notify` stores a notification that arrives between the check and the wait.
            self.decided.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_reason_counts_whenever_it_comes() {
        let lifecycle = Lifecycle::default();
        let (ending, ()) = tokio::join!(lifecycle.ended(), async {
            lifecycle.end(Ending::Idle);
            lifecycle.end(Ending::Signal(15));
        });
        assert_eq!(ending, Ending::Idle);
        assert_eq!(lifecycle.ended().await, Ending::Idle);
    }
}
