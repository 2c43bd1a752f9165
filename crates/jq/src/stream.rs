//! Stream form: a value as the stream of its leaves, as in `--stream` and `tostream`.

use std::collections::VecDeque;

use crate::value::Value;

/// Appends the events of a value: each leaf with its path, and the end of each array and object.
pub(crate) fn events(value: &Value, out: &mut VecDeque<Value>) {
    let mut path = Vec::new();
    add(value, &mut path, out);
}

fn add(value: &Value, path: &mut Vec<Value>, out: &mut VecDeque<Value>) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                path.push(Value::from(at));
                add(item, path, out);
                path.pop();
            }
            close(Value::from(items.len() - 1), path, out);
        }
        Value::Object(members) if !members.is_empty() => {
            for (key, member) in members.iter() {
                path.push(Value::String(key.clone()));
                add(member, path, out);
                path.pop();
            }
            let last = members.last().map_or(Value::Null, |(key, _)| Value::String(key.clone()));
            close(last, path, out);
        }
        leaf => out.push_back(Value::array(vec![Value::array(path.clone()), leaf.clone()])),
    }
}

fn close(last: Value, path: &mut Vec<Value>, out: &mut VecDeque<Value>) {
    path.push(last);
    out.push_back(Value::array(vec![Value::array(path.clone())]));
    path.pop();
}
