//! Harmless characters: they mean nothing to any shell, make, template or option parser.

/// A JSON Schema pattern for a value of harmless characters: it is not empty, has no space, and does not begin with a
/// sign that an option parser, a shell or an editor reads. Letters are ASCII: some shells take other characters for
/// blanks.
pub const HARMLESS: &str = "^[A-Za-z0-9_./][A-Za-z0-9_./:@+,-]*$";

/// Whether a value fits [`HARMLESS`].
pub fn is_harmless(value: &str) -> bool {
    let is_first = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/');
    let is_other = |byte: u8| is_first(byte) || matches!(byte, b':' | b'@' | b'+' | b',' | b'-');
    value
        .as_bytes()
        .split_first()
        .is_some_and(|(first, rest)| is_first(*first) && rest.iter().all(|byte| is_other(*byte)))
}

#[cfg(test)]
mod tests {
    use super::is_harmless;

    #[test]
    fn text_that_any_reader_could_interpret_is_not_harmless() {
        for value in ["main", "feature/x-1", "a.b_c", "v1.2.3+4", "me@host:/srv", "../up", "a,b", "0"] {
            assert!(is_harmless(value), "{value}");
        }
        for value in [
            "", " ", "a b", "-x", "+x", "@x", ":x", "a\n", "a=b", "$x", "`x`", "a;b", "a|b", "a&b", "<a",
            "*", "?",
        ] {
            assert!(!is_harmless(value), "{value:?}");
        }
        for value in
            ["a'b", "a\"b", "a\\b", "(a)", "[a]", "{a}", "~", "#a", "!a", "%a", "^a", "é", "a\u{a0}b", "a\0"]
        {
            assert!(!is_harmless(value), "{value:?}");
        }
    }
}
