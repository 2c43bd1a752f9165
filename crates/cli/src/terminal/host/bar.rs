//! Progress bar on a terminal: one line on standard error, redrawn in place and removed at the end.

use rustix::termios::tcgetwinsize;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// The width of the bar itself, in columns.
const COLUMNS: usize = 24;

/// The shortest time between two redraws. The last state before a pause may be missed; the end clears it anyway.
const PACE: Duration = Duration::from_millis(30);

pub(crate) struct Bar {
    drawn: Option<Instant>,
}

impl Bar {
    /// `None` if standard error is not a terminal that can redraw a line.
    pub(crate) fn of_stderr() -> Option<Self> {
        let is_dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        (io::stderr().is_terminal() && !is_dumb).then_some(Self { drawn: None })
    }

    pub(crate) fn draw(&mut self, progress: f64, total: Option<f64>, message: &str) {
        if self.drawn.is_some_and(|drawn| drawn.elapsed() < PACE) {
            return;
        }
        self.drawn = Some(Instant::now());
        let columns = tcgetwinsize(io::stderr()).map_or(80, |size| usize::from(size.ws_col).max(20));
        let line: String = line(progress, total, message).chars().take(columns - 1).collect();
        let _ = write!(io::stderr(), "\r\u{1b}[K{line}").and_then(|()| io::stderr().flush());
    }

    pub(crate) fn clear(&mut self) {
        if self.drawn.take().is_some() {
            let _ = write!(io::stderr(), "\r\u{1b}[K").and_then(|()| io::stderr().flush());
        }
    }
}

fn line(progress: f64, total: Option<f64>, message: &str) -> String {
    let Some(total) = total.filter(|total| *total > 0.0) else { return format!("{progress} {message}") };
    let share = (progress / total).clamp(0.0, 1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "0 to 24"
    )]
    let full = (share * COLUMNS as f64) as usize;
    format!("[{}{}] {:3.0}% {message}", "#".repeat(full), "-".repeat(COLUMNS - full), share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_full_as_the_work_is_done() {
        assert_eq!(line(1.0, Some(2.0), "half"), "[############------------]  50% half");
        assert_eq!(line(9.0, Some(2.0), ""), "[########################] 100% ");
        assert_eq!(line(7.0, None, "files"), "7 files");
        assert_eq!(line(7.0, Some(0.0), "files"), "7 files");
    }
}
