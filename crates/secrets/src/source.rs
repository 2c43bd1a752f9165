//! Source of a secret: the reference that says where its value is.

use crate::error::{FileFault, SecretError, SourceError};
use crate::name::{is_secret_name, is_variable_name};
use crate::private_file::{self, Guard};
use crate::secret::Secret;
use serde_json::{Map, Value};
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// The folder in which container runtimes put secrets.
pub(crate) const CONTAINER_SECRETS: &str = "/run/secrets";

/// How long the value of a command is kept if its entry does not say it.
const CACHE: Duration = Duration::from_secs(300);

/// The longest that it may be kept.
const LONGEST_CACHE: u64 = 24 * 60 * 60;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A variable of the server's environment.
    Variable(String),
    /// The file whose path is in a variable of the server's environment.
    FileOfVariable(String),
    /// A file that only its owner can read.
    File(PathBuf),
    /// A credential of the systemd service.
    Credential(String),
    /// A command that prints the value. The caller runs it.
    Command { words: Vec<String>, cache: Duration },
    /// The value itself, from the operator's own file.
    Value(Secret),
}

/// Who wrote an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    Operator,
    Project,
}

impl Source {
    /// Reads one entry.
    pub(crate) fn parse(entry: &Value, author: Author) -> Result<Self, SourceError> {
        let members = match entry {
            Value::Object(members) => members,
            Value::String(_) if author == Author::Project => return Err(SourceError::Literal),
            _ => return Err(SourceError::NotAnObject),
        };
        let known = ["env", "file", "credential", "command", "cacheSecs", "value"];
        if members.contains_key("value") && author == Author::Project {
            return Err(SourceError::Literal);
        }
        if let Some(key) = members.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(SourceError::Key { key: key.clone() });
        }
        let places: Vec<_> = members.iter().filter(|(key, _)| *key != "cacheSecs").collect();
        let [(key, value)] = places[..] else { return Err(SourceError::NotOne) };
        if key != "command" && members.contains_key("cacheSecs") {
            return Err(SourceError::CacheSecs);
        }
        Self::of_member(key, value, members)
    }

    fn of_member(key: &str, value: &Value, members: &Map<String, Value>) -> Result<Self, SourceError> {
        let text = value.as_str();
        match key {
            "env" => {
                let name = text.filter(|name| is_variable_name(name)).ok_or(SourceError::Variable)?;
                Ok(Self::Variable(name.to_owned()))
            }
            "file" => {
                let path = text.filter(|path| path.starts_with('/') && !path.contains('\0'));
                Ok(Self::File(path.ok_or(SourceError::File)?.into()))
            }
            "credential" => {
                let name = text.filter(|name| is_secret_name(name)).ok_or(SourceError::Credential)?;
                Ok(Self::Credential(name.to_owned()))
            }
            "command" => {
                let words = value.as_array().filter(|words| !words.is_empty()).ok_or(SourceError::Command)?;
                let word =
                    |word: &Value| word.as_str().filter(|word| !word.contains('\0')).map(str::to_owned);
                let words: Option<Vec<_>> = words.iter().map(word).collect();
                let words = words.filter(|words| !words[0].is_empty()).ok_or(SourceError::Command)?;
                let cache = match members.get("cacheSecs") {
                    None => CACHE,
                    Some(secs) => {
                        let secs = secs.as_u64().filter(|secs| *secs <= LONGEST_CACHE);
                        Duration::from_secs(secs.ok_or(SourceError::CacheSecs)?)
                    }
                };
                Ok(Self::Command { words, cache })
            }
            _ => {
                let text = text.ok_or(SourceError::NotAnObject)?;
                Ok(Self::Value(Secret::new(text.into()).map_err(SourceError::Value)?))
            }
        }
    }

    /// The value of the secret `name`; `None` if nothing is there. A command is not run.
    pub fn read(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        match self {
            Self::Variable(variable) => read_variable(name, variable),
            Self::FileOfVariable(variable) => {
                match std::env::var_os(variable).filter(|path| !path.is_empty()) {
                    Some(path) => read_file(name, Path::new(&path), true),
                    None => Ok(None),
                }
            }
            Self::File(path) => read_file(name, path, false),
            Self::Credential(credential) => match credentials_folder() {
                Some(folder) => read_file(name, &folder.join(credential), false),
                None => Ok(None),
            },
            Self::Command { .. } => Ok(None),
            Self::Value(secret) => Ok(Some(secret.clone())),
        }
    }

    /// The variables of the server's environment that hold the value or lead to it. No other script may have them.
    pub fn variable(&self) -> Option<&str> {
        match self {
            Self::Variable(name) | Self::FileOfVariable(name) => Some(name),
            Self::File(_) | Self::Credential(_) | Self::Command { .. } | Self::Value(_) => None,
        }
    }

    /// What is not there, to say where a missing secret was looked for.
    pub fn absent(&self) -> String {
        match self {
            Self::Variable(name) | Self::FileOfVariable(name) => format!("no variable {name}"),
            Self::File(path) => format!("no file {}", path.display()),
            Self::Credential(name) if credentials_folder().is_none() => {
                format!("no systemd credential {name} (CREDENTIALS_DIRECTORY is not set)")
            }
            Self::Credential(name) => format!("no systemd credential {name}"),
            Self::Command { words, .. } => format!("nothing from the command `{}`", words[0]),
            Self::Value(_) => "no value".to_owned(),
        }
    }
}

