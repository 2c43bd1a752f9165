//! Equality in the sense of JSON Schema: numbers by value, objects in any order.

use crate::decimal::{Decimal, compare};
use crate::tree::{Body, Tree};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write;

/// Whether a value equals the author's value in `const` or `enum`.
pub(crate) fn is_value(tree: &Tree<'_>, expected: &Value) -> bool {
    match (&tree.body, expected) {
        (Body::Null, Value::Null) => true,
        (Body::Boolean(given), Value::Bool(expected)) => given == expected,
        (Body::Number, Value::Number(expected)) => compare(tree.text, expected).is_eq(),
        (Body::String(given), Value::String(expected)) => given == expected,
        (Body::Array(given), Value::Array(expected)) => {
            given.len() == expected.len()
                && given.iter().zip(expected).all(|(one, other)| is_value(one, other))
        }
        (Body::Object(given), Value::Object(expected)) => {
            let same =
                |(name, other): (&String, &Value)| given.get(name).is_some_and(|one| is_value(one, other));
            given.list.len() == expected.len() && expected.iter().all(same)
        }
        _ => false,
    }
}

/// The first element that equals an earlier one: the indices of both. It takes time in proportion to the text, whatever
/// the values are.
pub(crate) fn first_repeat(elements: &[Tree<'_>]) -> Option<(usize, usize)> {
    if elements.len() < 2 {
        return None;
    }
    let mut seen = HashMap::with_capacity(elements.len());
    elements.iter().enumerate().find_map(|(place, element)| {
        let mut key = String::with_capacity(element.text.len());
        write_key(element, &mut key);
        seen.insert(key, place).map(|earlier| (earlier, place))
    })
}

/// Appends a text that two values share exactly when they are equal.
fn write_key(tree: &Tree<'_>, key: &mut String) {
    // Writing to a string cannot fail.
    let _ = match &tree.body {
        Body::Null | Body::Boolean(_) => key.write_str(tree.text),
        Body::Number => Decimal::read(tree.text).write_key(key),
        Body::String(string) => write!(key, "{}:{string}", string.len()),
        Body::Array(elements) => {
            key.push('[');
            for element in elements {
                write_key(element, key);
                key.push(',');
            }
            key.write_char(']')
        }
        Body::Object(members) => {
            key.push('{');
            for member in members.sorted() {
                let _ = write!(key, "{}:{}", member.name.len(), member.name);
                write_key(&member.value, key);
                key.push(',');
            }
            key.write_char('}')
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn repeat(text: &str) -> Option<(usize, usize)> {
        let tree = Tree::read(text).unwrap_or_else(|error| panic!("{error:?}"));
        let Body::Array(elements) = &tree.body else { panic!("not an array") };
        first_repeat(elements)
    }

    #[test]
    fn finds_repeats_by_meaning() {
        assert_eq!(repeat(r#"[1, "1", true, null, [1], {"a": 1}]"#), None);
        assert_eq!(repeat("[2, 1, 1.0]"), Some((1, 2)));
        assert_eq!(repeat(r#"[{"a": 1, "b": [2]}, 3, {"b": [2.0], "a": 1}]"#), Some((0, 2)));
        assert_eq!(repeat(r#"["\u0061", "a"]"#), Some((0, 1)));
        assert_eq!(repeat(r#"[[], [[]], [[], []], {}, "", "[]"]"#), None);
        assert_eq!(repeat(r#"[["a,1:b"], ["a", "b"]]"#), None);
        assert_eq!(repeat("[12345678901234567890123, 12345678901234567890124]"), None);
    }

    #[test]
    fn compares_with_what_the_author_wrote() {
        let is = |text: &str, expected: Value| {
            is_value(&Tree::read(text).unwrap_or_else(|error| panic!("{error:?}")), &expected)
        };
        assert!(is("1.0", json!(1)));
        assert!(is("0.10", json!(0.1)));
        assert!(is(r#"{"b": [null], "a": "x"}"#, json!({"a": "x", "b": [null]})));
        assert!(is("123456789012345678901234567890", json!(123_456_789_012_345_678_901_234_567_890_f64)));
        assert!(!is("9007199254740993", json!(9_007_199_254_740_992_u64)));
        assert!(!is("true", json!(1)));
        assert!(!is(r#"{"a": 1, "b": 2}"#, json!({"a": 1})));
    }
}
