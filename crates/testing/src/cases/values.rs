//! Values that a step of a case keeps for later steps, which write `${NAME}` for them.

use crate::cases::case::{Expect, ExpectedError, FileAfter, Kept, Step};
use mcp_bash_spelling::nearest;
use mcp_bash_yaml::{Node, Wrong};
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[expect(clippy::expect_used, reason = "a constant pattern")]
static NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\$\{([A-Za-z][A-Za-z0-9_]*)\}").expect("the pattern is valid"));

#[derive(Debug, Default)]
pub(crate) struct Values(BTreeMap<String, Value>);

impl Values {
    /// Keeps what a step wants of its result: a text, and the value that it is, if it is one.
    pub(crate) fn keep(&mut self, step: &Step, text: &str, value: Option<&Value>) -> Result<(), String> {
        for (name, kept) in &step.keep {
            let found = match kept {
                Kept::Text => Value::from(text.strip_suffix('\n').unwrap_or(text)),
                Kept::At(pointer) => value
                    .and_then(|value| value.pointer(pointer))
                    .cloned()
                    .ok_or_else(|| format!("the result has no `{pointer}` to keep as `{name}`"))?,
                Kept::Match(pattern) => {
                    let found = pattern.regex.captures(text).ok_or_else(|| {
                        format!("nothing in the result matches `{}` to keep as `{name}`", pattern.written)
                    })?;
                    let matched = found.get(1).or_else(|| found.get(0)).map_or("", |part| part.as_str());
                    Value::from(matched)
                }
            };
            self.0.insert(name.clone(), found);
        }
        Ok(())
    }

    /// A text with values for names. A value that is no text becomes JSON.
    pub(crate) fn filled(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let replaced = NAME.replace_all(text, |found: &regex::Captures<'_>| match self.0.get(&found[1]) {
            Some(Value::String(value)) => value.clone(),
            Some(value) => value.to_string(),
            None => found[0].to_owned(),
        });
        replaced.into_owned()
    }

    /// A value with values for names. A text that is only a name becomes the value, whatever its type.
    pub(crate) fn filled_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let name = text.strip_prefix("${").and_then(|text| text.strip_suffix('}'));
                let whole = name.and_then(|name| self.0.get(name)).cloned();
                whole.unwrap_or_else(|| Value::String(self.filled(text)))
            }
            Value::Array(items) => items.iter().map(|item| self.filled_value(item)).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), self.filled_value(value))).collect()
            }
            other => other.clone(),
        }
    }

    /// What is expected, with values for names. Patterns stay as they are written.
    pub(crate) fn filled_expect(&self, expect: &Expect) -> Expect {
        let texts = |texts: &[String]| texts.iter().map(|text| self.filled(text)).collect();
        let mut filled = expect.clone();
        filled.text = expect.text.as_deref().map(|text| self.filled(text));
        filled.contains = texts(&expect.contains);
        filled.lacks = texts(&expect.lacks);
        filled.structured = expect.structured.as_ref().map(|value| self.filled_value(value));
        filled.structured_part = expect.structured_part.as_ref().map(|value| self.filled_value(value));
        filled.asks = expect.asks.as_deref().map(texts);
        if let Some(ExpectedError { contains, .. }) = &mut filled.error {
            *contains = texts(contains);
        }
        for (_, after) in &mut filled.files {
            match after {
                FileAfter::Exactly(text) => *text = self.filled(text),
                FileAfter::Such { contains, .. } => *contains = texts(contains),
                FileAfter::There | FileAfter::Absent => {}
            }
        }
        filled
    }
}

/// Refuses a name that is used before its value is kept, or that looks like a misspelled one. Any other `${…}` is text.
pub(crate) fn check_names(node: &Node, step: &Step, earlier: &[Step]) -> Result<(), Wrong> {
    let names = |step: &Step| step.keep.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let kept: Vec<String> = earlier.iter().flat_map(names).collect();
    let own = names(step);
    let written = node.to_value().to_string();
    for found in NAME.captures_iter(&written) {
        let name = &found[1];
        if ["dir", "project"].contains(&name) || kept.iter().any(|kept| kept == name) {
            continue;
        }
        if own.iter().any(|own| own == name) {
            return Err(
                node.wrong(format!("`${{{name}}}` is kept by this step, and only later steps can use it"))
            );
        }
        if let Some(meant) = nearest(name, kept.iter().map(String::as_str)) {
            return Err(node.wrong(format!("no earlier step keeps `{name}`; did you mean `${{{meant}}}`?")));
        }
    }
    Ok(())
}
