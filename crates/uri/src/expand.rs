//! Values into a template (RFC 6570, section 3).

use crate::operator::Operator;
use crate::percent;
use crate::template::{Modifier, Part, Variable};
use crate::value::{Value, Values};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    #[error(
        "`{variable}` is a list or a map, of which there is no prefix; give it as text, or leave out `:{length}`"
    )]
    PrefixOfMany { variable: String, length: usize },
}

pub(crate) fn expand(parts: &[Part], values: &Values) -> Result<String, ExpandError> {
    let mut uri = String::new();
    for part in parts {
        match part {
            Part::Literal(text) => uri.push_str(text),
            Part::Expression { operator, variables } => {
                let mut written = Expression { uri: &mut uri, operator: *operator, is_first: true };
                for variable in variables {
                    if let Some(value) = values.get(&variable.name) {
                        written.variable(variable, value)?;
                    }
                }
            }
        }
    }
    Ok(uri)
}

/// An expression while it is written.
struct Expression<'a> {
    uri: &'a mut String,
    operator: Operator,
    is_first: bool,
}

impl Expression<'_> {
    fn variable(&mut self, variable: &Variable, value: &Value) -> Result<(), ExpandError> {
        let name = variable.name.as_str();
        match (value, variable.modifier) {
            (Value::Text(text), Modifier::Prefix(length)) => {
                let end = text.char_indices().nth(length).map_or(text.len(), |(end, _)| end);
                self.named(name, &text[..end]);
            }
            (Value::Text(text), _) => self.named(name, text),
            (_, Modifier::Prefix(length)) => {
                return Err(ExpandError::PrefixOfMany { variable: variable.name.clone(), length });
            }
            (Value::List(items), Modifier::Explode) => {
                for item in items {
                    self.named(name, item);
                }
            }
            (Value::Map(pairs), Modifier::Explode) => {
                for (key, value) in pairs {
                    self.pair(key, value);
                }
            }
            (Value::List(items), Modifier::None) => self.joined(name, items.iter()),
            (Value::Map(pairs), Modifier::None) => {
                self.joined(name, pairs.iter().flat_map(|(key, value)| [key, value]));
            }
        }
        Ok(())
    }

    /// What stands before a value.
    fn begin(&mut self) {
        let sign = if self.is_first { self.operator.first() } else { Some(self.operator.separator()) };
        self.uri.extend(sign.map(char::from));
        self.is_first = false;
    }

    fn named(&mut self, name: &str, text: &str) {
        self.begin();
        self.name(name, text.is_empty());
        percent::encode_into(self.uri, text, self.operator.keeps());
    }

    fn name(&mut self, name: &str, value_is_empty: bool) {
        if self.operator.is_named() {
            self.uri.push_str(name);
            if !value_is_empty || self.operator.keeps_equals_sign() {
                self.uri.push('=');
            }
        }
    }

    fn pair(&mut self, key: &str, value: &str) {
        self.begin();
        percent::encode_into(self.uri, key, self.operator.keeps());
        if !value.is_empty() || !self.operator.is_named() || self.operator.keeps_equals_sign() {
            self.uri.push('=');
        }
        percent::encode_into(self.uri, value, self.operator.keeps());
    }

    /// Members with commas between them. A value without any is undefined.
    fn joined<'a>(&mut self, name: &str, members: impl Iterator<Item = &'a String>) {
        for (index, member) in members.enumerate() {
            if index == 0 {
                self.begin();
                self.name(name, false);
            } else {
                self.uri.push(',');
            }
            percent::encode_into(self.uri, member, self.operator.keeps());
        }
    }
}
