//! Signals: `TERM` and `INT` shut the server down. `HUP` reopens its log files, or shuts it down if its terminal is gone.

use super::{Ending, Lifecycle};
use mcp_bash_server::Server;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};

/// Installs the signal handlers. `input` is the standard input of the process. Must be called within the runtime.
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
    // A weak reference: the task must not keep the server alive.
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

/// Whether the terminal was closed. The kernel marks it as closed before it sends `HUP`.
fn is_gone(terminal: BorrowedFd<'_>) -> bool {
    let mut polled = [PollFd::from_borrowed_fd(terminal, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&at_once)).is_err() || polled[0].revents().contains(PollFlags::HUP)
}
