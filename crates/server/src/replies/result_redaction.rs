//! Result redaction: applies the redactions of the policy before a result is sent or stored.

use mcp_bash_policy::Redactions;
use serde_json::Value;

/// Redacts the output of a tool: a whole result with `content`, any other JSON, or text.
pub(crate) fn output(text: &str, redactions: &Redactions) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(text) else {
        return redactions.text(text).into_owned();
    };
    if !value["content"].is_array() {
        return redactions.text(text).into_owned();
    }
    for (name, member) in value.as_object_mut().into_iter().flatten() {
        match (&**name, member) {
            ("content", Value::Array(items)) => items.iter_mut().for_each(|item| content(item, redactions)),
            (_, member) => drop(redactions.value(member)),
        }
    }
    value.to_string()
}

/// Redacts a list of resource contents.
pub(crate) fn contents(text: &str, redactions: &Redactions) -> String {
    let Ok(mut list) = serde_json::from_str::<Value>(text) else { return redactions.text(text).into_owned() };
    list.as_array_mut().into_iter().flatten().for_each(|item| content(item, redactions));
    list.to_string()
}

/// Redacts one content item. Images, audio and other binary data stay as they are.
fn content(item: &mut Value, redactions: &Redactions) {
    for (name, member) in item.as_object_mut().into_iter().flatten() {
        match (&**name, member) {
            ("text", Value::String(text)) => *text = redactions.text(text).into_owned(),
            ("data" | "blob", Value::String(_)) => {}
            ("resource" | "content", inner @ Value::Object(_)) => content(inner, redactions),
            (_, member) => *member = patterns(member.take(), redactions),
        }
    }
}

/// Only patterns apply outside of texts: JSON pointers address the author's result.
fn patterns(value: Value, redactions: &Redactions) -> Value {
    match value {
        Value::String(text) => Value::String(redactions.patterns(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(|item| patterns(item, redactions)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, member)| (name, patterns(member, redactions))).collect()
        }
        other => other,
    }
}
