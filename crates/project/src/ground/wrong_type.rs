//! Type errors: which member of a JSON object has the wrong type, in the author's terms.

use crate::ground::json::{JsonError, without_position};
use crate::ground::json_place::{Position, members, place_of};
use mcp_bash_harmless::clip;
use mcp_bash_wire::{Limits, Raw, Scanner};
use serde::de::DeserializeOwned;

/// The first member for which `T` cannot be read from `text`, a JSON object, with its position and the fix. Slow; called
/// only after a failure.
pub(crate) fn describe_wrong_type<T: DeserializeOwned>(text: &str) -> Option<JsonError> {
    let whole = Scanner::new(text, Limits::NONE).whole_value().ok().filter(|whole| whole.is_object())?;
    let mut found = None;
    members(whole, |key, value| {
        if found.is_none() {
            let alone = format!("{{{}:{}}}", key.text(), value.text());
            found =
                serde_json::from_str::<T>(&alone).err().map(|error| (key, value, without_position(&error)));
        }
    });
    let (key, value, error) = found?;
    let key_name = key.string()?.into_owned();
    let expected = error.rsplit_once("expected ").map(|(_, expected)| expected);
    let (problem, remedy) = match expected.and_then(|expected| wanted(&key_name, expected, value)) {
        Some((wanted, remedy)) => (format!("must be {wanted}, not {}", shown(value)), remedy),
        None => (format!("cannot be used: {error}"), "give it another value".to_owned()),
    };
    let position = Position(Some(place_of(key.text(), text)?));
    Some(JsonError::Member { key: key_name, problem, position, remedy })
}

/// What was expected, for people, and what to write instead.
fn wanted(name: &str, expected: &str, value: Raw<'_>) -> Option<(&'static str, String)> {
    if name == "requiredCapabilities" {
        let known = "write some of elicitation, elicitation.url, sampling and roots, such as [\"sampling\"]";
        return Some(("a list of what a client offers", known.into()));
    }
    let inner = value.string().unwrap_or_default();
    let inner = inner.trim();
    match expected {
        "u64" | "u32" | "usize" => {
            let is_number = !inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_digit());
            let remedy = if is_number {
                format!("write {inner} without quotes")
            } else {
                "write a whole number".into()
            };
            Some(("a whole number of at least 0", remedy))
        }
        "a boolean" => {
            let word = inner.to_ascii_lowercase();
            let is_boolean = matches!(&*word, "true" | "false");
            let remedy = if is_boolean {
                format!("write {word} without quotes")
            } else {
                "write true or false".into()
            };
            Some(("true or false", remedy))
        }
        "u8" | "a sequence" if name == "successExitCodes" => {
            Some(("a list of exit codes", "write whole numbers from 0 to 255, such as [0, 1]".into()))
        }
        "a sequence" => Some(("an array", "write it between [ and ]".into())),
        "a string" if name == "scopes" && value.is_array() => {
            Some(("an array of strings", "put each in quotes".into()))
        }
        "a string" => Some(("a string", "put it in quotes".into())),
        _ => None,
    }
}

/// A value as its author wrote it, shortened.
fn shown(value: Raw<'_>) -> String {
    const LONGEST: usize = 40;
    if value.is_object() || value.is_array() {
        return value.kind().to_owned();
    }
    let kind = if value.is_string() { "the string " } else { "" };
    format!("{kind}{}", clip(value.text(), LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declarations::metadata::Metadata;

    #[test]
    fn a_wrong_type_is_named_with_its_place_and_what_to_write() {
        for (member, words) in [
            (
                r#""timeoutSecs": "90""#,
                r#"`timeoutSecs` must be a whole number of at least 0, not the string "90" at line 3 column 2; write 90 without quotes"#,
            ),
            (
                r#""timeoutSecs": 1.5"#,
                "`timeoutSecs` must be a whole number of at least 0, not 1.5 at line 3 column 2; write a whole number",
            ),
            (
                r#""progressExtendsTimeout": "True""#,
                r#"`progressExtendsTimeout` must be true or false, not the string "True" at line 3 column 2; write true without quotes"#,
            ),
            (
                r#""description": ["a"]"#,
                "`description` must be a string, not an array at line 3 column 2; put it in quotes",
            ),
            (
                r#""successExitCodes": 1"#,
                "`successExitCodes` must be a list of exit codes, not 1 at line 3 column 2; write whole numbers from 0 \
                 to 255, such as [0, 1]",
            ),
            (
                r#""successExitCodes": [0, 256]"#,
                "`successExitCodes` must be a list of exit codes, not an array at line 3 column 2; write whole numbers \
                 from 0 to 255, such as [0, 1]",
            ),
            (
                r#""scopes": "admin""#,
                r#"`scopes` must be an array, not the string "admin" at line 3 column 2; write it between [ and ]"#,
            ),
            (
                r#""scopes": [1]"#,
                "`scopes` must be an array of strings, not an array at line 3 column 2; put each in quotes",
            ),
        ] {
            let text = format!("{{\n \"name\": \"é\",\n {member}\n}}");
            assert_eq!(describe_wrong_type::<Metadata>(&text).unwrap().to_string(), words);
        }
        assert_eq!(describe_wrong_type::<Metadata>(r#"{"name": "a", "other": 5}"#), None);
    }
}
