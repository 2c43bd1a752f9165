//! Redaction: parts of a result that are replaced before it leaves.

use crate::pointer::Pointer;
use mcp_bash_cel::Search;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What replaces a redacted part.
const REDACTED: &str = "[redacted]";

/// The units that all patterns and pointers may cost for one request: some 25 small patterns over 10 MB. What would cost more
/// is replaced as a whole.
const COST: u64 = 1_000_000_000;

/// The units for each value that a pointer looks at.
const UNITS_FOR_A_VALUE: usize = 10;

/// One entry of a rule's `redact`.
#[derive(Debug)]
pub(crate) enum Redaction {
    Pointer(Pointer),
    Pattern(Box<Search>),
}

/// The redactions of one request: those of all rules that matched.
#[derive(Debug)]
pub struct Redactions {
    of_rules: Vec<Arc<[Redaction]>>,
    /// The units that are left.
    left: AtomicU64,
}

impl Default for Redactions {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Redactions {
    pub(crate) fn new(of_rules: Vec<Arc<[Redaction]>>) -> Self {
        Self { of_rules, left: AtomicU64::new(COST) }
    }

    pub fn is_empty(&self) -> bool {
        self.of_rules.is_empty()
    }

    /// Adds those of another decision on the same request.
    pub fn extend(&mut self, others: Self) {
        self.of_rules.extend(others.of_rules);
    }

    fn all(&self) -> impl Iterator<Item = &Redaction> {
        self.of_rules.iter().flat_map(|of_rule| of_rule.iter())
    }

    /// The text without the redacted parts. Pointers apply if the text is one JSON value, patterns everywhere. Of members
    /// with one name, only the last stays.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        match serde_json::from_str::<Value>(text) {
            Ok(mut value) if value.is_object() || value.is_array() => {
                if self.value(&mut value) || has_repeated_names(text, &value) {
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
        for redaction in self.all() {
            let Redaction::Pointer(pointer) = redaction else { continue };
            let (was_there, looked_at) = pointer.replace(value, REDACTED);
            changed |= was_there;
            if !self.spend(looked_at.saturating_mul(UNITS_FOR_A_VALUE)) {
                *value = Value::String(REDACTED.to_owned());
                return true;
            }
        }
        changed | self.patterns_in(value)
    }

    /// Redacts only what patterns match.
    pub fn patterns<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut redacted = Cow::Borrowed(text);
        for redaction in self.all() {
            let Redaction::Pattern(pattern) = redaction else { continue };
            match pattern.replace_all(&redacted, REDACTED, &|units| self.spend(units)) {
                Ok(Cow::Borrowed(_)) => {}
                Ok(Cow::Owned(shorter)) => redacted = Cow::Owned(shorter),
                Err(_) => return Cow::Borrowed(REDACTED),
            }
        }
        redacted
    }

    /// Redacts what patterns match in all texts, numbers and names of members. Returns whether it changed.
    pub fn patterns_in(&self, value: &mut Value) -> bool {
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
        let redacted = self.patterns(text);
        (*redacted != *text).then(|| redacted.into_owned())
    }

    /// Pays for matching. Once the budget is used up, nothing more is matched.
    fn spend(&self, units: usize) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        let rest = left.checked_sub(units as u64);
        self.left.store(rest.unwrap_or(0), Ordering::Relaxed);
        rest.is_some() && left > 0
    }
}

/// Whether the text has members that are not in its value: of several with one name, it has only the last.
fn has_repeated_names(text: &str, value: &Value) -> bool {
    // Outside of strings, each colon follows a name.
    let (mut colons, mut in_string, mut is_escaped) = (0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => in_string = !in_string,
            b':' if !in_string => colons += 1,
            _ => {}
        }
    }
    colons != members(value)
}

/// The number of members of all objects in a value.
fn members(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(members).sum(),
        Value::Object(all) => all.len() + all.values().map(members).sum::<usize>(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn redactions(left: u64) -> Redactions {
        let pattern = Redaction::Pattern(Box::new(Search::compile("[0-9]{4}").unwrap()));
        Redactions { of_rules: vec![vec![pattern].into()], left: AtomicU64::new(left) }
    }

    #[test]
    fn a_text_beyond_the_budget_is_replaced_as_a_whole() {
        assert_eq!(redactions(COST).patterns("pin 1234 here"), "pin [redacted] here");
        assert_eq!(redactions(10).patterns("pin 1234 here"), REDACTED);
        let mut value = json!({ "a": "pin 1234", "b": ["long enough to cost", true] });
        assert!(redactions(0).value(&mut value));
        assert_eq!(value, json!({ "[redacted]": ["[redacted]", true] }));
    }

    #[test]
    fn a_member_whose_name_occurs_again_is_not_passed_on() {
        let redactions = redactions(COST);
        assert_eq!(redactions.text(r#"{"a": "pin 1234", "a": "\\\":"}"#), r#"{"a":"\\\":"}"#);
        assert_eq!(redactions.text(r#"[{"a": {"b": ": \\"}}]"#), r#"[{"a": {"b": ": \\"}}]"#);
    }

    #[test]
    fn pointers_are_paid_for_too() {
        let pointer = || Redaction::Pointer(Pointer::parse("/*/*/a").unwrap());
        let with = |count: usize| Redactions {
            of_rules: vec![(0..count).map(|_| pointer()).collect()],
            left: AtomicU64::new(40_000),
        };
        let row = json!([{ "a": 1, "b": 2 }]);
        let rows: Value = vec![row; 100].into();
        let mut redacted = rows.clone();
        assert!(with(10).value(&mut redacted));
        assert_eq!(redacted[99][0], json!({ "a": REDACTED, "b": 2 }));
        let mut redacted = rows;
        assert!(with(100).value(&mut redacted));
        assert_eq!(redacted, REDACTED);
    }

    #[test]
    fn a_pattern_that_looks_at_the_rest_for_each_match_does_not_take_quadratic_time() {
        let pattern = Redaction::Pattern(Box::new(Search::compile("BEGIN[^;]*;|BEGIN").unwrap()));
        let of_rules = vec![vec![pattern].into()];
        let redactions = Redactions { of_rules, left: AtomicU64::new(20_000_000) };
        assert_eq!(redactions.patterns("BEGIN key; BEGIN"), "[redacted] [redacted]");
        // Each search looks at all of the rest: some 10,000,000 bytes for this text.
        assert_eq!(redactions.patterns(&"BEGIN ".repeat(2_000)), REDACTED);
        assert_eq!(redactions.patterns("short"), REDACTED, "the budget is used up");
    }

    #[test]
    fn all_texts_of_a_request_share_the_budget() {
        let redactions = redactions(80);
        assert_eq!(redactions.patterns("a 1234"), "a [redacted]");
        assert_eq!(redactions.patterns(&"x".repeat(100)), REDACTED);
        assert_eq!(redactions.patterns("short"), REDACTED, "the budget does not come back");
    }
}
