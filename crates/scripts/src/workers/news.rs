//! What the operator hears of workers.

use super::call_log::CallLog;
use mcp_bash_runner::Stream;
use std::path::Path;
use std::time::{Duration, Instant};

/// What a worker says, and what becomes of it. What it says may be of any call that it serves: it is for files that the
/// operator keeps for that, and not for the log.
#[derive(Debug)]
pub enum WorkerNews<'a> {
    /// It printed a line.
    Printed { script: &'a Path, stream: Stream, line: &'a str },
    /// It wrote a line in the place of a frame that is none.
    Unreadable { script: &'a Path, line: &'a str },
    /// It logs something: a whole `notifications/message`.
    Logged { script: &'a Path, notification: &'a str },
    /// What it logged in a call that has ended; what was called, as in "Tool 'x'".
    CallLogged { script: &'a Path, what: &'a str, log: &'a CallLog },
    /// It was replaced, as its bounds say.
    Replaced { script: &'a Path, why: String },
    /// It has ended by itself, or had to be ended.
    Failed { script: &'a Path, why: String },
    /// It has come to nothing before it was given any call: what it said of that is its author's.
    NotStarted { script: &'a Path, why: String, trace: &'a str },
}

/// The longest line that is told, in bytes.
const LONGEST_LINE: usize = 4096;

/// How many lines of one worker are told in a second.
const MOST_LINES: u32 = 100;

/// Lets so many lines of a worker through as a person can read.
pub(super) struct Printing {
    since: Instant,
    told: u32,
    left_out: u64,
}

impl Printing {
    pub(super) fn new() -> Self {
        Self { since: Instant::now(), told: 0, left_out: 0 }
    }

    /// The line as it is told, if it is.
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
