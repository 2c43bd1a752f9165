//! `secrets` in metadata: which secrets a script needs, and how it receives each.

use crate::name::{is_secret_name, is_variable_name};
use mcp_bash_spelling::nearest;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use thiserror::Error;

/// The secrets that a script needs. Empty for most.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    all: Vec<Need>,
}

/// One secret of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// The variable that the script reads.
    pub variable: String,
    /// The name of the secret.
    pub name: String,
    pub given: Given,
}

/// What the variable holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// The value itself.
    Value,
    /// The path of an open descriptor from which the value can be read: `/dev/fd/7`.
    File,
}

/// Why `secrets` of a script cannot be used. The text after the last `; ` is the fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NeedError {
    #[error(
        "`secrets` must be an object; write `{{\"GITHUB_TOKEN\": \"github\"}}`: a variable, and the name of a secret"
    )]
    NotAnObject,
    #[error("`secrets` has `{0}`, which is no name of a variable; use letters, digits and `_`")]
    Variable(String),
    #[error("`secrets` sets {0}, which the server or the system sets; choose another name")]
    Reserved(String),
    #[error(
        "`secrets.{variable}` must be the name of a secret, not a value: letters, digits, `.`, `_` and `-`, at most 64; \
         write where the secret is with `mcp-bash secret set`"
    )]
    Name { variable: String },
    #[error("`secrets.{variable}` has no `name`; write `{{\"name\": \"github\", \"as\": \"file\"}}`")]
    NoName { variable: String },
    #[error("`secrets.{variable}.as` must be `value` or `file`; leave it out for `value`")]
    As { variable: String },
    #[error("`secrets.{variable}` has the key `{key}`, which is not known{}; the keys are `name` and `as`", question(.meant.as_ref()))]
    Key { variable: String, key: String, meant: Option<&'static str> },
}

fn question(meant: Option<&&'static str>) -> String {
    meant.map(|meant| format!(" (did you mean `{meant}`?)")).unwrap_or_default()
}

const KEYS: [&str; 2] = ["name", "as"];

/// Variables that decide how a program is loaded or found, and are nobody's secret.
const RESERVED: [&str; 9] = ["PATH", "HOME", "USER", "SHELL", "TMPDIR", "BASH_ENV", "ENV", "IFS", "PWD"];

impl Needs {
    /// Reads the value of `secrets`.
    pub fn parse(text: &str) -> Result<Self, NeedError> {
        let Ok(value) = serde_json::from_str(text) else { return Err(NeedError::NotAnObject) };
        Self::of_value(value)
    }

    fn of_value(value: Value) -> Result<Self, NeedError> {
        let Value::Object(members) = value else {
            return Err(NeedError::NotAnObject);
        };
        let all = members.into_iter().map(|(variable, value)| Need::read(variable, value));
        Ok(Self { all: all.collect::<Result<_, _>>()? })
    }

    pub fn iter(&self) -> impl Iterator<Item = &Need> {
        self.all.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// These, and those of the file that the script is part of. Its own come first.
    #[must_use]
    pub fn over(&self, file: &Self) -> Self {
        let is_new = |need: &&Need| !self.all.iter().any(|own| own.variable == need.variable);
        Self { all: self.all.iter().chain(file.all.iter().filter(is_new)).cloned().collect() }
    }

    /// The text of a JSON object, if there are any.
    pub fn written(&self) -> Option<String> {
        let member = |need: &Need| {
            let value = match need.given {
                Given::Value => Value::from(need.name.as_str()),
                Given::File => serde_json::json!({ "name": need.name, "as": "file" }),
            };
            (need.variable.clone(), value)
        };
        (!self.is_empty()).then(|| Value::Object(self.iter().map(member).collect()).to_string())
    }
}

impl<'de> Deserialize<'de> for Needs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::of_value(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl Need {
    fn read(variable: String, value: Value) -> Result<Self, NeedError> {
        if !is_variable_name(&variable) {
            return Err(NeedError::Variable(variable));
        }
        let is_ours = variable.starts_with("MCP_") || variable.starts_with("MCPBASH_");
        if is_ours || variable.starts_with("LD_") || RESERVED.contains(&variable.as_str()) {
            return Err(NeedError::Reserved(variable));
        }
        let (name, given) = match value {
            Value::String(name) => (name, Given::Value),
            Value::Object(members) => read_members(&variable, &members)?,
            _ => return Err(NeedError::Name { variable }),
        };
        if is_secret_name(&name) {
            Ok(Self { variable, name, given })
        } else {
            Err(NeedError::Name { variable })
        }
    }
}

fn read_members(variable: &str, members: &Map<String, Value>) -> Result<(String, Given), NeedError> {
    let variable = || variable.to_owned();
    if let Some(key) = members.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let meant = nearest(key, KEYS);
        return Err(NeedError::Key { variable: variable(), key: key.clone(), meant });
    }
    let given = match members.get("as").map(Value::as_str) {
        None | Some(Some("value")) => Given::Value,
        Some(Some("file")) => Given::File,
        Some(_) => return Err(NeedError::As { variable: variable() }),
    };
    match members.get("name") {
        Some(Value::String(name)) => Ok((name.clone(), given)),
        Some(_) => Err(NeedError::Name { variable: variable() }),
        None => Err(NeedError::NoName { variable: variable() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_write_a_need_are_read_and_written_back() {
        let text = r#"{"GITHUB_TOKEN":"github","KEY_FILE":{"name":"deploy-key","as":"file"}}"#;
        let needs = Needs::parse(text).unwrap();
        let [token, key] = &needs.all[..] else { panic!("{needs:?}") };
        assert_eq!(
            (token.variable.as_str(), token.name.as_str(), token.given),
            ("GITHUB_TOKEN", "github", Given::Value)
        );
        assert_eq!((key.name.as_str(), key.given), ("deploy-key", Given::File));
        assert_eq!(needs.written().as_deref(), Some(text));
        assert_eq!(Needs::parse("{}").unwrap().written(), None);
    }

    #[test]
    fn wrong_needs_are_refused_in_words_that_repeat_no_value() {
        for (wrong, said) in [
            (r#"["github"]"#, "must be an object"),
            (r#"{"A-B": "x"}"#, "no name of a variable"),
            (r#"{"PATH": "x"}"#, "sets PATH"),
            (r#"{"LD_PRELOAD": "x"}"#, "sets LD_PRELOAD"),
            (r#"{"MCP_TOOL_NAME": "x"}"#, "sets MCP_TOOL_NAME"),
            (r#"{"A": "../x"}"#, "name of a secret"),
            (r#"{"A": ""}"#, "name of a secret"),
            (r#"{"A": 7}"#, "name of a secret"),
            (r#"{"A": {"as": "file"}}"#, "has no `name`"),
            (r#"{"A": {"name": "x", "as": "fd"}}"#, "`value` or `file`"),
            (r#"{"A": {"nam": "x"}}"#, "did you mean `name`?"),
        ] {
            let error = Needs::parse(wrong).unwrap_err().to_string();
            assert!(error.contains(said), "{wrong}: {error}");
        }
        let literal = Needs::parse(r#"{"A": "ghp_a secret/value+with=signs"}"#).unwrap_err().to_string();
        assert!(!literal.contains("ghp_"), "{literal}");
    }

    #[test]
    fn a_function_adds_to_what_its_file_needs() {
        let file = Needs::parse(r#"{"A": "one", "B": "two"}"#).unwrap();
        let own = Needs::parse(r#"{"B": "three"}"#).unwrap();
        assert_eq!(own.over(&file).written().as_deref(), Some(r#"{"B":"three","A":"one"}"#));
    }
}
