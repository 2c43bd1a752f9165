//! Terminal output: whether it is coloured, and how wide it is.

mod asking;
pub mod words;

pub use asking::{can_ask, confirm};

use mcp_bash_harmless as harmless;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

/// Standard output or standard error, as far as it is a terminal.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    coloured: bool,
    /// The width of a line in columns; `None` without a limit.
    width: Option<usize>,
}

/// The reader of standard output has closed it.
#[derive(Debug, thiserror::Error)]
#[error("nobody reads any more")]
struct NobodyReads;

/// Lines get no shorter than this, however narrow a terminal is.
const NARROWEST: usize = 20;

impl Terminal {
    pub fn of_stdout() -> Self {
        Self::of(&io::stdout())
    }

    pub fn of_stderr() -> Self {
        Self::of(&io::stderr())
    }

    fn of(stream: &(impl AsFd + IsTerminal)) -> Self {
        if !stream.is_terminal() {
            return Self { coloured: false, width: None };
        }
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        let columns = rustix::termios::tcgetwinsize(stream).map_or(0, |size| usize::from(size.ws_col));
        Self {
            coloured: !is_set("NO_COLOR") && !is_dumb,
            width: Some(if columns == 0 { 80 } else { columns.max(NARROWEST) }),
        }
    }

    /// A terminal without a width, with or without colours, for tests of reports.
    pub fn coloured(coloured: bool) -> Self {
        Self { coloured, width: None }
    }

    /// Whether it is a terminal.
    pub fn is_one(self) -> bool {
        self.width.is_some()
    }

    /// The text in a colour, given as an escape code.
    pub fn painted(self, colour: &str, text: &str) -> String {
        if self.coloured { format!("\u{1b}[{colour}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// The text in lines that fit, with `indent` columns less than the terminal.
    pub fn lines(self, text: &str, indent: usize) -> Vec<String> {
        match self.width {
            Some(width) => wrapped(text, width.saturating_sub(indent).max(NARROWEST / 2)),
            None => vec![text.to_owned()],
        }
    }
}

/// A foreign text without terminal control characters. Line breaks and tabs stay.
pub fn harmless(text: &str) -> String {
    harmless::text(text).into_owned()
}

/// The same, with visible carriage returns of Windows line ends.
pub fn harmless_lines(text: &str) -> String {
    harmless::exact_lines(text).into_owned()
}

/// The same on one line, with one space for any space between two words.
pub fn harmless_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    harmless::line(&words.join(" ")).into_owned()
}

/// The same on one line, with visible line breaks and tabs.
pub fn visible(text: &str) -> String {
    harmless::line(text).into_owned()
}

/// Prints to standard error. The text may quote foreign text. A closed standard error is not a failure.
pub fn tell(text: &str) {
    // In one piece: the log writes to the same descriptor.
    let _ = io::stderr().write_all(format!("{}\n", harmless(text)).as_bytes());
}

/// Reports an error.
pub fn complain(problem: &str) {
    tell(&format!("mcp-bash: {problem}"));
}

/// Writes a text at once: on a terminal with only line breaks, tabs and our own colours in it, and unchanged if a program
/// may read it. A closed pipe is an error of its own ([`nobody_reads`]).
pub fn say(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout();
    let text = if stdout.is_terminal() { harmless::painted(text) } else { text.into() };
    let said = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    said.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => io::Error::new(io::ErrorKind::BrokenPipe, NobodyReads),
        kind => io::Error::new(kind, format!("failed to write to standard output: {error}")),
    })
}

/// Prints a text. A reader who has closed standard output has seen enough: that is not a failure.
pub fn print_text(text: &str) -> io::Result<()> {
    match say(text) {
        Err(error) if !nobody_reads(&error) => Err(error),
        _ => Ok(()),
    }
}

/// A foreign text, safe for standard output: a terminal would interpret its control characters.
pub fn for_stdout(text: String) -> String {
    if io::stdout().is_terminal() { harmless(&text) } else { text }
}

/// Whether an error means that the reader has closed the pipe that [`say`] writes to.
pub fn nobody_reads(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<NobodyReads>)
}

/// Splits a text into lines of at most `width` characters: between words, and inside words that are longer than a line.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut line, mut used) = (Vec::new(), String::new(), 0);
    for word in text.split_inclusive(' ') {
        let length = word.trim_end().chars().count();
        if used > 0 && used + length > width && length <= width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        for character in word.chars() {
            if used == width {
                lines.push(std::mem::take(&mut line));
                used = 0;
                if character == ' ' {
                    continue;
                }
            }
            line.push(character);
            used += 1;
        }
    }
    lines.push(line);
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_seen() {
        assert_eq!(harmless("a\x1b[31mb\r\nc\td\u{9b}\u{202e}"), "a\\u{1b}[31mb\nc\td\\u{9b}\\u{202e}");
        assert_eq!(harmless_line(" a\n\tb\x07c"), "a b\\u{7}c");
        assert_eq!(harmless_lines("a\r\nb\u{2066}"), "a\\r\nb\\u{2066}");
        assert_eq!(visible("a\n\tb\u{202e}c"), r"a\n\tb\u{202e}c");
    }

    #[test]
    fn lines_are_cut_between_words_and_inside_of_long_ones() {
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghijkl", 5), ["abcde", "fghij", "kl"]);
        assert_eq!(wrapped("a bcdefghijk l", 5), ["a bcd", "efghi", "jk l"]);
        assert_eq!(wrapped("éééééé", 3), ["ééé", "ééé"]);
    }
}