/// Where the value is, in words.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "variable {name}"),
            Self::FileOfVariable(name) => write!(f, "file in {name}"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Credential(name) => write!(f, "systemd credential {name}"),
            // Its other words may tell more than a list should.
            Self::Command { words, .. } => write!(f, "command {}", words[0]),
            Self::Value(_) => f.write_str("stored by `mcp-bash secret set`"),
        }
    }
}

/// The folder of the credentials of this systemd service.
fn credentials_folder() -> Option<PathBuf> {
    std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from).filter(|folder| folder.is_absolute())
}

fn read_variable(name: &str, variable: &str) -> Result<Option<Secret>, SecretError> {
    let Some(value) = std::env::var_os(variable).filter(|value| !value.is_empty()) else { return Ok(None) };
    let place = format!("variable {variable}");
    let secret = Secret::new(value.into_vec());
    secret.map(Some).map_err(|why| SecretError::Unfit { name: name.to_owned(), place, why })
}

/// The value in a file. If `must_exist`, a missing file is an error.
fn read_file(name: &str, path: &Path, must_exist: bool) -> Result<Option<Secret>, SecretError> {
    let guard = if is_managed(path) { Guard::Folder } else { Guard::Mode };
    match private_file::read(path, guard) {
        Ok(value) => {
            let place = format!("file {}", path.display());
            let secret = Secret::new(value);
            secret.map(Some).map_err(|why| SecretError::Unfit { name: name.to_owned(), place, why })
        }
        Err(FileFault::Missing) if !must_exist => Ok(None),
        Err(why) => Err(SecretError::File { name: name.to_owned(), path: path.to_owned(), why }),
    }
}

/// Whether a path is in a folder of container runtimes or of systemd, and does not lead out of it.
fn is_managed(path: &Path) -> bool {
    let is_in_folder = path.starts_with(CONTAINER_SECRETS)
        || credentials_folder().is_some_and(|folder| path.starts_with(folder));
    is_in_folder && !path.components().any(|part| part == Component::ParentDir)
}

/// Where a secret is looked for if no entry says it, in this order.
pub(crate) fn usual(variable: &str, name: &str) -> Vec<Source> {
    vec![
        Source::Variable(variable.to_owned()),
        Source::FileOfVariable(format!("{variable}_FILE")),
        Source::Credential(name.to_owned()),
        Source::File(Path::new(CONTAINER_SECRETS).join(name)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_are_read() {
        let parse = |entry: Value| Source::parse(&entry, Author::Project).unwrap();
        assert_eq!(parse(json!({"env": "TOKEN"})), Source::Variable("TOKEN".into()));
        assert_eq!(parse(json!({"file": "/run/x"})), Source::File("/run/x".into()));
        assert_eq!(parse(json!({"credential": "x"})), Source::Credential("x".into()));
        let words = vec!["pass".to_owned(), "show".to_owned()];
        let command = |cache| Source::Command { words: words.clone(), cache: Duration::from_secs(cache) };
        assert_eq!(parse(json!({"command": ["pass", "show"]})), command(300));
        assert_eq!(parse(json!({"command": ["pass", "show"], "cacheSecs": 0})), command(0));
    }

    #[test]
    fn a_path_that_leads_out_of_a_managed_folder_is_not_managed() {
        assert!(is_managed(Path::new("/run/secrets/github")) && is_managed(Path::new("/run/secrets/team/x")));
        for path in
            ["/run/secrets/../../home/me/key", "/run/secrets/team/../../x", "/run/secrets-of-others/x"]
        {
            assert!(!is_managed(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_project_cannot_hold_a_value_and_the_refusal_does_not_repeat_it() {
        for literal in [json!("ghp_0123456789"), json!({"value": "ghp_0123456789"})] {
            let error = Source::parse(&literal, Author::Project).unwrap_err();
            assert_eq!(error, SourceError::Literal);
            assert!(!error.to_string().contains("ghp_"));
        }
        let stored = Source::parse(&json!({"value": "ghp_0123456789"}), Author::Operator).unwrap();
        assert!(!format!("{stored:?} {stored}").contains("ghp_"));
    }

    #[test]
    fn wrong_entries_are_refused() {
        for (entry, wrong) in [
            (json!(7), SourceError::NotAnObject),
            (json!({}), SourceError::NotOne),
            (json!({"env": "A", "file": "/x"}), SourceError::NotOne),
            (json!({"env": "ghp_01234/56789"}), SourceError::Variable),
            (json!({"file": "x"}), SourceError::File),
            (json!({"credential": "../x"}), SourceError::Credential),
            (json!({"command": "pass show"}), SourceError::Command),
            (json!({"command": []}), SourceError::Command),
            (json!({"command": [""]}), SourceError::Command),
            (json!({"command": ["a"], "cacheSecs": "1h"}), SourceError::CacheSecs),
            (json!({"command": ["a"], "cacheSecs": 100_000}), SourceError::CacheSecs),
            (json!({"env": "A", "cacheSecs": 1}), SourceError::CacheSecs),
            (json!({"vault": "x"}), SourceError::Key { key: "vault".into() }),
        ] {
            assert_eq!(Source::parse(&entry, Author::Project), Err(wrong), "{entry}");
        }
    }
}
