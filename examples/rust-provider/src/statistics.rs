//! The length of a text, and the time to read it.

use serde_json::{Value, json};

const WORDS_A_MINUTE: usize = 200;

pub fn call(arguments: &Value) -> Result<Value, String> {
    let text = crate::text(arguments)?;
    let words = text.split_whitespace().count();
    Ok(json!({
        "lines": text.lines().count(),
        "words": words,
        "characters": text.chars().count(),
        "minutes": words.div_ceil(WORDS_A_MINUTE),
    }))
}
