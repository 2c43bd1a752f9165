//! String filters.

use jaq_core::native::bome;

use super::{Entry, NONE, ONE, of_input, of_one};
use crate::arithmetic;
use crate::value::{Result, Value};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("tostring", NONE, |call| of_input(call, |value| Ok(Value::String(value.to_text())))),
    ("ascii_downcase", NONE, |call| {
        of_input(call, |value| map(value, "ascii_downcase", str::to_ascii_lowercase))
    }),
    ("ascii_upcase", NONE, |call| {
        of_input(call, |value| map(value, "ascii_upcase", str::to_ascii_uppercase))
    }),
    ("trim", NONE, |call| of_input(call, |value| map(value, "trim", |text| text.trim().to_owned()))),
    ("ltrim", NONE, |call| of_input(call, |value| map(value, "trim", |text| text.trim_start().to_owned()))),
    ("rtrim", NONE, |call| of_input(call, |value| map(value, "trim", |text| text.trim_end().to_owned()))),
    ("explode", NONE, |call| of_input(call, explode)),
    ("implode", NONE, |call| of_input(call, implode)),
    ("utf8bytelength", NONE, |call| {
        of_input(call, |value| match value {
            Value::String(text) => Ok(text.len().into()),
            _ => Value::fail(format!("{} only strings have UTF-8 byte length", value.described())),
        })
    }),
    ("startswith", ONE, |call| {
        of_one(call, |value, part| match (value, part) {
            (Value::String(text), Value::String(part)) => Ok(text.starts_with(&**part).into()),
            _ => Value::fail(NO_START),
        })
    }),
    ("endswith", ONE, |call| {
        of_one(call, |value, part| match (value, part) {
            (Value::String(text), Value::String(part)) => Ok(text.ends_with(&**part).into()),
            _ => Value::fail(NO_END),
        })
    }),
    ("ltrimstr", ONE, |call| of_one(call, strip_start)),
    ("rtrimstr", ONE, |call| of_one(call, strip_end)),
    ("trimstr", ONE, |call| of_one(call, |value, part| strip_end(&strip_start(value, part)?, part))),
    ("split", ONE, |call| {
        of_one(call, |value, separator| match (value, separator) {
            (Value::String(text), Value::String(separator)) => Ok(arithmetic::split(text, separator)),
            _ => Value::fail("split input and separator must be strings"),
        })
    }),
    ("join", ONE, |mut call| {
        let separator = call.0.pop_var();
        bome(super::items(&call.1).and_then(|items| join(&items, &separator)))
    }),
];

fn map(value: &Value, name: &str, change: impl Fn(&str) -> String) -> Result {
    match value {
        Value::String(text) => Ok(Value::string(change(text))),
        _ => Value::fail(format!("{name} input must be a string")),
    }
}

const NO_START: &str = "startswith() requires string inputs";
const NO_END: &str = "endswith() requires string inputs";

fn strip_start(value: &Value, part: &Value) -> Result {
    match (value, part) {
        (Value::String(text), Value::String(part)) => {
            Ok(text.strip_prefix(&**part).map_or_else(|| value.clone(), Value::string))
        }
        _ => Value::fail(NO_START),
    }
}

fn strip_end(value: &Value, part: &Value) -> Result {
    match (value, part) {
        (Value::String(text), Value::String(part)) => {
            Ok(text.strip_suffix(&**part).map_or_else(|| value.clone(), Value::string))
        }
        _ => Value::fail(NO_END),
    }
}

fn explode(value: &Value) -> Result {
    match value {
        Value::String(text) => Ok(text.chars().map(|char| Value::from(f64::from(u32::from(char)))).collect()),
        _ => Value::fail("explode input must be a string"),
    }
}

fn implode(value: &Value) -> Result {
    let Value::Array(items) = value else { return Value::fail("implode input must be an array") };
    let mut text = String::new();
    for item in items.iter() {
        let Some(number) = item.as_f64().filter(|number| !number.is_nan()) else {
            let described = item.described();
            return Value::fail(format!(
                "{described} can't be imploded, unicode codepoint needs to be numeric"
            ));
        };
        text.push(char_of(number));
    }
    Ok(Value::string(text))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what is no character is replaced"
)]
fn char_of(number: f64) -> char {
    char::from_u32(number as u32).filter(|_| number >= 0.0).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn join(items: &[Value], separator: &Value) -> Result {
    if items.is_empty() {
        return Ok(Value::string(""));
    }
    let Value::String(separator) = separator else {
        let first = Value::string("") + separator.clone();
        return first.and_then(|first| first + Value::string(""));
    };
    let mut joined = String::new();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            joined.push_str(separator);
        }
        match item {
            Value::Null => {}
            Value::Array(_) | Value::Object(_) => return Value::string(joined) + item.clone(),
            other => joined.push_str(&other.to_text()),
        }
    }
    Ok(Value::string(joined))
}
