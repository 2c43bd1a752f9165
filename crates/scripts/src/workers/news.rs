//! Worker news: messages for the operator about workers.

use super::call_log::CallLog;
use mcp_bash_runner::Stream;
use std::path::Path;
use std::time::{Duration, Instant};

/// The output of a worker, and its changes of state. Output may be about any call that the worker serves, so it goes to the
/// files that the operator keeps for it, and not to the log.
#[derive(Debug)]
pub enum WorkerNews<'a> {
    /// It printed a line.
    Printed { script: &'a Path, stream: Stream, line: &'a str },
    /// It wrote a line that is not a frame.
    Unreadable { script: &'a Path, line: &'a str },
    /// It sent a log message: a whole `notifications/message`.
    Logged { script: &'a Path, notification: &'a str },
    /// Its log of a call that has ended; `what` names the call, as in "Tool 'x'".
    CallLogged { script: &'a Path, what: &'a str, log: &'a CallLog },
    /// It was replaced because of its bounds.
    Replaced { script: &'a Path, why: String },
    /// It exited unexpectedly, or had to be terminated.
    Failed { script: &'a Path, why: String },
    /// It failed before its first call. `trace` is for its author.
    NotStarted { script: &'a Path, why: String, trace: &'a str },
}

/// The longest line that is reported, in bytes.
const LONGEST_LINE: usize = 4096;

/// How many lines of one worker are reported in a second.
const MOST_LINES: u32 = 100;

/// Limits the reported lines of a worker to a readable number.
pub(super) struct Printing {
    since: Instant,
    told: u32,
    left_out: u64,
}

impl Printing {
    pub(super) fn new() -> Self {
        Self { since: Instant::now(), told: 0, left_out: 0 }
    }

    /// The text to report for the line. `None` if the limit is reached.
    pub(super) fn shown(&mut self, line: &[u8]) -> Option<String> {
        if self.since.elapsed() >= Duration::from_secs(1) {
            (self.since, self.told) = (Instant::now(), 0);
        }
        if self.told == MOST_LINES {
            self.left_out += 1;
            return None;
        }
        self.told += 1;
        let text = String::from_utf8_lossy(&line[..line.len().min(LONGEST_LINE)]);
        Some(match std::mem::take(&mut self.left_out) {
            0 => text.into_owned(),
            count => format!("({count} lines are left out) {text}"),
        })
    }
}
