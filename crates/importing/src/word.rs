//! Elements of `command`, as docs/arguments.md describes them.

use serde_json::{Value, json};

/// A word that is always the same.
pub(crate) fn fixed(word: &str) -> Value {
    Value::from(escaped(word))
}

/// The value of an argument as a word.
pub(crate) fn place(argument: &str) -> String {
    format!("{{{argument}}}")
}

/// A word for each element of a list.
pub(crate) fn each(argument: &str) -> String {
    format!("{{{argument}...}}")
}

/// Words that are present together, or omitted if an argument is absent.
pub(crate) fn group(words: &[String]) -> Value {
    json!(words)
}

/// A flag that is present if the argument is true.
pub(crate) fn flag(word: &str, argument: &str) -> Value {
    json!({ "flag": word, "if": argument })
}

/// The author's own braces are doubled.
pub(crate) fn escaped(word: &str) -> String {
    word.replace('{', "{{").replace('}', "}}")
}
