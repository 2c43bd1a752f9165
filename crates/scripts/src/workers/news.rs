//! Worker news: what the operator learns about workers.

use super::call_log::CallLog;
use mcp_bash_runner::Stream;
use std::path::Path;
use std::time::{Duration, Instant};

/// Output of a worker, and what happens to it. Its output may be about any call that it serves: it goes to files that the
/// operator keeps for that, and not to the log.
#[derive(Debug)]
pub enum WorkerNews<'a> {
    /// It printed a line.
    Printed { script: &'a Path, stream: Stream, line: &'a str },
    /// It wrote a line that is not a frame.
    Unreadable { script: &'a Path, line: &'a str },
    /// It logs something: a whole `notifications/message`.
    Logged { script: &'a Path, notification: &'a str },
    /// Its log of a call that has ended; `what` was called, as in "Tool 'x'".
    CallLogged { script: &'a Path, what: &'a str, log: &'a CallLog },
    /// It was replaced, as its bounds say.
    Replaced { script: &'a Path, why: String },
    /// It exited by itself, or had to be terminated.
    Failed { script: &'a Path, why: String },
    /// It failed before its first call: its own message is for its author.
    NotStarted { script: &'a Path, why: String, trace: &'a str },
}

/// The longest line that is reported, in bytes.
const LONGEST_LINE: usize = 4096;

/// How many lines of one worker are reported in a second.
const MOST_LINES: u32 = 100;

/// Limits the lines of a worker to as many as a person can read.
pub(super) struct Printing {
    since: Instant,
    told: u32,
    left_out: u64,
}

impl Printing {
    pub(super) fn new() -> Self {
        Self { since: Instant::now(), told: 0, left_out: 0 }
    }

    /// The line as it is reported, if it is.
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
