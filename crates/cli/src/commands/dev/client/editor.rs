//! Line editor: the text, the cursor, the history. It knows no terminal.
//!
//! Not `rustyline` or `reedline`: each brings a terminal layer and Unicode tables of its own into the binary, for the six
//! hundred lines of editor, keys, prompt and history here.

use super::keys::Key;

/// How many lines are remembered.
pub(super) const MOST_REMEMBERED: usize = 1000;

#[derive(Default)]
pub(super) struct Editor {
    line: Vec<char>,
    cursor: usize,
    history: Vec<String>,
    /// The position in the history, and the text that was typed before the user went there.
    looking_at: Option<(usize, String)>,
}

/// The effect of a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Done {
    /// The line may look different.
    Edited,
    /// The user wants completions.
    Complete,
    Clear,
    /// The line is finished.
    Line(String),
    /// The line is discarded.
    Dropped,
    /// The input has ended.
    End,
}

impl Editor {
    pub(super) fn with_history(history: Vec<String>) -> Self {
        Self { history, ..Self::default() }
    }

    /// The text before the cursor.
    pub(super) fn before(&self) -> String {
        self.line[..self.cursor].iter().collect()
    }

    pub(super) fn line(&self) -> &[char] {
        &self.line
    }

    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(super) fn insert(&mut self, text: &str) {
        for character in text.chars() {
            self.line.insert(self.cursor, character);
            self.cursor += 1;
        }
    }

    /// Replaces the last `count` characters before the cursor with `text`.
    pub(super) fn replace_before(&mut self, count: usize, text: &str) {
        let start = self.cursor.saturating_sub(count);
        self.line.drain(start..self.cursor);
        self.cursor = start;
        self.insert(text);
    }

    pub(super) fn press(&mut self, key: Key) -> Done {
        match key {
            Key::Char(character) => self.insert(character.encode_utf8(&mut [0; 4])),
            Key::Tab => return Done::Complete,
            Key::Clear => return Done::Clear,
            Key::Enter => return self.finish(),
            Key::Interrupt => {
                self.set("");
                self.looking_at = None;
                return Done::Dropped;
            }
            Key::EndOfInput if self.line.is_empty() => return Done::End,
            Key::EndOfInput | Key::Delete => {
                if self.cursor < self.line.len() {
                    self.line.remove(self.cursor);
                }
            }
            Key::Backspace => {
                if self.cursor > 0 {
                    self.cursor -= 1;
                    self.line.remove(self.cursor);
                }
            }
            Key::Left => self.cursor = self.cursor.saturating_sub(1),
            Key::Right => self.cursor = (self.cursor + 1).min(self.line.len()),
            Key::Home => self.cursor = 0,
            Key::End => self.cursor = self.line.len(),
            Key::EraseBefore => self.replace_before(self.cursor, ""),
            Key::EraseAfter => self.line.truncate(self.cursor),
            Key::EraseWord => self.erase_word(),
            Key::Up => self.look_back(),
            Key::Down => self.look_forward(),
            Key::Unknown => {}
        }
        Done::Edited
    }

    fn finish(&mut self) -> Done {
        let line: String = self.line.iter().collect();
        self.set("");
        self.looking_at = None;
        // As in a shell, a line that begins with a space is not remembered.
        if !line.trim().is_empty() && !line.starts_with(' ') && self.history.last() != Some(&line) {
            self.history.push(line.clone());
            let surplus = self.history.len().saturating_sub(MOST_REMEMBERED);
            self.history.drain(..surplus);
        }
        Done::Line(line)
    }

    fn erase_word(&mut self) {
        let before = &self.line[..self.cursor];
        let spaces = before.iter().rev().take_while(|c| **c == ' ').count();
        let letters = before.iter().rev().skip(spaces).take_while(|c| **c != ' ').count();
        self.replace_before(spaces + letters, "");
    }

    fn look_back(&mut self) {
        let (at, typed) = match self.looking_at.take() {
            Some((at, typed)) => (at, typed),
            None => (self.history.len(), self.line.iter().collect()),
        };
        let at = at.saturating_sub(1);
        if let Some(line) = self.history.get(at).cloned() {
            self.set(&line);
            self.looking_at = Some((at, typed));
        }
    }

    fn look_forward(&mut self) {
        let Some((at, typed)) = self.looking_at.take() else { return };
        match self.history.get(at + 1).cloned() {
            Some(line) => {
                self.set(&line);
                self.looking_at = Some((at + 1, typed));
            }
            None => self.set(&typed),
        }
    }

    fn set(&mut self, line: &str) {
        self.line = line.chars().collect();
        self.cursor = self.line.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(editor: &mut Editor, text: &str) {
        for character in text.chars() {
            assert_eq!(editor.press(Key::Char(character)), Done::Edited);
        }
    }

    fn text(editor: &Editor) -> String {
        editor.line().iter().collect()
    }

    #[test]
    fn a_line_is_edited_in_the_middle() {
        let mut editor = Editor::default();
        typed(&mut editor, "hello wörld");
        for key in [Key::Home, Key::Delete, Key::Char('J'), Key::End, Key::EraseWord, Key::Char('!')] {
            editor.press(key);
        }
        assert_eq!((text(&editor), editor.cursor()), ("Jello !".to_owned(), 7));
        editor.press(Key::Left);
        editor.press(Key::EraseBefore);
        assert_eq!(text(&editor), "!");
        editor.press(Key::EraseAfter);
        for key in [Key::Backspace, Key::Left, Key::Right, Key::Delete, Key::Unknown, Key::EraseWord] {
            editor.press(key);
        }
        assert_eq!((text(&editor), editor.press(Key::EndOfInput)), (String::new(), Done::End));
    }

    #[test]
    fn what_was_typed_is_found_again_and_what_is_being_typed_is_kept() {
        let mut editor = Editor::with_history(vec!["one".into(), "two".into()]);
        typed(&mut editor, "thr");
        editor.press(Key::Up);
        editor.press(Key::Up);
        editor.press(Key::Up);
        assert_eq!(text(&editor), "one");
        editor.press(Key::Down);
        editor.press(Key::Down);
        assert_eq!(text(&editor), "thr");
        typed(&mut editor, "ee");
        assert_eq!(editor.press(Key::Enter), Done::Line("three".into()));
        typed(&mut editor, " secret");
        editor.press(Key::Enter);
        editor.press(Key::Up);
        assert_eq!(text(&editor), "three", "what begins with a space is not remembered");
        assert_eq!((editor.press(Key::Interrupt), text(&editor)), (Done::Dropped, String::new()));
    }
}
