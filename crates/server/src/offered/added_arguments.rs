//! Added arguments: some clients add arguments of their own to every call. Tools do not know them, so they are removed before
//! validation, unless the tool's schema declares an argument of that name.

use mcp_bash_wire::{Limits, Object, Scanner};
use std::borrow::Cow;

/// The names, and the client that adds each.
const ADDED: [(&str, &str); 1] = [("wait_for_previous", "Gemini CLI")];

/// Removes from `arguments`, a JSON object, those that a client added and `schema` does not declare.
pub(crate) fn without<'a>(arguments: &'a str, schema: &str) -> Cow<'a, str> {
    let is_added = |name: &str| ADDED.iter().any(|(added, _client)| *added == name);
    if !ADDED.iter().any(|(name, _)| arguments.contains(name)) {
        return Cow::Borrowed(arguments);
    }
    let Ok(whole) = Scanner::new(arguments, Limits::NONE).whole_value() else {
        return Cow::Borrowed(arguments);
    };
    let (mut kept, mut is_changed) = (Vec::new(), false);
    let _ = Scanner::again(whole).members(|key, value| {
        if key.string().is_some_and(|name| is_added(&name) && !declares(schema, &name)) {
            is_changed = true;
        } else {
            kept.push(format!("{}:{}", key.text(), value.text()));
        }
    });
    if is_changed { Cow::Owned(format!("{{{}}}", kept.join(","))) } else { Cow::Borrowed(arguments) }
}

/// Whether `schema` has a property of this name.
fn declares(schema: &str, name: &str) -> bool {
    let declared = || {
        let whole = Scanner::new(schema, Limits::NONE).whole_value().ok()?;
        let properties = Object::read(whole, "the schema", &["properties"]).ok()?.get("properties")?;
        Object::read(properties, "properties", &[name]).ok()?.get(name)
    };
    declared().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_arguments_that_a_client_added_are_removed() {
        let closed = r#"{"type":"object","properties":{"a":{}},"additionalProperties":false}"#;
        for (given, left) in [
            (r#"{"a": 1.10, "wait_for_previous": true}"#, r#"{"a":1.10}"#),
            (r#"{"wait_for_previous":false}"#, "{}"),
            (r#"{"b": {"wait_for_previous": true}}"#, r#"{"b": {"wait_for_previous": true}}"#),
        ] {
            assert_eq!(without(given, closed), left);
        }
    }

    #[test]
    fn a_tool_that_has_such_an_argument_gets_it() {
        let schema = r#"{"properties":{"wait_for_previous":{"type":"boolean"}}}"#;
        let given = r#"{"wait_for_previous":true}"#;
        assert_eq!(without(given, schema), given);
    }
}
