//! Object filters, and filters on the kinds of values.

use jaq_core::native::bome;
use jaq_core::{Error, ValT};

use super::{Call, Entry, NONE, ONE, Results, items, of_input, of_one};
use crate::order::sorted_keys;
use crate::value::{Object, Result, Value};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("null", NONE, |_| bome(Ok(Value::Null))),
    ("true", NONE, |_| bome(Ok(true.into()))),
    ("false", NONE, |_| bome(Ok(false.into()))),
    ("not", NONE, |call| bome(Ok((!call.1.is_true()).into()))),
    ("type", NONE, |call| bome(Ok(Value::string(call.1.kind())))),
    ("_error", NONE, |call| bome(Err(Error::new(call.1)))),
    ("keys", NONE, |call| of_input(call, |value| keys(value, true))),
    ("keys_unsorted", NONE, |call| of_input(call, |value| keys(value, false))),
    ("has", ONE, |call| of_one(call, has)),
    ("to_entries", NONE, |call| of_input(call, to_entries)),
    ("from_entries", NONE, |call| of_input(call, from_entries)),
    ("builtins", NONE, |_| bome(Ok(super::names()))),
];

/// Builds an object of keys and values, which alternate among the arguments; the last argument counts them.
pub(super) fn build(mut call: Call) -> Results {
    let mut left = call.0.pop_var().as_f64().unwrap_or(0.0);
    let mut members = Vec::new();
    while left > 0.0 {
        let value = call.0.pop_var();
        members.push((call.0.pop_var(), value));
        left -= 1.0;
    }
    members.reverse();
    bome(Value::from_map(members))
}

fn keys(value: &Value, sort: bool) -> Result {
    match value {
        Value::Array(items) => Ok((0..items.len()).map(Value::from).collect()),
        Value::Object(members) if sort => {
            Ok(sorted_keys(members).into_iter().cloned().map(Value::String).collect())
        }
        Value::Object(members) => Ok(members.keys().cloned().map(Value::String).collect()),
        _ => Value::fail(format!("{} has no keys", value.described())),
    }
}

fn has(value: &Value, key: &Value) -> Result {
    #[expect(clippy::cast_precision_loss, reason = "lengths are far below the precision of a double")]
    match (value, key) {
        (Value::Object(members), Value::String(name)) => Ok(members.contains_key(name).into()),
        (Value::Array(items), Value::Number(index)) => {
            Ok((index.value() >= 0.0 && index.value() < items.len() as f64).into())
        }
        _ => Value::fail(format!("Cannot check whether {} has a {} key", value.kind(), key.kind())),
    }
}

fn to_entries(value: &Value) -> Result {
    if !matches!(value, Value::Array(_) | Value::Object(_)) {
        return keys(value, false);
    }
    let entry = |(key, value)| Value::object([("key".into(), key), ("value".into(), value)]);
    value.clone().key_values().map(|pair| pair.map(entry)).collect()
}

fn from_entries(value: &Value) -> Result {
    let mut object = Object::default();
    for entry in items(value)? {
        let name = member(&entry, &["key", "k", "name", "Name", "Key", "K"], |value| {
            !matches!(value, Value::Null | Value::Bool(false))
        })?;
        let value = member(&entry, &["value", "v", "Value", "V"], |_| true)?;
        let name = match name.unwrap_or_default() {
            Value::String(name) => name,
            name @ (Value::Bool(_) | Value::Number(_)) => name.to_text(),
            other => return Value::fail(format!("Cannot use {} as object key", other.described())),
        };
        object.insert(name, value.unwrap_or_default());
    }
    Ok(Value::Object(object.into()))
}

/// The first member with one of the names that exists and fits.
fn member(entry: &Value, names: &[&str], fits: impl Fn(&Value) -> bool) -> Result<Option<Value>> {
    let Value::Object(members) = entry else {
        return Value::fail(format!("Cannot index {} with string \"{}\"", entry.kind(), names[0]));
    };
    Ok(names.iter().filter_map(|name| members.get(*name)).find(|value| fits(value)).cloned())
}
