//! Formats: `@csv`, `@sh`, `@base64` and the like.

use std::fmt::Write as _;

use super::{Entry, NONE, of_input};
use crate::value::{Result, Value};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("@text", NONE, |call| of_input(call, |value| Ok(Value::String(value.to_text())))),
    ("@json", NONE, |call| of_input(call, |value| Ok(value.to_json().into()))),
    ("@csv", NONE, |call| {
        of_input(call, |value| row(value, "csv", ",", |text| format!("\"{}\"", text.replace('"', "\"\""))))
    }),
    ("@tsv", NONE, |call| of_input(call, |value| row(value, "tsv", "\t", escape_tabs))),
    ("@html", NONE, |call| of_input(call, |value| Ok(escape_html(&value.to_text()).into()))),
    ("@uri", NONE, |call| of_input(call, |value| Ok(escape_uri(&value.to_text()).into()))),
    ("@urid", NONE, |call| of_input(call, unescape_uri)),
    ("@sh", NONE, |call| of_input(call, shell_words)),
    ("@base64", NONE, |call| {
        of_input(call, |value| Ok(encode(value.to_text().as_bytes(), BASE64, 6).into()))
    }),
    ("@base64d", NONE, |call| of_input(call, |value| decode(value, BASE64, 6, "base64"))),
    ("@base32", NONE, |call| {
        of_input(call, |value| Ok(encode(value.to_text().as_bytes(), BASE32, 5).into()))
    }),
    ("@base32d", NONE, |call| of_input(call, |value| decode(value, BASE32, 5, "base32"))),
];

const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE32: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn row(value: &Value, name: &str, separator: &str, quote: impl Fn(&str) -> String) -> Result {
    let Value::Array(cells) = value else {
        return Value::fail(format!("{} cannot be {name}-formatted, only array", value.described()));
    };
    let cell = |cell: &Value| match cell {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(quote(text)),
        Value::Bool(_) | Value::Number(_) => Ok(cell.to_json()),
        _ => Value::fail(format!("{} is not valid in a csv row", cell.described())),
    };
    let cells = cells.iter().map(cell).collect::<Result<Vec<_>>>()?;
    Ok(cells.join(separator).into())
}

fn escape_tabs(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\r', "\\r").replace('\n', "\\n")
}

fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\'' => out.push_str("&apos;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

fn escape_uri(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            other => {
                let _ = write!(out, "%{other:02X}");
            }
        }
    }
    out
}

fn unescape_uri(value: &Value) -> Result {
    let text = value.to_text();
    let refuse = || Value::fail(format!("{} is not a valid uri encoding", value.described()));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let decoded = (*byte == b'%').then(|| after.get(..2)).flatten();
        let decoded = decoded.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match (byte, decoded) {
            (b'%', None) => return refuse(),
            (_, Some(decoded)) => {
                bytes.push(decoded);
                rest = &after[2..];
            }
            (other, None) => {
                bytes.push(*other);
                rest = after;
            }
        }
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Value::from(text)),
        Err(_) => refuse(),
    }
}

fn shell_words(value: &Value) -> Result {
    let word = |word: &Value| match word {
        Value::String(text) => Ok(format!("'{}'", text.replace('\'', "'\\''"))),
        Value::Array(_) | Value::Object(_) => {
            Value::fail(format!("{} can not be escaped for shell", word.described()))
        }
        other => Ok(other.to_json()),
    };
    match value {
        Value::Array(words) => Ok(words.iter().map(word).collect::<Result<Vec<_>>>()?.join(" ").into()),
        single => Ok(word(single)?.into()),
    }
}

/// Writes bytes in groups of `bits` bits, padded to whole blocks.
fn encode(bytes: &[u8], alphabet: &[u8], bits: u32) -> String {
    let block = if bits == 6 { 4 } else { 8 };
    let mut out = String::new();
    let (mut held, mut count) = (0_u32, 0_u32);
    for byte in bytes {
        held = (held << 8 | u32::from(*byte)) & 0xffff;
        count += 8;
        while count >= bits {
            count -= bits;
            out.push(digit(alphabet, held >> count, bits));
        }
    }
    if count > 0 {
        out.push(digit(alphabet, held << (bits - count), bits));
    }
    while !out.len().is_multiple_of(block) {
        out.push('=');
    }
    out
}

fn digit(alphabet: &[u8], value: u32, bits: u32) -> char {
    char::from(alphabet[(value & ((1 << bits) - 1)) as usize])
}

fn decode(value: &Value, alphabet: &[u8], bits: u32, name: &str) -> Result {
    let text = value.to_text();
    let digits = text.trim_end_matches('=');
    let mut bytes = Vec::new();
    let (mut held, mut count) = (0_usize, 0_u32);
    for byte in digits.bytes() {
        let Some(found) = alphabet.iter().position(|digit| *digit == byte) else {
            return Value::fail(format!("{} is not valid {name} data", value.described()));
        };
        held = (held << bits | found) & 0xffff;
        count += bits;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(held >> count & 0xff).unwrap_or(0));
        }
    }
    if bits == 6 && digits.len() % 4 == 1 {
        return Value::fail(format!("{} trailing base64 byte found", value.described()));
    }
    if bytes.is_empty() && !digits.is_empty() {
        return Value::fail(format!("{} is not valid {name} data", value.described()));
    }
    Ok(Value::string(String::from_utf8_lossy(&bytes)))
}
