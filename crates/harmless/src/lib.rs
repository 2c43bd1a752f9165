//! Harmless text: foreign text, made safe to show to people.
//!
//! A file name, the name of a client or the message of an exception may hold escape sequences that a terminal obeys,
//! line breaks that forge a line of a log, marks that turn the direction of what follows, and invisible characters.
//! Each becomes a readable escape: `\u{1b}`, `\n`. Everything that is written for people passes through here; text for
//! machines stays as it is.

mod excerpt;
mod secret_name;
mod shell;

pub use excerpt::clip;
pub use secret_name::tells_of_secret;
pub use shell::{shell_path, shell_word};

use std::borrow::Cow;
use std::fmt::Write;

/// The text on one line: line breaks and tabs are escaped too.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// The text with its line breaks and its tabs. Windows line breaks become plain ones.
pub fn text(text: &str) -> Cow<'_, str> {
    match unix_lines(text) {
        Cow::Borrowed(text) => escaped(text, is_layout),
        Cow::Owned(text) => Cow::Owned(escaped(&text, is_layout).into_owned()),
    }
}

/// The same, but Windows line breaks stay visible.
pub fn exact_lines(text: &str) -> Cow<'_, str> {
    escaped(text, is_layout)
}

/// The text with its line breaks, its tabs, and the colours that we use ourselves.
pub fn painted(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return exact_lines(text);
    }
    let mut whole = String::with_capacity(text.len());
    let mut pieces = text.split('\u{1b}');
    whole.push_str(&exact_lines(pieces.next().unwrap_or_default()));
    for piece in pieces {
        let colour = COLOURS.iter().find(|colour| piece.starts_with(**colour));
        whole.push_str(if colour.is_some() { "\u{1b}" } else { r"\u{1b}" });
        let (own, rest) = piece.split_at(colour.map_or(0, |colour| colour.len()));
        whole.push_str(own);
        whole.push_str(&exact_lines(rest));
    }
    Cow::Owned(whole)
}

/// JSON text, in which the same characters are escaped as JSON does it. It has the same value.
pub fn json(text: &str) -> Cow<'_, str> {
    replaced(
        text,
        |letter| letter.is_ascii() && letter != '\u{7f}',
        |letter, json| {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(json, "\\u{unit:04x}");
            }
        },
    )
}

/// Our own colours after the escape character: plain, bold, faint, and the colours of text.
const COLOURS: [&str; 9] = ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m", "[34m", "[35m", "[36m"];

fn is_layout(letter: char) -> bool {
    matches!(letter, '\n' | '\t')
}

fn unix_lines(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    replaced(text, stays, |letter, escaped| {
        let _ = match letter {
            '\n' => escaped.write_str(r"\n"),
            '\r' => escaped.write_str(r"\r"),
            '\t' => escaped.write_str(r"\t"),
            _ => write!(escaped, "\\u{{{:x}}}", u32::from(letter)),
        };
    })
}

/// The text with each harmful character replaced by what `write` makes of it. `stays` says which others are harmless
/// here.
fn replaced(text: &str, stays: impl Fn(char) -> bool, write: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let mut whole = String::new();
    let (mut done, mut before) = (0, ' ');
    for (place, letter) in text.char_indices() {
        if is_harmful(letter, before) && !stays(letter) {
            whole.push_str(&text[done..place]);
            write(letter, &mut whole);
            done = place + letter.len_utf8();
        }
        before = letter;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    whole.push_str(&text[done..]);
    Cow::Owned(whole)
}

/// Whether a terminal does anything else with it than show it, or shows nothing. `before` is the character before it.
fn is_harmful(letter: char, before: char) -> bool {
    match letter {
        ' '..='~' => false,
        // They shape the letters of many languages and pictures of several parts; anywhere else they are a disguise.
        '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' => before.is_ascii(),
        _ => letter.is_control() || is_invisible(letter),
    }
}

/// Invisible characters: those that format text (category Cf, except the few that are signs), separators of lines and
/// paragraphs, fillers, and non-characters.
fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    ) || u32::from(letter) & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_as_escapes() {
        for (given, shown) in [
            ("a\u{1b}[31mb", r"a\u{1b}[31mb"),
            ("\u{1b}]0;title\u{7}", r"\u{1b}]0;title\u{7}"),
            ("\u{9b}2J\u{9d}\u{7f}\0", r"\u{9b}2J\u{9d}\u{7f}\u{0}"),
            ("a\nb\r\nc\td", r"a\nb\r\nc\td"),
            (
                "\u{202e}gpj.exe\u{2066}\u{2069}\u{200f}\u{61c}",
                r"\u{202e}gpj.exe\u{2066}\u{2069}\u{200f}\u{61c}",
            ),
            ("ad\u{200d}min\u{200b}\u{feff}\u{ad}\u{2060}", r"ad\u{200d}min\u{200b}\u{feff}\u{ad}\u{2060}"),
            ("\u{2028}\u{2029}\u{e0041}\u{ffff}\u{10fffe}", r"\u{2028}\u{2029}\u{e0041}\u{ffff}\u{10fffe}"),
        ] {
            assert_eq!(line(given), shown, "{given:?}");
        }
    }

    #[test]
    fn ordinary_text_stays() {
        for plain in [
            "",
            "a b ~",
            "é ü 漢字 🙂",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "👩\u{200d}💻 ⚠\u{fe0f}",
            "\u{fffd}",
            r"\u{1b}",
        ] {
            assert!(matches!(line(plain), Cow::Borrowed(same) if same == plain), "{plain:?}");
            assert!(matches!(json(plain), Cow::Borrowed(same) if same == plain), "{plain:?}");
        }
    }

    #[test]
    fn lines_and_tabs_of_a_text_stay() {
        assert_eq!(text("a\r\n\tb\rc\u{1b}"), "a\n\tb\\rc\\u{1b}");
        assert_eq!(exact_lines("a\r\n\tb"), "a\\r\n\tb");
    }

    #[test]
    fn only_our_own_colours_stay() {
        assert_eq!(painted("\u{1b}[31mred\u{1b}[0m\n"), "\u{1b}[31mred\u{1b}[0m\n");
        assert_eq!(
            painted("\u{1b}[8m\u{1b}[2J\u{1b}\u{202e}\u{1b}[31;8m"),
            r"\u{1b}[8m\u{1b}[2J\u{1b}\u{202e}\u{1b}[31;8m"
        );
    }

    #[test]
    fn json_keeps_its_value() {
        let given = "{\"a\":\"\u{202e}\u{9b}\u{7f}\u{e0041}é\"}";
        assert_eq!(json(given), r#"{"a":"\u202e\u009b\u007f\udb40\udc41é"}"#);
    }
}
