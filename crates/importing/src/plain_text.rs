//! Plain text: foreign text without terminal sequences.

/// The text without escape sequences, overstrikes (`_\u{8}x`, as man writes bold) and control characters except line
/// ends and tabs.
pub fn plain_text(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => skip_escape(&mut letters),
            '\u{8}' => {
                if !plain.ends_with('\n') {
                    plain.pop();
                }
            }
            '\r' if letters.peek() == Some(&'\n') => {}
            '\r' => plain.push('\n'),
            '\n' | '\t' => plain.push(letter),
            _ if letter.is_control() || is_invisible(letter) => {}
            _ => plain.push(letter),
        }
    }
    plain
}

/// Characters that change the direction or the look of others.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// What follows an escape: `[` and its numbers up to a letter, `]` and a text up to its end, or one character.
fn skip_escape(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match letters.next() {
        Some('[') => while letters.next().is_some_and(|letter| !('@'..='~').contains(&letter)) {},
        Some(']' | 'P' | '_' | '^') => {
            while let Some(letter) = letters.next_if(|letter| *letter != '\n') {
                if letter == '\u{7}' {
                    return;
                }
                if letter == '\u{1b}' {
                    letters.next();
                    return;
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_sequences_are_removed() {
        for (text, plain) in [
            ("\u{1b}[1mUsage\u{1b}[0m: x\n", "Usage: x\n"),
            ("N\u{8}NA\u{8}A _\u{8}x", "NA x"),
            ("\u{1b}]0;title\u{7}a\u{1b}]8;;http://x\u{1b}\\b\n", "ab\n"),
            ("a\r\nb\rc\0\u{202e}d\te", "a\nb\ncd\te"),
            ("\u{8}\u{8}x\u{1b}", "x"),
            ("\u{1b}[999", ""),
        ] {
            assert_eq!(plain_text(text), plain, "{text:?}");
        }
    }
}
