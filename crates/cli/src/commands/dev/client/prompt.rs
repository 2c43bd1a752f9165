//! Terminal prompt: reads keys, draws the line, and lets other threads print between the lines.

use super::editor::{Done, Editor};
use super::keys::{self, Key};
use super::vocabulary::Completion;
use mcp_bash_terminal::harmless_line;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const PROMPT: &str = "mcp> ";

/// The timeout between the bytes of one key.
const SOON: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// A terminal that others may write on while a line is typed.
#[derive(Clone)]
pub(super) struct Display {
    /// The line as it is drawn, while the user types.
    drawn: Arc<Mutex<Option<String>>>,
    /// The state of the terminal before us.
    before: Arc<Termios>,
}

impl Display {
    /// `None` if standard input is not a terminal.
    pub(super) fn of_stdin() -> Option<Self> {
        let before = tcgetattr(io::stdin()).ok()?;
        Some(Self { drawn: Arc::default(), before: Arc::new(before) })
    }

    /// Prints lines above the one that is typed.
    pub(super) fn print(&self, lines: &str) {
        let drawn = self.lock();
        let text = match &*drawn {
            Some(line) => format!("\r\u{1b}[K{lines}{line}"),
            None => lines.to_owned(),
        };
        write(&text);
    }

    /// Restores the terminal.
    pub(super) fn restore(&self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Drain, &self.before);
    }

    /// Takes over every key; output stays unchanged.
    fn take_keys(&self) {
        let mut own = Termios::clone(&self.before);
        own.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN);
        own.input_modes.remove(InputModes::IXON);
        own.special_codes[SpecialCodeIndex::VMIN] = 1;
        own.special_codes[SpecialCodeIndex::VTIME] = 0;
        let _ = tcsetattr(io::stdin(), OptionalActions::Drain, &own);
    }

    fn draw(&self, editor: &Editor) {
        let line = drawn_line(editor, columns());
        let mut drawn = self.lock();
        write(&format!("\r\u{1b}[K{line}"));
        *drawn = Some(line);
    }

    /// The line is finished: later output goes below it.
    fn leave(&self) {
        let mut drawn = self.lock();
        write("\n");
        *drawn = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a line ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Line(String),
    /// Ctrl-C: the line is discarded.
    Dropped,
    /// A line that is not text, or the read error.
    Unreadable(String),
    /// Ctrl-D.
    End,
}

/// Reads one line from the user.
pub(super) fn read_line(
    display: &Display,
    editor: &mut Editor,
    complete: &dyn Fn(&str) -> Completion,
) -> Typed {
    display.take_keys();
    display.draw(editor);
    let typed = loop {
        let Some(key) = keys::read(|| byte(None), || byte(Some(&SOON))) else { break Typed::End };
        match press(display, editor, key, complete) {
            Some(typed) => break typed,
            None => display.draw(editor),
        }
    };
    display.leave();
    display.restore();
    typed
}

fn press(
    display: &Display,
    editor: &mut Editor,
    key: Key,
    complete: &dyn Fn(&str) -> Completion,
) -> Option<Typed> {
    match editor.press(key) {
        Done::Edited => None,
        Done::Line(line) => Some(Typed::Line(line)),
        Done::Dropped => Some(Typed::Dropped),
        Done::End => Some(Typed::End),
        Done::Clear => {
            write("\u{1b}[H\u{1b}[2J");
            None
        }
        Done::Complete => {
            let completion = complete(&editor.before());
            let common = completion.common();
            if common.chars().count() > completion.typed {
                editor.replace_before(completion.typed, &common);
            } else if completion.words.len() > 1 {
                let words: Vec<String> = completion.words.iter().map(|word| harmless_line(word)).collect();
                display.print(&format!("{}\n", words.join("  ")));
            }
            None
        }
    }
}

/// The prompt and as much of the line as fits, and codes that position the cursor.
fn drawn_line(editor: &Editor, columns: usize) -> String {
    let room = columns.saturating_sub(PROMPT.len() + 1).max(10);
    let start = editor.cursor().saturating_sub(room - 1);
    let part: String = editor.line().iter().skip(start).take(room).collect();
    let mut line = format!("{PROMPT}{part}");
    let back = part.chars().count() - (editor.cursor() - start).min(part.chars().count());
    if back > 0 {
        let _ = write!(line, "\u{1b}[{back}D");
    }
    line
}

fn columns() -> usize {
    let columns = tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
    if columns == 0 { 80 } else { columns }
}

/// The next byte that is typed. With a limit, only if it comes before that.
fn byte(limit: Option<&Timespec>) -> Option<u8> {
    let stdin = rustix::stdio::stdin();
    loop {
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], limit) {
            Ok(0) => return None,
            Err(rustix::io::Errno::INTR) => continue,
            _ => {}
        }
        let mut byte = [0];
        match rustix::io::read(stdin, &mut byte) {
            Ok(1..) => return Some(byte[0]),
            Err(rustix::io::Errno::INTR) => {}
            _ => return None,
        }
    }
}

fn write(text: &str) {
    let mut stdout = io::stdout();
    // A terminal that is gone ends the input too.
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_shows_the_part_around_the_cursor() {
        let mut editor = Editor::default();
        editor.insert(&"x".repeat(100));
        assert_eq!(drawn_line(&editor, 25), format!("mcp> {}", "x".repeat(18)));
        editor.press(Key::Home);
        assert_eq!(drawn_line(&editor, 25), format!("mcp> {}\u{1b}[19D", "x".repeat(19)));
    }
}
