//! Redaction: takes secrets out of text, however they are written there.
//!
//! Each secret becomes a set of patterns: the value, its longer lines, its Base64 at the three shifts, its hexadecimal
//! digits. A text is scanned for them as it is, and again as it reads without line breaks and without escapes (JSON and
//! shells, URLs, XML; also within a string of JSON), as far as it has any. A pattern has 8 to 64 bytes, longer ones are cut into pieces; so a scan takes
//! time in proportion to the text, whatever it contains, and a text without a secret is neither copied nor changed.

mod escapes;
mod json;
mod patterns;
mod pieces;
mod scan;
mod spans;

pub use pieces::Pieces;

use crate::secret::Secret;
use patterns::Patterns;
use scan::find_all;
use spans::MASK;
use std::borrow::Cow;

/// A shorter part of a secret at the edge of a text is left: it says little, and occurs by chance.
const LEAST_PART: usize = 3;

pub struct Redactor {
    patterns: Patterns,
}

impl Redactor {
    pub fn new(secrets: &[Secret]) -> Self {
        Self { patterns: Patterns::new(secrets.iter().map(Secret::reveal)) }
    }

    /// The bytes without secrets. JSON stays JSON.
    pub fn redact<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let found = find_all(&self.patterns, text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        match json::redact(&self.patterns, text) {
            Some(document) => match find_all(&self.patterns, &document) {
                rest if rest.is_empty() => Cow::Owned(document),
                // The secret reaches over several strings. It must not stay, whatever becomes of the document.
                rest => Cow::Owned(spans::masked(&document, rest)),
            },
            None => Cow::Owned(spans::masked(text, found)),
        }
    }

    /// The text without secrets.
    pub fn redact_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.redact(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(
                String::from_utf8(bytes)
                    .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
            ),
        }
    }

    /// The same for text whose beginning was cut off, maybe inside a secret.
    pub fn redact_tail<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let is_rest = |pattern: &[u8], length: usize| text.starts_with(&pattern[pattern.len() - length..]);
        let rest = self.longest_part(is_rest);
        if rest == 0 {
            return self.redact(text);
        }
        Cow::Owned([MASK, &self.redact(&text[rest..])].concat())
    }

    /// The same for text whose end was cut off.
    pub fn redact_head<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let is_beginning = |pattern: &[u8], length: usize| text.ends_with(&pattern[..length]);
        let beginning = self.longest_part(is_beginning);
        if beginning == 0 {
            return self.redact(text);
        }
        Cow::Owned([&self.redact(&text[..text.len() - beginning]), MASK].concat())
    }

    /// The length of the longest part of a pattern for which this is true; 0 if there is none.
    fn longest_part(&self, is_there: impl Fn(&[u8], usize) -> bool) -> usize {
        let of_pattern = |pattern: &[u8]| {
            (LEAST_PART..pattern.len()).rev().find(|length| is_there(pattern, *length)).unwrap_or_default()
        };
        self.patterns.all().map(of_pattern).max().unwrap_or_default()
    }
}
