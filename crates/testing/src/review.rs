//! Snapshot review: asks the user whether a change is intended, and records it.

use crate::diff::diff;
use crate::error::TestError;
use crate::report::diff_line;
use mcp_bash_terminal::{Terminal, can_ask, say};
use std::fmt::Write;
use std::io::{self, BufRead};

/// The user's decision about the last change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    /// Each change is shown and asked about.
    Ask,
    /// All further changes are recorded.
    All,
    /// No further change is recorded.
    None,
}

/// A review of changes, one after another.
#[derive(Debug)]
pub(crate) struct Review {
    decision: Decision,
    terminal: Terminal,
}

impl Review {
    /// With `yes`, everything is recorded without a question. Otherwise there must be a user to ask.
    pub(crate) fn new(yes: bool) -> Result<Self, TestError> {
        if !yes && !can_ask() {
            return Err(TestError::NobodyToAsk);
        }
        let decision = if yes { Decision::All } else { Decision::Ask };
        Ok(Self { decision, terminal: Terminal::of_stdout() })
    }

    /// Whether to record a change.
    pub(crate) fn accepts(&mut self, title: &str, before: &str, after: &str) -> Result<bool, TestError> {
        match self.decision {
            Decision::All => return Ok(true),
            Decision::None => return Ok(false),
            Decision::Ask => {}
        }
        let mut shown = format!("\n{}\n", self.terminal.painted("1", title));
        for line in diff(before, after) {
            let _ = writeln!(shown, "  {}", diff_line(&line, self.terminal));
        }
        say(&shown).map_err(TestError::Print)?;
        loop {
            say("Record this? [y]es, [n]o, [a]ll, [q]uit: ").map_err(TestError::Print)?;
            let mut answer = String::new();
            let read = io::stdin().lock().read_line(&mut answer).unwrap_or(0);
            match answer.trim() {
                _ if read == 0 => self.decision = Decision::None,
                "y" | "yes" => return Ok(true),
                "n" | "no" => return Ok(false),
                "a" | "all" => self.decision = Decision::All,
                "q" | "quit" => self.decision = Decision::None,
                _ => continue,
            }
            return Ok(self.decision == Decision::All);
        }
    }
}
