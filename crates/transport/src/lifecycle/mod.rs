//! Lifecycle: why a server shuts down, whatever the transport: signals, a dead parent, idleness. The first reason counts,
//! and the transport is notified. Nothing here exits the process.

mod ending;
mod signals;
mod watch;

pub use ending::Ending;
pub(crate) use signals::await_signals;
pub(crate) use watch::{Activity, Watch, Watcher};

use std::sync::OnceLock;
use tokio::sync::Notify;

/// The end of one server, which is decided once.
#[derive(Default)]
pub(crate) struct Lifecycle {
    ending: OnceLock<Ending>,
    decided: Notify,
}

impl Lifecycle {
    /// There is a reason to end. An earlier one counts more.
    pub(crate) fn end(&self, ending: Ending) {
        if self.ending.set(ending).is_ok() {
            self.decided.notify_one();
        }
    }

    /// Completes when there is a reason to end. For one who serves.
    pub(crate) async fn ended(&self) -> Ending {
        loop {
            if let Some(ending) = self.ending.get() {
                return *ending;
            }
            // One that comes between the look and the wait is kept.
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
