//! Search path of scripts. A server may learn it after its start, from a login shell.

use std::ffi::OsString;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

/// How long a call waits for the search path. A login shell may take as long.
const LONGEST_SEARCH: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(crate) struct SearchPath {
    path: OnceLock<OsString>,
    is_known: Notify,
    /// Whether it is about to be known.
    is_awaited: AtomicBool,
}

impl SearchPath {
    /// Sets the search path of scripts. Only the first call counts.
    pub(crate) fn set(&self, path: OsString) {
        let _ = self.path.set(path);
        self.is_known.notify_waiters();
    }

    /// Makes calls that do not find a program wait for the search path, which will be known soon.
    pub(crate) fn expect(&self) {
        self.is_awaited.store(true, Ordering::Release);
    }

    pub(crate) fn get(&self) -> Option<&OsString> {
        self.path.get()
    }

    /// Waits until it is known, with a timeout: it may never be.
    pub(crate) async fn wait(&self) {
        let known = self.is_known.notified();
        if self.get().is_none() && self.is_awaited.load(Ordering::Acquire) {
            let _ = tokio::time::timeout(LONGEST_SEARCH, known).await;
        }
    }
}
