//! The time that a person gives a command for what cannot be given up half-way: a project whose scripts are asked which tools
//! they have is read on a thread that waits for them.

use crate::base::exit::Exit;
use crate::terminal::complain;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Ends the process when the time is over, unless it is dropped before. The warden ends the processes that were started.
pub(crate) struct TimeLimit {
    _until_dropped: Sender<()>,
}

impl TimeLimit {
    /// Nothing where there is no limit.
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
