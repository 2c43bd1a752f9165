//! Redaction: parts of a result that are replaced before it leaves.

use crate::pointer::Pointer;
use mcp_bash_cel::Pattern;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// What replaces a redacted part.
const REDACTED: &str = "[redacted]";

/// One entry of a rule's `redact`.
#[derive(Debug)]
pub(crate) enum Redaction {
    Pointer(Pointer),
    Pattern(Pattern),
}

/// The redactions of one result: those of all rules that matched.
#[derive(Debug, Default, Clone)]
pub struct Redactions<'p>(pub(crate) Vec<&'p Redaction>);

impl Redactions<'_> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text without the redacted parts. Pointers apply if the text is one JSON value, patterns everywhere.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        match serde_json::from_str::<Value>(text) {
            Ok(mut value) if value.is_object() || value.is_array() => {
                if self.value(&mut value) {
                    Cow::Owned(value.to_string())
                } else {
                    Cow::Borrowed(text)
                }
            }
            _ => self.patterns(text),
        }
    }

    /// Redacts a JSON value: pointers from its root, patterns in all of its texts, numbers and names of members. Returns
    /// whether it changed.
    pub fn value(&self, value: &mut Value) -> bool {
        let mut changed = false;
        for redaction in &self.0 {
            if let Redaction::Pointer(pointer) = redaction {
                changed |= pointer.replace(value, REDACTED);
            }
        }
        changed | self.patterns_in(value)
    }

    /// Redacts only what patterns match.
    pub fn patterns<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut redacted = Cow::Borrowed(text);
        for redaction in &self.0 {
            if let Redaction::Pattern(pattern) = redaction
                && let Cow::Owned(shorter) = pattern.replace_all(&redacted, REDACTED)
            {
                redacted = Cow::Owned(shorter);
            }
        }
        redacted
    }

    fn patterns_in(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => self.replaced(text).map(|redacted| *text = redacted).is_some(),
            Value::Number(number) => {
                let redacted = self.replaced(&number.to_string());
                redacted.map(|redacted| *value = Value::String(redacted)).is_some()
            }
            Value::Array(items) => {
                items.iter_mut().fold(false, |changed, item| self.patterns_in(item) | changed)
            }
            Value::Object(members) => {
                let mut changed =
                    members.values_mut().fold(false, |changed, item| self.patterns_in(item) | changed);
                if members.keys().any(|name| self.replaced(name).is_some()) {
                    let named = std::mem::take(members).into_iter();
                    *members = named
                        .map(|(name, item)| (self.patterns(&name).into_owned(), item))
                        .collect::<Map<_, _>>();
                    changed = true;
                }
                changed
            }
            Value::Null | Value::Bool(_) => false,
        }
    }

    fn replaced(&self, text: &str) -> Option<String> {
        match self.patterns(text) {
            Cow::Owned(redacted) => Some(redacted),
            Cow::Borrowed(_) => None,
        }
    }
}
