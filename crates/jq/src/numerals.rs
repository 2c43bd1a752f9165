//! Numerals: rewrites numbers that the lexer does not know, `1.` and `.5`, as ones it knows.
//!
//! Only the lexer can tell them from similar text in a string or after a name. It runs once more for the few programs
//! that contain something of the kind.

use std::borrow::Cow;

use jaq_core::load::lex::{Expect, Lexer, StrPart, Tok, Token};

use crate::offset::offset_in;

/// The program with `1.` written as `1 `, and `1.e5` as `1e5 `. The text keeps its length, so that messages about the
/// rest of it point to the right place.
pub(crate) fn without_trailing_points(code: &str) -> Cow<'_, str> {
    if !has_point(code, |before, after| before && !after) {
        return Cow::Borrowed(code);
    }
    let Err(errors) = Lexer::new(code).lex() else { return Cow::Borrowed(code) };
    let mut repaired = code.to_owned();
    for (expected, found) in errors {
        let at = code.len() - found.len();
        if matches!(expected, Expect::Digit) && code[..at].ends_with('.') {
            let power = power_length(found);
            repaired.replace_range(at - 1..at + power, &format!("{} ", &found[..power]));
        }
    }
    Cow::Owned(repaired)
}

/// The program with `.5` written as ` 0.5`; the space separates it from a number before it.
pub(crate) fn without_leading_points(code: &str) -> Cow<'_, str> {
    if !has_point(code, |before, after| !before && after) {
        return Cow::Borrowed(code);
    }
    let Ok(tokens) = Lexer::new(code).lex() else { return Cow::Borrowed(code) };
    let mut points = Vec::new();
    find_leading_points(code, &tokens, &mut points);
    let mut repaired = code.to_owned();
    points.iter().rev().for_each(|at| repaired.insert_str(*at, " 0"));
    Cow::Owned(repaired)
}

/// Whether there is a point for which `wanted` holds, given whether digits are before and after it.
fn has_point(code: &str, wanted: fn(bool, bool) -> bool) -> bool {
    let bytes = code.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    (0..bytes.len()).any(|at| bytes[at] == b'.' && wanted(digit(at.checked_sub(1)), digit(Some(at + 1))))
}

/// The length of an exponent at the start of a text, such as `e-5`.
fn power_length(text: &str) -> usize {
    let Some(power) = text.strip_prefix(['e', 'E']) else { return 0 };
    let digits = power.strip_prefix(['+', '-']).unwrap_or(power);
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    text.len() - digits.len() + count
}

/// Finds the points right before a number, in order.
fn find_leading_points(code: &str, tokens: &[Token<&str>], points: &mut Vec<usize>) {
    for (at, Token(text, kind)) in tokens.iter().enumerate() {
        match kind {
            Tok::Num if at > 0 && tokens[at - 1].0 == "." => {
                let point = offset_in(code, tokens[at - 1].0);
                points.extend(point.filter(|point| offset_in(code, text) == Some(point + 1)));
            }
            Tok::Block(tokens) => find_leading_points(code, tokens, points),
            Tok::Str(parts) => {
                for part in parts {
                    if let StrPart::Term(token) = part {
                        find_leading_points(code, std::slice::from_ref(token), points);
                    }
                }
            }
            _ => {}
        }
    }
}
