//! JSON: takes secrets out of the strings and numbers of a document, which stays a document.

use super::MASK;
use super::escapes::Notation;
use super::patterns::Patterns;
use super::scan::{find_all, find_as_written};
use super::spans::{Span, masked};
use serde::de::IgnoredAny;

/// The document without secrets. `None` if the text is no JSON.
pub(super) fn redact(patterns: &Patterns, text: &[u8]) -> Option<Vec<u8>> {
    let is_begun = matches!(text.trim_ascii_start().first(), Some(b'{' | b'[' | b'"'));
    if !is_begun || serde_json::from_slice::<IgnoredAny>(text).is_err() {
        return None;
    }
    let mut document = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'"' => {
                let inner = inner_of(&text[at + 1..]);
                document.push(b'"');
                document.extend_from_slice(&masked(inner, whole_escapes(inner, find_all(patterns, inner))));
                document.push(b'"');
                at += inner.len() + 2;
            }
            b'-' | b'0'..=b'9' => {
                let number = number_at(&text[at..]);
                let mut found = Vec::new();
                find_as_written(patterns, number, &mut found);
                if found.is_empty() {
                    document.extend_from_slice(number);
                } else {
                    document.extend_from_slice(&[b"\"", MASK, b"\""].concat());
                }
                at += number.len();
            }
            other => {
                document.push(other);
                at += 1;
            }
        }
    }
    Some(document)
}

/// The text of a string up to its closing quote, as it is written.
fn inner_of(text: &[u8]) -> &[u8] {
    let mut at = 0;
    while at < text.len() && text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    &text[..at.min(text.len())]
}

fn number_at(text: &[u8]) -> &[u8] {
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    let end = text.iter().position(|byte| !is_part(byte)).unwrap_or(text.len());
    &text[..end]
}

/// The spans up to the boundaries of escapes: half an escape would be an error in the document.
fn whole_escapes(text: &[u8], mut spans: Vec<Span>) -> Vec<Span> {
    if spans.is_empty() || memchr::memchr(b'\\', text).is_none() {
        return spans;
    }
    // For each byte, where the escape that it is part of begins; escapes are at most 12 bytes long.
    let mut starts = vec![0_u8; text.len()];
    let mut at = 0;
    while at < text.len() {
        let length = Notation::Backslash.unit(&text[at..]).length;
        for (offset, place) in (0..).zip(&mut starts[at..at + length]) {
            *place = offset;
        }
        at += length;
    }
    for span in &mut spans {
        span.start -= usize::from(starts[span.start]);
        while starts.get(span.end).is_some_and(|offset| *offset > 0) {
            span.end += 1;
        }
    }
    spans
}
