//! Time limit of a command for work that cannot be cancelled half-way: reading a project blocks a thread while its files
//! report their definitions.

use crate::base::exit::Exit;
use mcp_bash_terminal::complain;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Exits the process when the time is over, unless it is dropped before. The warden terminates the processes that were
/// started.
pub(crate) struct TimeLimit {
    _until_dropped: Sender<()>,
}

impl TimeLimit {
    /// `None` without a limit.
    pub(crate) fn of_reading(limit: Option<Duration>) -> Option<Self> {
        let limit = limit?;
        let (until_dropped, dropped) = channel::<()>();
        let words = format!(
            "the project could not be read within {} s: a script that says which tools it has, or server.d/env.sh, takes \
             longer; --timeout gives it more",
            limit.as_secs()
        );
        let waits = move || {
            if dropped.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                complain(&words);
                std::process::exit(Exit::TimedOut.number().into());
            }
        };
        std::thread::Builder::new().name("time limit".into()).spawn(waits).ok()?;
        Some(Self { _until_dropped: until_dropped })
    }
}
