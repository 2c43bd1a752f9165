//! Signals: those that ask the server to shut down, and `HUP`, which asks it to open its log files again unless its terminal
//! is gone.

use super::{Ending, Lifecycle};
use mcp_bash_server::Server;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};

/// Ends the server on the signals that ask for it, and opens its log files again on `HUP`. `input` is the standard input
/// of the process. To be called within the runtime.
pub(crate) fn await_signals(
    lifecycle: &Arc<Lifecycle>,
    server: &Arc<Server>,
    input: BorrowedFd<'_>,
) -> io::Result<()> {
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let mut signals = signal(kind)?;
        let lifecycle = Arc::clone(lifecycle);
        tokio::spawn(async move {
            if signals.recv().await.is_some() {
                lifecycle.end(Ending::Signal(kind.as_raw_value()));
            }
        });
    }
    let terminal = input.is_terminal().then(|| input.try_clone_to_owned()).transpose()?;
    let hangup = SignalKind::hangup();
    let mut signals = signal(hangup)?;
    let lifecycle = Arc::clone(lifecycle);
    // The server may end before it is asked.
    let server = Arc::downgrade(server);
    tokio::spawn(async move {
        while signals.recv().await.is_some() {
            if terminal.as_ref().is_some_and(|terminal| is_gone(terminal.as_fd())) {
                return lifecycle.end(Ending::Signal(hangup.as_raw_value()));
            }
            let Some(server) = server.upgrade() else { return };
            server.reopen_logs();
        }
    });
    Ok(())
}

/// Whether a terminal was closed. The kernel marks it before it sends the signal.
fn is_gone(terminal: BorrowedFd<'_>) -> bool {
    let mut polled = [PollFd::from_borrowed_fd(terminal, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&at_once)).is_err() || polled[0].revents().contains(PollFlags::HUP)
}
