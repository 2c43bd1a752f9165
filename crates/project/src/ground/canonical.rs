//! Canonical JSON (RFC 8785), computed on the text itself without building a tree: hashing ten thousand entries must not
//! take longer than reading them.

use mcp_bash_wire::{Limits, Raw, ScanError, Scanner, write};
use serde_json::Value;

/// The canonical form of a JSON text. Invalid JSON stays as it is.
pub(crate) fn canonical(text: &str) -> Vec<u8> {
    let mut out = String::with_capacity(text.len());
    let whole = Scanner::new(text, Limits::default()).whole_value();
    match whole.and_then(|value| push(value, &mut out)) {
        Ok(()) => out.into_bytes(),
        Err(_) => text.as_bytes().to_vec(),
    }
}

/// The scan of the whole text has already bounded the recursion depth.
fn push(value: Raw<'_>, out: &mut String) -> Result<(), ScanError> {
    match value.text().as_bytes().first() {
        Some(b'{') => push_object(value, out),
        Some(b'[') => push_array(value, out),
        Some(b'"') => {
            push_text(value, out);
            Ok(())
        }
        Some(b'-' | b'0'..=b'9') => {
            push_number(value.text(), out);
            Ok(())
        }
        _ => {
            out.push_str(value.text());
            Ok(())
        }
    }
}

fn push_object(value: Raw<'_>, out: &mut String) -> Result<(), ScanError> {
    let mut members = Vec::new();
    Scanner::new(value.text(), Limits::NONE)
        .members(|key, value| members.push((key.string(), key, value)))?;
    // Names are ordered by their UTF-16 code units; for ASCII names that is the order of their bytes.
    if members.iter().all(|(_, key, _)| key.text().is_ascii()) {
        members.sort_by(|(one, ..), (other, ..)| one.cmp(other));
    } else {
        let units = |name: &Option<std::borrow::Cow<'_, str>>| -> Vec<u16> {
            name.as_deref().unwrap_or_default().encode_utf16().collect()
        };
        members.sort_by_cached_key(|(name, ..)| units(name));
    }
    out.push('{');
    for (index, (_, key, value)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_text(key, out);
        out.push(':');
        push(value, out)?;
    }
    out.push('}');
    Ok(())
}

fn push_array(value: Raw<'_>, out: &mut String) -> Result<(), ScanError> {
    let mut elements = Vec::new();
    Scanner::new(value.text(), Limits::NONE).elements(|element| elements.push(element))?;
    out.push('[');
    for (index, element) in elements.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push(element, out)?;
    }
    out.push(']');
    Ok(())
}

fn push_text(value: Raw<'_>, out: &mut String) {
    if value.text().contains('\\')
        && let Some(text) = value.string()
    {
        write::push_string(out, &text);
    } else {
        out.push_str(value.text());
    }
}

/// Writes numbers as JavaScript would. Short integers already have that form.
fn push_number(text: &str, out: &mut String) {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_short = digits.len() <= 15 && digits.bytes().all(|byte| byte.is_ascii_digit()) && text != "-0";
    let number = || serde_json_canonicalizer::to_string(&serde_json::from_str::<Value>(text).ok()?).ok();
    match if is_short { None } else { number() } {
        Some(number) => out.push_str(&number),
        None => out.push_str(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_is_what_the_standard_says(value in values()) {
            let expected = serde_json_canonicalizer::to_vec(&value).unwrap();
            for text in [value.to_string(), format!("{value:#}")] {
                prop_assert_eq!(
                    String::from_utf8(canonical(&text)).unwrap(),
                    String::from_utf8(expected.clone()).unwrap()
                );
            }
        }
    }
}
