//! Coercion: what a single value becomes when its schema requires another type, if that loses nothing.
//!
//! | given | asked for | becomes |
//! |---|---|---|
//! | `"5"`, `"-3"`, `"1e3"`, `"1.50"` | number | the number, digit by digit |
//! | `"5"`, `"-3"` | integer | the number |
//! | `"true"`, `"false"` | boolean | the boolean |
//! | `"null"` | null | null |
//! | `"[1, 2]"`, `"{\"a\": 1}"` | array, object | what the string spells |
//! | `5`, `-3` | string | `"5"`, `"-3"` |
//! | `true`, `false` | string | `"true"`, `"false"` |
//!
//! Everything else stays. `"5 apples"`, `"yes"`, `""`, `" 5"`, `"+5"`, `"0x5"` and `"05"` are not JSON; `"5.0"` is not
//! an integer literal. `1.10` does not become a string, because many clients have turned it into `1.1` by the time we
//! see it: a version number would silently change. For the same reason integers beyond 2^53 do not.

use crate::tree::{Body, Tree};
use crate::types::{JsonType, JsonTypeSet};
use mcp_bash_wire::{Limits, Raw, Scanner};

/// The largest integer that every client passes on unchanged.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// The text that replaces `tree` if one of the types `wanted` is required.
pub(crate) fn coerce(tree: &Tree<'_>, wanted: JsonTypeSet) -> Option<String> {
    match &tree.body {
        Body::String(string) => spelled(string, wanted),
        Body::Boolean(_) if wanted.contains(JsonType::String) => Some(format!("\"{}\"", tree.text)),
        Body::Number if wanted.contains(JsonType::String) && is_safe_integer(tree.text) => {
            Some(format!("\"{}\"", tree.text))
        }
        _ => None,
    }
}

/// The value a string spells. No string spells two, so there is nothing to choose between.
fn spelled(string: &str, wanted: JsonTypeSet) -> Option<String> {
    let trimmed = string.trim_matches([' ', '\t', '\r', '\n']);
    let raw = Scanner::new(trimmed, Limits::default()).whole_value().ok()?;
    let found = match trimmed.as_bytes().first()? {
        b'{' => JsonType::Object,
        b'[' => JsonType::Array,
        // A program would not have written white space around anything else.
        _ if trimmed.len() != string.len() => return None,
        b't' | b'f' => JsonType::Boolean,
        b'n' => JsonType::Null,
        b'"' => return None,
        _ if Raw::is_integer(raw) && wanted.contains(JsonType::Integer) => JsonType::Integer,
        _ => JsonType::Number,
    };
    wanted.contains(found).then(|| trimmed.to_owned())
}

fn is_safe_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    text != "-0" && digits.parse::<u64>().is_ok_and(|number| number <= MAX_SAFE_INTEGER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn becomes(given: &str, wanted: &[JsonType]) -> Option<String> {
        let wanted = wanted.iter().copied().collect();
        coerce(&Tree::read(given).unwrap_or_else(|error| panic!("{error:?}")), wanted)
    }

    #[test]
    fn strings_become_what_they_spell() {
        use JsonType::{Array, Boolean, Integer, Null, Number, Object};
        for (given, wanted, expected) in [
            (r#""5""#, Number, "5"),
            (r#""-3""#, Number, "-3"),
            (r#""1e3""#, Number, "1e3"),
            (r#""1.50""#, Number, "1.50"),
            (r#""5""#, Integer, "5"),
            (r#""123456789012345678901234567890""#, Integer, "123456789012345678901234567890"),
            (r#""true""#, Boolean, "true"),
            (r#""false""#, Boolean, "false"),
            (r#""null""#, Null, "null"),
            (r#""[1, 1.10]""#, Array, "[1, 1.10]"),
            (r#"" {\"a\": 1}\n""#, Object, r#"{"a": 1}"#),
        ] {
            assert_eq!(becomes(given, &[wanted]).as_deref(), Some(expected), "{given} as {wanted}");
        }
    }

    #[test]
    fn nothing_is_guessed() {
        use JsonType::{Array, Boolean, Integer, Null, Number, Object, String};
        for given in [
            r#""5 apples""#,
            r#""yes""#,
            r#""""#,
            r#"" 5""#,
            r#""5 ""#,
            r#""+5""#,
            r#""05""#,
            r#""0x5""#,
            r#""5,0""#,
            r#"".5""#,
            r#""NaN""#,
            r#""Infinity""#,
            r#""True""#,
            r#""None""#,
            r#""[1,""#,
            r#""\"a\"""#,
            "1.10",
            "1e3",
            "-0",
            "9007199254740992",
            "null",
            "[1]",
            "{}",
        ] {
            let wanted: &[JsonType] = if given.starts_with('"') {
                &[Number, Integer, Boolean, Null, Array, Object]
            } else {
                &[String]
            };
            assert_eq!(becomes(given, wanted), None, "{given}");
        }
        assert_eq!(becomes(r#""5.0""#, &[Integer]), None);
        assert_eq!(becomes(r#""1e3""#, &[Integer]), None);
        assert_eq!(becomes(r#""true""#, &[Number]), None);
        assert_eq!(becomes("1", &[Boolean]), None);
        assert_eq!(becomes("true", &[Integer]), None);
        assert_eq!(becomes("5", &[Array]), None);
        assert_eq!(becomes(&format!("\"{}\"", "[".repeat(500) + &"]".repeat(500)), &[Array]), None);
    }

    #[test]
    fn plain_values_become_their_own_text() {
        assert_eq!(becomes("5", &[JsonType::String]).as_deref(), Some("\"5\""));
        assert_eq!(
            becomes("-9007199254740991", &[JsonType::String]).as_deref(),
            Some("\"-9007199254740991\"")
        );
        assert_eq!(becomes("true", &[JsonType::String, JsonType::Null]).as_deref(), Some("\"true\""));
    }
}
