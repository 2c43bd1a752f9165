//! Shell words: splits a command line into words as a shell does: by spaces, with quotes and backslashes. No shell runs:
//! `$`, `*` and `;` mean nothing here.

use thiserror::Error;

/// The messages complete "mcp-bash: ...".
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum SplitError {
    #[error("--command has a quote ({0}) that is not closed")]
    OpenQuote(char),
    #[error("--command ends with a backslash")]
    LastBackslash,
    #[error("--command names no program")]
    Nothing,
}

/// The words of a command line, at least one.
pub(crate) fn split(text: &str) -> Result<Vec<String>, SplitError> {
    let (mut words, mut word): (Vec<String>, Option<String>) = (Vec::new(), None);
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => quoted(&mut characters, '\'', word.get_or_insert_default())?,
            '"' => quoted(&mut characters, '"', word.get_or_insert_default())?,
            '\\' => match characters.next() {
                // A line continuation.
                Some('\n') => {}
                Some(next) => word.get_or_insert_default().push(next),
                None => return Err(SplitError::LastBackslash),
            },
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    if words.is_empty() { Err(SplitError::Nothing) } else { Ok(words) }
}

/// Adds the text before the closing quote to a word.
fn quoted(characters: &mut std::str::Chars<'_>, quote: char, word: &mut String) -> Result<(), SplitError> {
    while let Some(character) = characters.next() {
        match character {
            _ if character == quote => return Ok(()),
            '\\' if quote == '"' => match characters.next() {
                Some(next @ ('"' | '\\' | '$' | '`')) => word.push(next),
                Some('\n') => {}
                Some(next) => word.extend(['\\', next]),
                None => break,
            },
            other => word.push(other),
        }
    }
    Err(SplitError::OpenQuote(quote))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_as_a_shell_cuts_them() {
        for (text, words) in [
            ("a b  c", &["a", "b", "c"][..]),
            ("  a\t'b c'\n", &["a", "b c"]),
            (r#"a"b c"d"#, &["ab cd"]),
            (r#"'' "" x"#, &["", "", "x"]),
            (r"a\ b \'", &["a b", "'"]),
            (r#""\"\\\$\n""#, &[r#""\$\n"#]),
            (r"'\'", &["\\"]),
            ("$HOME *;ls|x", &["$HOME", "*;ls|x"]),
            ("a\\\nb", &["ab"]),
        ] {
            assert_eq!(split(text).unwrap(), words, "{text}");
        }
    }

    #[test]
    fn an_invalid_command_line_is_refused() {
        assert_eq!(split("a 'b"), Err(SplitError::OpenQuote('\'')));
        assert_eq!(split("a \"b\\"), Err(SplitError::OpenQuote('"')));
        assert_eq!(split("a \\"), Err(SplitError::LastBackslash));
        assert_eq!(split(" \n"), Err(SplitError::Nothing));
    }
}
