//! Progress counter of a run, on a terminal.

use mcp_bash_terminal::Terminal;
use std::cell::Cell;
use std::io::{self, Write};

/// A line at the bottom of the terminal that is overwritten as cases end.
#[derive(Debug)]
pub(crate) struct Counter {
    done: Cell<usize>,
    all: usize,
    is_shown: bool,
}

impl Counter {
    /// Shown only if both our output and this line are on a terminal that can overwrite it.
    pub(crate) fn new(all: usize) -> Self {
        let is_dumb = std::env::var_os("TERM").is_none_or(|value| value == "dumb");
        let is_shown = !is_dumb && Terminal::of_stdout().is_one() && Terminal::of_stderr().is_one();
        Self { done: Cell::new(0), all, is_shown }
    }

    pub(crate) fn add_one(&self) {
        self.done.set(self.done.get() + 1);
        self.write(&format!("\r{}/{} ", self.done.get(), self.all));
    }

    pub(crate) fn clear(&self) {
        self.write("\r\u{1b}[K");
    }

    fn write(&self, text: &str) {
        if self.is_shown {
            // If it cannot be written, nothing is lost.
            let _ = io::stderr().write_all(text.as_bytes());
        }
    }
}
