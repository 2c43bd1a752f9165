//! Line of `dev`: a mark for its kind, and text.

use mcp_bash_terminal::Terminal;

/// The style of a line, with colours.
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
    /// The colour of the mark, as an escape code.
    colour: &'static str,
    look: Look,
    text: String,
}

impl Line {
    /// A client's message.
    pub(crate) fn received(look: Look, text: String) -> Self {
        Self { mark: "→", colour: "33", look, text }
    }

    /// A server's message.
    pub(crate) fn sent(look: Look, text: String) -> Self {
        Self { mark: "←", colour: "36", look, text }
    }

    /// An event of the server.
    pub(crate) fn event(look: Look, text: String) -> Self {
        Self { mark: "·", colour: "2", look, text }
    }

    /// A change of the project.
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
