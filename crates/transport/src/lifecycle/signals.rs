//! Signals that ask the server to shut down.

use super::{Ending, Lifecycle};
use std::io;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};

/// Ends the server on the signals that ask for it. To be called within the runtime.
pub(crate) fn await_signals(lifecycle: &Arc<Lifecycle>) -> io::Result<()> {
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        let mut signals = signal(kind)?;
        let lifecycle = Arc::clone(lifecycle);
        tokio::spawn(async move {
            if signals.recv().await.is_some() {
                lifecycle.end(Ending::Signal(kind.as_raw_value()));
            }
        });
    }
    Ok(())
}
