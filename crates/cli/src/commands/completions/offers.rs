//! Offers: what the shell shows to the user who is typing.

use mcp_bash_terminal::{harmless_line, visible};
use std::fmt;

/// Words that could be at the cursor, and whether files could.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Offers {
    pub(super) words: Vec<Offer>,
    pub(super) files: Files,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offer {
    pub(super) word: String,
    pub(super) help: String,
}

/// Whether the shell offers files as well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Files {
    #[default]
    None,
    All,
    Folders,
}

impl Offers {
    pub(super) fn files(files: Files) -> Self {
        Self { words: Vec::new(), files }
    }

    pub(super) fn push(&mut self, word: impl Into<String>, help: impl Into<String>) {
        self.words.push(Offer { word: word.into(), help: help.into() });
    }

    /// Only those that begin with the typed text, each once.
    pub(super) fn beginning_with(mut self, typed: &str) -> Self {
        self.words.retain(|offer| offer.word.starts_with(typed));
        self.words.sort_by(|one, other| one.word.cmp(&other.word));
        self.words.dedup_by(|one, other| one.word == other.word);
        self
    }

    /// The same for a shell whose current word begins after the last of these characters.
    pub(super) fn cut_at(mut self, current: &str, breaks: &str) -> Self {
        let cut = current
            .rfind(|letter| matches!(letter, '=' | ':') && breaks.contains(letter))
            .map_or(0, |at| at + 1);
        for offer in &mut self.words {
            offer.word.drain(..cut.min(offer.word.len()));
        }
        self
    }
}

/// The first line says whether there are files; then a line for each word, with its help after a tab.
impl fmt::Display for Offers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = match self.files {
            Files::None => "words",
            Files::All => "files",
            Files::Folders => "folders",
        };
        writeln!(formatter, "{files}")?;
        for Offer { word, help } in &self.words {
            // A word that would not be one word in the answer is of no use, nor one that is not shown literally.
            if visible(word) != *word {
                continue;
            }
            let help: String = harmless_line(help).chars().take(80).collect();
            writeln!(formatter, "{word}\t{help}")?;
        }
        Ok(())
    }
}
