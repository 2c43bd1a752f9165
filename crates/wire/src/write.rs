//! Message output: writes messages as JSON text, one function for each kind. The transport adds newlines.

use crate::{Id, RpcError};
use std::fmt::Write as _;

/// `members` are those of the result, as JSON text without the braces around it. Their text becomes the message itself:
/// results can be large, and moving one within its memory costs less than new memory for a copy.
pub fn result(id: &Id, mut members: String) -> Vec<u8> {
    let id = id.as_json();
    members.reserve(id.len() + 40);
    members.insert_str(0, &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{"));
    members.push_str("}}");
    members.into_bytes()
}

/// An error for the request `id`, or for a message whose id could not be read.
pub fn error(id: Option<&Id>, error: &RpcError) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.map_or("null", Id::as_json).as_bytes());
    out.extend_from_slice(b",\"error\":{\"code\":");
    out.extend_from_slice(error.code.to_string().as_bytes());
    out.extend_from_slice(b",\"message\":");
    out.extend_from_slice(string(&error.message).as_bytes());
    if let Some(data) = &error.data {
        out.extend_from_slice(b",\"data\":");
        out.extend_from_slice(data.as_bytes());
    }
    out.extend_from_slice(b"}}");
    out
}

/// A request of the server. `params` is the text of a JSON object.
pub fn request(number: u64, method: &str, params: &str) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{params}}}"#).into_bytes()
}

/// `params` is the text of a JSON object.
pub fn notification(method: &str, params: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(params.len() + method.len() + 40);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":\"");
    out.extend_from_slice(method.as_bytes());
    out.extend_from_slice(b"\",\"params\":");
    out.extend_from_slice(params.as_bytes());
    out.push(b'}');
    out
}

/// A text as a JSON string, quotes included.
pub fn string(text: &str) -> String {
    let mut out = String::new();
    push_string(&mut out, text);
    out
}

/// Appends a text as a JSON string, quotes included.
pub fn push_string(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    while let Some(at) = first_to_escape(rest.as_bytes()) {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            control => {
                let _ = write!(out, "\\u{control:04x}");
            }
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// The length of a text as a JSON string, quotes included. Control characters take six bytes each.
pub fn string_len(text: &str) -> usize {
    let mut length = text.len() + 2;
    let mut rest = text.as_bytes();
    while let Some(at) = first_to_escape(rest) {
        length += match rest[at] {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 1,
            _ => 5,
        };
        rest = &rest[at + 1..];
    }
    length
}

/// The position of the first byte that a JSON string cannot hold unescaped: a control character, `"` or `\`.
fn first_to_escape(bytes: &[u8]) -> Option<usize> {
    const LOWEST: u64 = u64::from_le_bytes([0x01; 8]);
    const HIGHEST: u64 = u64::from_le_bytes([0x80; 8]);
    // Eight bytes at a time: subtracting takes a borrow from the highest bit of every byte that is below the number,
    // and of none before the first such byte.
    let below = |word: u64, number: u64| word.wrapping_sub(LOWEST * number) & !word & HIGHEST;
    let (words, rest) = bytes.as_chunks::<8>();
    for (place, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = below(word, 0x20)
            | below(word ^ (LOWEST * u64::from(b'"')), 1)
            | below(word ^ (LOWEST * u64::from(b'\\')), 1);
        if found != 0 {
            return Some(place * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let in_rest = rest.iter().position(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\'))?;
    Some(words.len() * 8 + in_rest)
}

/// The same JSON without white space between its tokens, so that it fits on a line. Nothing else changes.
pub fn compact(json: &str) -> String {
    let mut out = String::new();
    push_compact(&mut out, json);
    out
}

/// Appends JSON without white space between its tokens.
pub fn push_compact(out: &mut String, json: &str) {
    out.reserve(json.len());
    let bytes = json.as_bytes();
    let (mut at, mut copied) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at),
            b' ' | b'\t' | b'\r' | b'\n' => {
                out.push_str(&json[copied..at]);
                at += 1;
                copied = at;
            }
            _ => at += 1,
        }
    }
    out.push_str(&json[copied..]);
}

/// The end of the string that starts at `start`.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at.min(bytes.len())..]) {
        at += found + 1;
        if bytes[at - 1] == b'"' {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_survives_as_a_string() {
        let text: String = ('\0'..='\u{1ff}').chain("\u{2028}\u{fffd}\u{10ffff}".chars()).collect();
        let written = string(&text);
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        assert_eq!(written, serde_json::to_string(&text).unwrap());
        assert_eq!(string_len(&text), written.len());
    }

    #[test]
    fn compacting_touches_only_blanks_between_tokens() {
        let pretty =
            "{\n  \"a b\": [1.10, 2],\r\n\t\"q\": \"x \\\" \\\\\",\n  \"big\": 12345678901234567890\n}";
        assert_eq!(compact(pretty), r#"{"a b":[1.10,2],"q":"x \" \\","big":12345678901234567890}"#);
    }
}
