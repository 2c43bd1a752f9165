//! Percent-encoding (RFC 3986, section 2.1).

use std::fmt::Write;

/// Which characters are not encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    Unreserved,
    /// Reserved ones too, and existing escapes.
    Reserved,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The `%` at this byte does not begin an escape.
    #[error(
        "the `%` at byte {0} is not followed by two hexadecimal digits; a percent sign itself is written `%25`"
    )]
    BadEscape(usize),
    #[error("its escapes do not spell UTF-8 text")]
    NotText,
}

pub(crate) fn encode_into(out: &mut String, text: &str, keep: Keep) {
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let stays = is_unreserved(byte)
            || keep == Keep::Reserved
                && (is_reserved(byte) || byte == b'%' && escape_at(bytes, at).is_some());
        if stays {
            out.push(char::from(byte));
        } else {
            push_escape(out, byte);
        }
    }
}

/// Decodes every escape, once.
pub fn decode(text: &str) -> Result<String, DecodeError> {
    String::from_utf8(decode_bytes(text)?).map_err(|_| DecodeError::NotText)
}

pub(crate) fn decode_bytes(text: &str) -> Result<Vec<u8>, DecodeError> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            decoded.push(escape_at(bytes, at).ok_or(DecodeError::BadEscape(at))?);
            at += 3;
        } else {
            decoded.push(bytes[at]);
            at += 1;
        }
    }
    Ok(decoded)
}

/// One spelling for all URIs that mean the same (RFC 3986, section 6.2.2): escapes have upper-case digits and occur
/// only if they are needed. `None` if a `%` does not begin an escape.
pub(crate) fn normalise(uri: &str) -> Option<String> {
    let bytes = uri.as_bytes();
    let mut normal = String::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte == b'%' {
            let escaped = escape_at(bytes, at)?;
            if is_unreserved(escaped) {
                normal.push(char::from(escaped));
            } else {
                push_escape(&mut normal, escaped);
            }
            at += 3;
            continue;
        }
        if is_unreserved(byte) || is_reserved(byte) {
            normal.push(char::from(byte));
        } else {
            push_escape(&mut normal, byte);
        }
        at += 1;
    }
    Some(normal)
}

/// The byte of the escape at this position.
pub(crate) fn escape_at(bytes: &[u8], at: usize) -> Option<u8> {
    let [b'%', high, low] = *bytes.get(at..at + 3)? else { return None };
    Some(hexadecimal(high)? << 4 | hexadecimal(low)?)
}

fn hexadecimal(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

pub(crate) fn push_escape(out: &mut String, byte: u8) {
    // Writing to a string cannot fail.
    let _ = write!(out, "%{byte:02X}");
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn is_reserved(byte: u8) -> bool {
    b":/?#[]@!$&'()*+,;=".contains(&byte)
}
