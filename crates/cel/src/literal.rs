//! String literals: their escape sequences.

use crate::error::Mistake;
use std::str::Chars;

pub(crate) fn unescape(content: &str) -> Result<String, Mistake> {
    let mut text = String::with_capacity(content.len());
    let mut letters = content.chars();
    while let Some(letter) = letters.next() {
        if letter == '\\' {
            let (code, escape) = code_of(&mut letters)?;
            text.push(char::from_u32(code).ok_or(Mistake::Escape(escape))?);
        } else {
            text.push(letter);
        }
    }
    Ok(text)
}

pub(crate) fn unescape_bytes(content: &str) -> Result<Vec<u8>, Mistake> {
    let mut bytes = Vec::with_capacity(content.len());
    let mut letters = content.chars();
    while let Some(letter) = letters.next() {
        if letter == '\\' {
            let (code, escape) = code_of(&mut letters)?;
            // Bytes have no code points.
            if escape.starts_with("\\u") || escape.starts_with("\\U") {
                return Err(Mistake::Escape(escape));
            }
            bytes.push(u8::try_from(code).map_err(|_| Mistake::Escape(escape))?);
        } else {
            bytes.extend(letter.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
    Ok(bytes)
}

/// The code that follows a backslash, and the escape as it is written.
fn code_of(letters: &mut Chars<'_>) -> Result<(u32, String), Mistake> {
    let kind = letters.next().ok_or_else(|| Mistake::Escape("\\".to_owned()))?;
    let mut escape = format!("\\{kind}");
    let mut digits = |count: usize, radix: u32, start: u32| -> Result<u32, Mistake> {
        let mut code = start;
        for _ in 0..count {
            let digit = letters.next();
            escape.extend(digit);
            let value = digit.and_then(|digit| digit.to_digit(radix));
            code = value
                .and_then(|value| code.checked_mul(radix)?.checked_add(value))
                .ok_or_else(|| Mistake::Escape(escape.clone()))?;
        }
        Ok(code)
    };
    let code = match kind {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => 10,
        'r' => 13,
        't' => 9,
        'v' => 11,
        '\\' | '?' | '"' | '\'' | '`' => u32::from(kind),
        'x' | 'X' => digits(2, 16, 0)?,
        'u' => digits(4, 16, 0)?,
        'U' => digits(8, 16, 0)?,
        '0'..='3' => digits(2, 8, kind.to_digit(8).unwrap_or_default())?,
        _ => return Err(Mistake::Escape(escape)),
    };
    Ok((code, escape))
}
