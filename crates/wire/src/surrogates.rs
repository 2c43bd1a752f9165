//! Lone surrogates in the JSON of scripts. JSON can write one as an escape (`\ud83d`), and Python and Node.js do so if
//! a text was cut in the middle of a character. It is not valid text, and strict parsers refuse the whole message.

use memchr::memmem;
use std::borrow::Cow;

/// The JSON text with the replacement character (U+FFFD) in place of each escaped lone surrogate.
pub fn repaired(json: &str) -> Cow<'_, str> {
    if next_half(json.as_bytes(), 0).is_none() {
        return Cow::Borrowed(json);
    }
    let mut bytes = json.as_bytes().to_vec();
    replace_lone(&mut bytes);
    // Escapes are ASCII, before and after.
    String::from_utf8(bytes).map_or(Cow::Borrowed(json), Cow::Owned)
}

/// The same in place. Text without such an escape, which is nearly all text, is only searched.
pub fn replace_lone(json: &mut [u8]) {
    let mut start = 0;
    while let Some(place) = next_half(json, start) {
        json[place + 2..place + 6].copy_from_slice(b"fffd");
        start = place + 6;
    }
}

/// The position of the next escaped lone surrogate, from `start` on.
fn next_half(json: &[u8], mut start: usize) -> Option<usize> {
    loop {
        let place = next_surrogate(json, start)?;
        let is_whole = unit(json, place).is_some_and(|unit| unit < 0xDC00)
            && unit(json, place + 6).is_some_and(|unit| (0xDC00..0xE000).contains(&unit));
        if !is_whole {
            return Some(place);
        }
        start = place + 12;
    }
}

/// The position of the next escaped surrogate, from `start` on.
fn next_surrogate(frame: &[u8], start: usize) -> Option<usize> {
    let mut from = start;
    loop {
        let place = from + memmem::find(&frame[from..], br"\u")?;
        // A backslash that is escaped itself does not begin an escape.
        let backslashes = frame[start..place].iter().rev().take_while(|byte| **byte == b'\\').count();
        if backslashes % 2 == 0 && unit(frame, place).is_some_and(|unit| (0xD800..0xE000).contains(&unit)) {
            return Some(place);
        }
        from = place + 2;
    }
}

/// The code unit of the escape at this position, if there is one.
fn unit(frame: &[u8], place: usize) -> Option<u16> {
    let digits = frame.get(place..place + 6)?.strip_prefix(br"\u")?;
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_hex)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_marked_and_the_rest_stays() {
        for (before, after) in [
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\uD83D\uDE00""#, r#""\uD83D\uDE00""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ud83dx\ude00""#, r#""\ufffdx\ufffd""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""\ud83d\\ude00""#, r#""\ufffd\\ude00""#),
            (r#""\u00e9 \n""#, r#""\u00e9 \n""#),
            (r#""\u"#, r#""\u"#),
            (r"\ud8", r"\ud8"),
            ("", ""),
        ] {
            let mut frame = before.as_bytes().to_vec();
            replace_lone(&mut frame);
            assert_eq!(String::from_utf8(frame).unwrap(), after, "{before}");
            assert_eq!(repaired(before), after, "{before}");
        }
    }
}
