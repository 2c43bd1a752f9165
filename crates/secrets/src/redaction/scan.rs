//! Scan: where patterns occur in a text.

use super::escapes::{Notation, Unit};
use super::patterns::{KEY, LONGEST, Patterns};
use super::spans::Span;

/// Where secrets are, in any notation. In no order.
pub(super) fn find_all(patterns: &Patterns, text: &[u8]) -> Vec<Span> {
    let mut found = Vec::new();
    find_as_written(patterns, text, &mut found);
    // A script writes the notation, and the string of a document that it is put into adds backslashes.
    let has_backslashes = memchr::memchr(b'\\', text).is_some();
    for notation in [Notation::Backslash, Notation::Percent, Notation::Entity] {
        if notation.occurs_in(text) {
            find_as_read(patterns, |rest| notation.unit(rest), text, &mut found);
        }
        if has_backslashes {
            find_as_read(patterns, |rest| notation.unit_within_backslashes(rest), text, &mut found);
        }
    }
    found
}

/// Where patterns occur byte for byte.
pub(super) fn find_as_written(patterns: &Patterns, text: &[u8], found: &mut Vec<Span>) {
    let mut key = 0;
    for (at, byte) in text.iter().enumerate() {
        key = key << 8 | u64::from(*byte);
        if at + 1 < KEY {
            continue;
        }
        for (_, pattern) in patterns.ending_with(key) {
            if text[..=at].ends_with(pattern) {
                found.push(at + 1 - pattern.len()..at + 1);
            }
        }
    }
}

/// Where patterns occur in what the text says in a notation, without line breaks.
fn find_as_read(patterns: &Patterns, unit_of: impl Fn(&[u8]) -> Unit, text: &[u8], found: &mut Vec<Span>) {
    let mut window = Window::default();
    let mut at = 0;
    while at < text.len() {
        let unit = unit_of(&text[at..]);
        let end = at + unit.length;
        for byte in unit.bytes().iter().filter(|byte| !matches!(byte, b'\r' | b'\n')) {
            window.push(*byte, at);
            if window.count < KEY {
                continue;
            }
            for (_, pattern) in patterns.ending_with(window.key) {
                if let Some(start) = window.start_of(pattern) {
                    found.push(start..end);
                }
            }
        }
        at = end;
    }
}

/// The last bytes that were read, and where each begins in the text.
struct Window {
    bytes: [u8; LONGEST],
    places: [usize; LONGEST],
    /// How many bytes were read in all.
    count: usize,
    /// The last eight.
    key: u64,
}

impl Default for Window {
    fn default() -> Self {
        Self { bytes: [0; LONGEST], places: [0; LONGEST], count: 0, key: 0 }
    }
}

impl Window {
    fn push(&mut self, byte: u8, place: usize) {
        let at = self.count % LONGEST;
        (self.bytes[at], self.places[at]) = (byte, place);
        self.key = self.key << 8 | u64::from(byte);
        self.count += 1;
    }

    /// Where the pattern begins in the text, if the last bytes are it.
    fn start_of(&self, pattern: &[u8]) -> Option<usize> {
        let first = self.count.checked_sub(pattern.len())?;
        let is_same = |(offset, byte): (usize, &u8)| self.bytes[(first + offset) % LONGEST] == *byte;
        pattern.iter().enumerate().all(is_same).then(|| self.places[first % LONGEST])
    }
}
