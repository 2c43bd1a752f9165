//! JSON inside strings, and values as streams.

use std::collections::VecDeque;

use super::{Entry, NONE, of_input};
use crate::value::{Result, Value};
use crate::{read, stream};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("fromjson", NONE, |call| of_input(call, from_json)),
    ("_events", NONE, |call| {
        of_input(call, |value| {
            let mut events = VecDeque::new();
            stream::events(value, &mut events);
            Ok(events.into_iter().collect())
        })
    }),
];

fn from_json(value: &Value) -> Result {
    let Value::String(text) = value else {
        return Value::fail(format!("{} only strings can be parsed", value.described()));
    };
    match read::read(text.as_bytes()) {
        Ok(value) => Ok(value),
        Err(_) if text.trim().is_empty() => {
            Value::fail(format!("Expected JSON value (while parsing '{text}')"))
        }
        Err(flaw) => {
            let (end, column) =
                if flaw.at >= text.len() { (" at EOF", text.len()) } else { ("", flaw.at + 1) };
            Value::fail(format!("{}{end} at line 1, column {column} (while parsing '{text}')", flaw.what))
        }
    }
}
