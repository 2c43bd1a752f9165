//! Splices: pieces of a text that are replaced. Everything else stays as it is, byte for byte.

use std::ops::Range;

/// One piece of a text, and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

impl Splice {
    pub(crate) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self { range: at..at, text: text.into() }
    }

    pub(crate) fn delete(range: Range<usize>) -> Self {
        Self { range, text: String::new() }
    }

    pub(crate) fn replace(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into() }
    }
}

/// The text with all pieces replaced. They are in order and do not overlap.
pub(crate) fn spliced(text: &str, splices: &[Splice]) -> String {
    let (mut result, mut done) = (String::with_capacity(text.len()), 0);
    for splice in splices {
        result.push_str(&text[done..splice.range.start]);
        result.push_str(&splice.text);
        done = splice.range.end;
    }
    result.push_str(&text[done..]);
    result
}

/// The line end that a text uses.
pub(crate) fn line_end(text: &str) -> &'static str {
    let first = text.find('\n');
    if first.is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" }
}

/// The line and the column of a position in a text, counted from 1.
pub(crate) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

/// The start of the line of a position.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}
