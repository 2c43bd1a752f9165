//! One line of what `dev` shows: a mark that says what it is about, and words.

use crate::terminal::Terminal;

/// How a line looks where there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Plain,
    Faint,
    Good,
    Notable,
    Bad,
}

pub(crate) struct Line {
    mark: &'static str,
    /// The colour of the mark, as terminals know it.
    colour: &'static str,
    look: Look,
    text: String,
}

impl Line {
    /// What a client sent.
    pub(crate) fn received(look: Look, text: String) -> Self {
        Self { mark: "→", colour: "33", look, text }
    }

    /// What the server sends.
    pub(crate) fn sent(look: Look, text: String) -> Self {
        Self { mark: "←", colour: "36", look, text }
    }

    /// What the server says of itself.
    pub(crate) fn event(look: Look, text: String) -> Self {
        Self { mark: "·", colour: "2", look, text }
    }

    /// What became of the project.
    pub(crate) fn reload(text: String) -> Self {
        Self { mark: "↻", colour: "35", look: Look::Notable, text }
    }

    pub(crate) fn painted(&self, terminal: Terminal) -> String {
        let text = match self.look {
            Look::Plain => self.text.clone(),
            Look::Faint => terminal.painted("2", &self.text),
            Look::Good => terminal.painted("32", &self.text),
            Look::Notable => terminal.painted("33", &self.text),
            Look::Bad => terminal.painted("31", &self.text),
        };
        format!("{} {text}", terminal.painted(self.colour, self.mark))
    }

    pub(crate) fn plain(&self) -> String {
        format!("{} {}", self.mark, self.text)
    }
}
