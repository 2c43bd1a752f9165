//! Pieces: texts that are shown one after another, such as the log messages of one call. A secret may begin in one of them
//! and end in another. No text is held back for that: from the eighth byte on, each byte is taken out as it comes.

use super::Redactor;
use super::patterns::{KEY, Patterns};
use super::scan::find_all;
use super::spans::masked;
use memchr::memmem::Finder;
use std::borrow::Cow;

/// How much of the texts before is remembered: a pattern with each of its bytes as `&#x41;`.
const REMEMBERED: usize = 6 * super::patterns::LONGEST;

/// Texts that are shown one after another.
#[derive(Default)]
pub struct Pieces {
    /// The end of all texts so far, as they came.
    end: Vec<u8>,
}

impl Pieces {
    /// The next text, without secrets and without parts of secrets that began in the texts before, or that may go on in the
    /// next ones.
    pub fn next<'t>(&mut self, redactor: &Redactor, text: &'t str) -> Cow<'t, str> {
        let before = self.end.len();
        self.end.extend_from_slice(text.as_bytes());
        let mut found = find_all(&redactor.patterns, &self.end);
        let begun = begun_at_end(&redactor.patterns, &self.end);
        found.push(self.end.len() - begun..self.end.len());
        let in_text = found.into_iter().filter(|span| span.end > before && !span.is_empty());
        let in_text = in_text.map(|span| span.start.saturating_sub(before)..span.end - before);
        let in_text: Vec<_> = in_text.collect();
        let forgotten = self.end.len().saturating_sub(REMEMBERED);
        self.end.drain(..forgotten);
        if in_text.is_empty() {
            return Cow::Borrowed(text);
        }
        let shown = masked(text.as_bytes(), in_text);
        Cow::Owned(String::from_utf8_lossy(&shown).into_owned())
    }
}

/// The length of the longest beginning of a pattern that the text ends with, if it is at least as long as a key; else 0.
fn begun_at_end(patterns: &Patterns, text: &[u8]) -> usize {
    let Some(last) = text.len().checked_sub(KEY) else { return 0 };
    let last = Finder::new(&text[last..]);
    let of_pattern = |pattern: &[u8]| {
        let ends = last.find_iter(pattern).map(|at| at + KEY);
        ends.filter(|end| text.ends_with(&pattern[..*end])).max().unwrap_or_default()
    };
    patterns.all().map(of_pattern).max().unwrap_or_default()
}
