//! Prompt arguments: the values for the placeholders of a template.

use mcp_bash_project::Prompt;
use mcp_bash_wire::{Raw, RpcError, Scanner};
use serde_json::json;
use std::collections::BTreeMap;

/// The arguments of one request, with defaults for missing ones.
#[derive(Debug, Default)]
pub(super) struct Values {
    values: BTreeMap<String, String>,
    declared: Vec<String>,
}

/// A longer name is not a placeholder.
const LONGEST_NAME: usize = 256;

impl Values {
    /// Checks the client's arguments against the declaration of the prompt.
    pub(super) fn read(prompt: &Prompt, given: Option<Raw<'_>>) -> Result<Self, RpcError> {
        let (mut values, mut wrong) = (BTreeMap::new(), Vec::new());
        if let Some(given) = given {
            Scanner::again(given)
                .members(|name, value| {
                    let name = name.string().unwrap_or_default().into_owned();
                    match value.string() {
                        Some(text) => drop(values.insert(name, text.into_owned())),
                        None => wrong.push(format!("`{name}` is {}", value.kind())),
                    }
                })
                .map_err(|error| RpcError::invalid_params(format!("Invalid params: {error}")))?;
        }
        if !wrong.is_empty() {
            return Err(RpcError::invalid_params(format!(
                "Invalid params: the arguments of a prompt must be strings, but {}",
                wrong.join(", ")
            )));
        }
        let (mut missing, mut declared) = (Vec::new(), Vec::new());
        for argument in &prompt.arguments {
            declared.push(argument.name.clone());
            match &argument.default {
                _ if values.contains_key(&argument.name) => {}
                Some(default) => drop(values.insert(argument.name.clone(), default.clone())),
                None if argument.required => missing.push(format!("`{}`", argument.name)),
                None => {}
            }
        }
        if !missing.is_empty() {
            return Err(RpcError::invalid_params(format!(
                "Invalid params: the prompt '{}' lacks {}",
                prompt.name,
                missing.join(", ")
            )));
        }
        Ok(Self { values, declared })
    }

    /// All values as JSON object.
    pub(super) fn json(&self) -> String {
        json!(self.values).to_string()
    }

    /// Fills the placeholders of a text: `{{name}}` for given arguments, and `${name}` for declared ones. One pass, so
    /// placeholders inside values are not filled. Unknown placeholders stay as they are. `None` if the result would exceed
    /// `most` bytes.
    pub(super) fn fill(&self, text: &str, most: usize) -> Option<String> {
        let (mut filled, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(at) = rest.find(['{', '$']) {
            filled.push_str(&rest[..at]);
            rest = &rest[at..];
            // Text that is not a placeholder begins with a one-byte character.
            let (taken, value) = self.place(rest).unwrap_or((1, &rest[..1]));
            if filled.len() + value.len() > most {
                return None;
            }
            filled.push_str(value);
            rest = &rest[taken..];
        }
        filled.push_str(rest);
        (filled.len() <= most).then_some(filled)
    }

    /// The length of the placeholder at the start of `text`, and its value.
    fn place(&self, text: &str) -> Option<(usize, &str)> {
        let (inside, is_shell, ending) = match text.strip_prefix("{{") {
            Some(inside) => (inside, false, "}}"),
            None => (text.strip_prefix("${")?, true, "}"),
        };
        let end = inside.bytes().take(LONGEST_NAME).position(|byte| byte == b'}')?;
        let name = &inside[..end];
        if !inside[end..].starts_with(ending)
            || (is_shell && !self.declared.iter().any(|known| known == name))
        {
            return None;
        }
        Some((2 + name.len() + ending.len(), self.values.get(name)?))
    }
}

#[cfg(test)]
mod tests {
    use super::Values;
    use proptest::prelude::*;

    fn values() -> Values {
        let pairs = [("a", "{{b}} ${b} $& \\1"), ("b", "B"), ("extra", "E")];
        let values = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Values { values, declared: ["a", "b", "c"].map(str::to_owned).into() }
    }

    #[test]
    fn places_are_filled_once_and_others_stay() {
        let cases = [
            ("{{b}}-${b}", "B-B"),
            ("{{a}}", "{{b}} ${b} $& \\1"),
            ("{{extra}} ${extra} ${HOME} {{c}} ${c} {{ b }}", "E ${extra} ${HOME} {{c}} ${c} {{ b }}"),
            ("{{{b}}} {b} $b $${b} {{b} ${b", "{B} {b} $b $B {{b} ${b"),
            ("", ""),
        ];
        for (template, expected) in cases {
            assert_eq!(values().fill(template, 99).as_deref(), Some(expected), "{template}");
        }
        assert_eq!(values().fill("{{b}}{{b}}", 2).as_deref(), Some("BB"));
        assert_eq!(values().fill("{{b}}{{b}}", 1), None);
    }

    proptest! {
        #[test]
        fn whatever_the_template_is_the_rest_of_it_stays(text in "[{}$abé]{0,40}") {
            let none = Values::default();
            prop_assert_eq!(none.fill(&text, 999), Some(text.clone()));
            values().fill(&text, 999);
        }
    }
}
