//! Screen: shows the lines of `dev` on standard error, between the lines of a prompt, and in a log file if one is named.

use super::line::Line;
use mcp_bash_terminal::Terminal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The timeout until standard error has room for a line.
const TIMEOUT: Timespec = Timespec { tv_sec: 0, tv_nsec: 300_000_000 };

pub(crate) struct Screen {
    terminal: Terminal,
    way: Way,
    file: Option<Mutex<File>>,
}

enum Way {
    Stderr {
        /// Whether standard error is not being read, so that we no longer wait for it.
        is_stuck: AtomicBool,
    },
    Printer(Box<dyn Fn(String) + Send + Sync>),
}

impl Screen {
    pub(crate) fn stderr(file: Option<File>) -> Self {
        let way = Way::Stderr { is_stuck: AtomicBool::new(false) };
        Self { terminal: Terminal::of_stderr(), way, file: file.map(Mutex::new) }
    }

    /// A screen whose lines are printed by the owner of the terminal.
    pub(crate) fn printer(print: Box<dyn Fn(String) + Send + Sync>) -> Self {
        Self { terminal: Terminal::of_stdout(), way: Way::Printer(print), file: None }
    }

    pub(crate) fn show(&self, line: &Line) {
        let painted = format!("{}\n", mcp_bash_harmless::painted(&line.painted(self.terminal)));
        match &self.way {
            Way::Stderr { is_stuck } => to_stderr(painted.as_bytes(), is_stuck),
            Way::Printer(print) => print(painted),
        }
        if let Some(file) = &self.file {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            // A full disk must not stop the server.
            let _ = writeln!(file, "{}", line.plain());
        }
    }
}

/// The reader may have stopped reading, and must not block the server for longer than once.
fn to_stderr(line: &[u8], is_stuck: &AtomicBool) {
    let stderr = rustix::stdio::stderr();
    for piece in line.chunks(rustix::pipe::PIPE_BUF) {
        let timeout = if is_stuck.load(Ordering::Relaxed) { Timespec::default() } else { TIMEOUT };
        let mut ready = [PollFd::new(&stderr, PollFlags::OUT)];
        let has_room = poll(&mut ready, Some(&timeout)).unwrap_or(0) > 0;
        is_stuck.store(!has_room, Ordering::Relaxed);
        if !has_room || rustix::io::write(stderr, piece).is_err() {
            return;
        }
    }
}
