//! Entry editing: adds an entry to a text or removes it, in the format of a client's file. After each change the text
//! is parsed again: if the value of anything but the entry has changed, the change is refused.

pub(crate) mod json;
pub(crate) mod splice;
pub(crate) mod toml;
pub(crate) mod toml_list;
pub(crate) mod yaml;

use crate::client::{Dialect, Format};
use crate::settled::Whole;
use serde_json::{Map, Value};
use splice::{Splice, spliced};
use thiserror::Error;

/// Where an entry is in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) format: Format,
    /// The keys that lead to the servers.
    pub(crate) keys: Vec<String>,
    /// Whether the servers are a list, in which each item has its name.
    pub(crate) is_list: bool,
    /// Prefixes whose first character is written as a JSON escape.
    pub(crate) escaped: &'static [&'static str],
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum EditError {
    #[error("it is broken at {0}")]
    Broken(String),
    #[error("it has no object where the servers stand")]
    NotAnObject,
    #[error("it has `{0}` twice")]
    Twice(String),
    #[error("it is written in a way that cannot be changed safely")]
    Unsafe,
}

const BOM: char = '\u{feff}';

impl At {
    /// Parses a text.
    pub(crate) fn parse(&self, text: &str) -> Result<Value, EditError> {
        let text = text.strip_prefix(BOM).unwrap_or(text);
        let value = match self.format {
            Format::Json(dialect) => json::parse(text, dialect)?,
            Format::Yaml => yaml::parse(text)?,
            Format::Toml => Some(toml::parse(text)?),
        };
        Ok(value.unwrap_or_else(|| Value::Object(Map::new())))
    }

    /// Whether a text can be a complete file.
    pub(crate) fn is_whole(&self, text: &str) -> Whole {
        match self.parse(text) {
            _ if text.trim().is_empty() => Whole::No,
            Err(_) => Whole::No,
            // The last brace is missing until everything is written.
            Ok(_) if matches!(self.format, Format::Json(_)) => Whole::Surely,
            Ok(_) => Whole::Maybe,
        }
    }

    /// Whether a text holds anything but the entry of a name.
    pub(crate) fn holds_more_than(&self, text: &str, name: &str) -> bool {
        let rest = self.parse(text).and_then(|whole| self.changed(whole, name, None));
        match rest.map(|rest| without_emptiness(rest, &self.keys)) {
            Ok(rest) => rest.as_object().is_none_or(|members| !members.is_empty()),
            Err(_) => !text.trim().is_empty(),
        }
    }

    /// The servers in a parsed text, by name.
    pub(crate) fn servers<'v>(&self, whole: &'v Value) -> Vec<(&'v str, &'v Value)> {
        let servers = self.keys.iter().try_fold(whole, |value, key| value.get(key));
        match servers {
            Some(Value::Object(members)) if !self.is_list => {
                members.iter().map(|(name, value)| (name.as_str(), value)).collect()
            }
            Some(Value::Array(items)) if self.is_list => {
                items.iter().filter_map(|item| Some((item["name"].as_str()?, item))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The text with the entry, which replaces one of its name.
    pub(crate) fn with(&self, text: &str, name: &str, value: &Value) -> Result<String, EditError> {
        self.edited(text, name, Some(value), |text| match self.format {
            Format::Json(dialect) => json::put(text, dialect, &self.path(name), value, self.escaped),
            Format::Yaml => yaml::put(text, self, name, value),
            Format::Toml if self.is_list => toml_list::put(text, &self.keys, name, value),
            Format::Toml => toml::put(text, &self.path(name), value),
        })
    }

    /// The text without the entry.
    pub(crate) fn without(&self, text: &str, name: &str) -> Result<String, EditError> {
        self.edited(text, name, None, |text| match self.format {
            Format::Json(dialect) => json::take(text, dialect, &self.path(name)),
            Format::Yaml => yaml::take(text, self, name),
            Format::Toml if self.is_list => toml_list::take(text, &self.keys, name),
            Format::Toml => toml::take(text, &self.path(name)),
        })
    }

    fn path<'a>(&'a self, name: &'a str) -> Vec<&'a str> {
        self.keys.iter().map(String::as_str).chain([name]).collect()
    }

    fn edited(
        &self,
        text: &str,
        name: &str,
        value: Option<&Value>,
        edit: impl FnOnce(&str) -> Result<Vec<Splice>, EditError>,
    ) -> Result<String, EditError> {
        let before = self.parse(text)?;
        let (bom, rest) = text.split_at(if text.starts_with(BOM) { BOM.len_utf8() } else { 0 });
        let after = format!("{bom}{}", spliced(rest, &edit(rest)?));
        let (expected, found) = (self.changed(before, name, value)?, self.parse(&after));
        if found.is_ok_and(|found| {
            without_emptiness(found, &self.keys) == without_emptiness(expected, &self.keys)
        }) {
            Ok(after)
        } else {
            Err(EditError::Unsafe)
        }
    }

    /// What a text should hold afterwards.
    fn changed(&self, mut whole: Value, name: &str, value: Option<&Value>) -> Result<Value, EditError> {
        let mut servers = &mut whole;
        for (depth, key) in self.keys.iter().enumerate() {
            let members = servers.as_object_mut().ok_or(EditError::NotAnObject)?;
            let is_last = depth + 1 == self.keys.len();
            let empty =
                || if is_last && self.is_list { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
            servers = members.entry(key).or_insert_with(empty);
            // In YAML a key without a value is null.
            if servers.is_null() && self.format == Format::Yaml {
                *servers = empty();
            }
        }
        match (servers, value) {
            (Value::Object(members), Some(value)) if !self.is_list => {
                members.insert(name.to_owned(), value.clone());
            }
            (Value::Object(members), None) if !self.is_list => {
                members.shift_remove(name);
            }
            (Value::Array(items), value) if self.is_list => {
                let found = items.iter().position(|item| item["name"] == name);
                match (found, value) {
                    (Some(index), Some(value)) => items[index] = value.clone(),
                    (Some(index), None) => drop(items.remove(index)),
                    (None, Some(value)) => items.push(value.clone()),
                    (None, None) => {}
                }
            }
            _ => return Err(EditError::NotAnObject),
        }
        Ok(whole)
    }
}

/// The text of a JSON object with a member of this name, which replaces one that is there. Everything else stays as it is.
pub fn with_member(text: &str, name: &str, value: &Value) -> Result<String, EditError> {
    let format = Format::Json(Dialect { comments: false, trailing_commas: false });
    At { format, keys: Vec::new(), is_list: false, escaped: &[] }.with(text, name, value)
}

/// The same without an empty list of servers: no key, an empty value and `null` count as equal.
fn without_emptiness(mut whole: Value, keys: &[String]) -> Value {
    let Some((last, first)) = keys.split_last() else { return whole };
    let parent = first.iter().try_fold(&mut whole, |value, key| value.get_mut(key));
    if let Some(members) = parent.and_then(Value::as_object_mut) {
        let is_empty = match members.get(last) {
            Some(Value::Object(members)) => members.is_empty(),
            Some(Value::Array(items)) => items.is_empty(),
            Some(Value::Null) => true,
            _ => false,
        };
        if is_empty {
            members.shift_remove(last);
        }
    }
    whole
}
