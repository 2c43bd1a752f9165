//! Spans: the parts of a text that are replaced.

use super::MASK;
use std::ops::Range;

pub(super) type Span = Range<usize>;

/// The spans in order, of which no two touch.
pub(super) fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable_by_key(|span| span.start);
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut().filter(|last| span.start <= last.end) {
            Some(last) => last.end = last.end.max(span.end),
            None => merged.push(span),
        }
    }
    merged
}

/// The text with a mask in place of each span. No character is cut in two.
pub(super) fn masked(text: &[u8], spans: Vec<Span>) -> Vec<u8> {
    let whole = spans.into_iter().map(|span| whole_characters(text, span));
    let mut masked = Vec::with_capacity(text.len());
    let mut at = 0;
    for span in merged(whole.collect()) {
        masked.extend_from_slice(&text[at..span.start]);
        masked.extend_from_slice(MASK);
        at = span.end;
    }
    masked.extend_from_slice(&text[at..]);
    masked
}

/// The span up to the boundaries of UTF-8 characters.
fn whole_characters(text: &[u8], mut span: Span) -> Span {
    /// The most bytes of a character after its first one.
    const MOST: usize = 3;
    let is_inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    for _ in 0..MOST {
        if span.start > 0 && is_inside(span.start) {
            span.start -= 1;
        }
        if is_inside(span.end) {
            span.end += 1;
        }
    }
    span
}
