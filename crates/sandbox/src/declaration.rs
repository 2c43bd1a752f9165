//! Declaration: what an author says that a script may do, in the `sandbox` of its metadata or of `server.meta.json`.

use crate::hosts::HostList;
use crate::place::Place;
use crate::size;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use thiserror::Error;

/// How much is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Mode {
    #[default]
    Off,
    /// Everything that this machine can enforce.
    On,
    /// Everything; what this machine cannot enforce is not run.
    Strict,
}

/// What a script may connect to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Network {
    None,
    All,
    Hosts(HostList),
}

/// Limits of a process and of all that it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Limits {
    /// In bytes.
    pub memory: Option<u64>,
    pub cpu_secs: Option<u64>,
    pub processes: Option<u64>,
    pub open_files: Option<u64>,
    /// In bytes.
    pub file_size: Option<u64>,
}

/// One `sandbox`. A key that is not given has the value of the project's default, then that of the default profile.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Declaration {
    pub mode: Option<Mode>,
    pub read: Option<Vec<Place>>,
    pub write: Option<Vec<Place>>,
    pub network: Option<Network>,
    pub limits: Limits,
    /// The author's JSON.
    written: String,
}

/// What is wrong with a declaration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct DeclarationError(String);

impl Mode {
    /// The mode with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Off, Self::On, Self::Strict].into_iter().find(|mode| mode.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Strict => "strict",
        }
    }
}

const KEYS: &str =
    "`mode`, `read`, `write`, `network`, `memory`, `cpuSecs`, `processes`, `openFiles` and `fileSize`";

impl Declaration {
    /// A declaration of one word.
    pub fn of(mode: Mode) -> Self {
        Self { mode: Some(mode), written: format!("\"{}\"", mode.name()), ..Self::default() }
    }

    /// Reads the JSON text of a `sandbox`.
    pub fn parse(text: &str) -> Result<Self, DeclarationError> {
        let value =
            serde_json::from_str(text).map_err(|error| wrong(format!("`sandbox` is no JSON: {error}")))?;
        Ok(Self { written: text.to_owned(), ..Self::of_value(&value)? })
    }

    fn of_value(value: &Value) -> Result<Self, DeclarationError> {
        match value {
            Value::String(word) => Ok(Self { mode: Some(mode(word, "sandbox")?), ..Self::default() }),
            Value::Object(members) => Self::of_members(members),
            _ => Err(wrong("`sandbox` must be \"off\", \"on\", \"strict\" or an object")),
        }
    }

    fn of_members(members: &Map<String, Value>) -> Result<Self, DeclarationError> {
        let mut found = Self::default();
        for (key, value) in members {
            match key.as_str() {
                "mode" => {
                    let word = value.as_str().ok_or_else(|| wrong("`sandbox.mode` must be a word"))?;
                    found.mode = Some(mode(word, "sandbox.mode")?);
                }
                "read" => found.read = Some(places(value, key)?),
                "write" => found.write = Some(places(value, key)?),
                "network" => found.network = Some(network(value)?),
                "memory" => found.limits.memory = Some(bytes(value, key)?),
                "fileSize" => found.limits.file_size = Some(bytes(value, key)?),
                "cpuSecs" => found.limits.cpu_secs = Some(count(value, key)?),
                "processes" => found.limits.processes = Some(count(value, key)?),
                "openFiles" => found.limits.open_files = Some(count(value, key)?),
                "deny" | "denyRead" | "denyWrite" | "exclude" => {
                    return Err(wrong(format!(
                        "`sandbox.{key}` is not supported: a denied folder inside an allowed one cannot be \
                         enforced; list only the folders that are allowed"
                    )));
                }
                _ => return Err(wrong(format!("`sandbox.{key}` is not known; there are {KEYS}"))),
            }
        }
        Ok(found)
    }

    #[must_use]
    pub fn with_mode(self, mode: Mode) -> Self {
        Self { mode: Some(mode), ..self }
    }

    /// The author's JSON.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// This declaration where it says something, and `default` elsewhere. A declaration without a mode turns the sandbox
    /// on, and keeps a default that is stricter.
    #[must_use]
    pub fn or(&self, default: Option<&Self>) -> Self {
        let of_default = default.map(Self::effective_mode).unwrap_or_default();
        let mode = self.mode.unwrap_or(of_default.max(Mode::On));
        self.over(default).with_mode(mode)
    }

    /// This declaration where it says something, and `below` elsewhere, the mode included.
    #[must_use]
    pub fn over(&self, below: Option<&Self>) -> Self {
        let none = Self::default();
        let default = below.unwrap_or(&none);
        Self {
            mode: self.mode.or(default.mode),
            read: self.read.clone().or_else(|| default.read.clone()),
            write: self.write.clone().or_else(|| default.write.clone()),
            network: self.network.clone().or_else(|| default.network.clone()),
            limits: self.limits.or(default.limits),
            written: self.written.clone(),
        }
    }

    /// Whether one of its lists names the folders of the client.
    pub fn lists_roots(&self) -> bool {
        let places = [&self.read, &self.write].into_iter().flatten().flatten();
        places.into_iter().any(|place| matches!(place, Place::Roots(_)))
    }

    /// The mode it asks for: an object without one turns the sandbox on.
    pub fn effective_mode(&self) -> Mode {
        match self.mode {
            Some(mode) => mode,
            None if self.written.is_empty() => Mode::Off,
            None => Mode::On,
        }
    }
}

impl<'de> Deserialize<'de> for Declaration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let declaration = Self::of_value(&value).map_err(D::Error::custom)?;
        Ok(Self { written: value.to_string(), ..declaration })
    }
}

impl Limits {
    fn or(self, default: Self) -> Self {
        Self {
            memory: self.memory.or(default.memory),
            cpu_secs: self.cpu_secs.or(default.cpu_secs),
            processes: self.processes.or(default.processes),
            open_files: self.open_files.or(default.open_files),
            file_size: self.file_size.or(default.file_size),
        }
    }
}

fn wrong(problem: impl Into<String>) -> DeclarationError {
    DeclarationError(problem.into())
}

fn mode(word: &str, place: &str) -> Result<Mode, DeclarationError> {
    let unknown = || {
        wrong(format!("`{place}` is '{}', and must be \"off\", \"on\" or \"strict\"", word.escape_debug()))
    };
    Mode::named(word).ok_or_else(unknown)
}

fn places(value: &Value, key: &str) -> Result<Vec<Place>, DeclarationError> {
    let must_be = || wrong(format!("`sandbox.{key}` must be a list of paths"));
    let entries = value.as_array().ok_or_else(must_be)?;
    let place = |entry: &Value| {
        let text = entry.as_str().ok_or_else(must_be)?;
        if key == "read" && text == "tmp" {
            return Err(wrong("`sandbox.read`: 'tmp' belongs into `write`, which includes reading"));
        }
        Place::parse(text).map_err(|why| wrong(format!("`sandbox.{key}`: '{}' {why}", text.escape_debug())))
    };
    entries.iter().map(place).collect()
}

fn network(value: &Value) -> Result<Network, DeclarationError> {
    let must_be = || {
        wrong(
            "`sandbox.network` must be \"none\", \"all\" or a list of hosts with ports, such as [\"api.github.com:443\"]",
        )
    };
    match value {
        Value::String(word) if word == "none" => Ok(Network::None),
        Value::String(word) if word == "all" => Ok(Network::All),
        Value::Array(entries) => {
            let names = entries.iter().map(Value::as_str).collect::<Option<Vec<_>>>().ok_or_else(must_be)?;
            if names.is_empty() {
                return Ok(Network::None);
            }
            let hosts =
                HostList::parse(&names).map_err(|error| wrong(format!("`sandbox.network`: {error}")))?;
            Ok(Network::Hosts(hosts))
        }
        _ => Err(must_be()),
    }
}

fn bytes(value: &Value, key: &str) -> Result<u64, DeclarationError> {
    let read = match value {
        Value::String(text) => size::parse(text),
        Value::Number(number) => number.as_u64().filter(|bytes| *bytes > 0),
        _ => None,
    };
    read.ok_or_else(|| {
        wrong(format!("`sandbox.{key}` must be a size such as \"512M\" or a number of bytes, and is {value}"))
    })
}

fn count(value: &Value, key: &str) -> Result<u64, DeclarationError> {
    let read = value.as_u64().filter(|count| *count > 0);
    read.ok_or_else(|| wrong(format!("`sandbox.{key}` must be a whole number above 0, and is {value}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        Declaration::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_word_or_an_object_is_read() {
        assert_eq!(Declaration::parse("\"strict\"").unwrap().effective_mode(), Mode::Strict);
        let text =
            r#"{"read":["project","/var/log"],"write":["tmp"],"network":"all","memory":"512M","cpuSecs":30}"#;
        let read = Declaration::parse(text).unwrap();
        assert_eq!(read.effective_mode(), Mode::On);
        assert_eq!(read.read.as_ref().unwrap().len(), 2);
        assert_eq!(read.network, Some(Network::All));
        assert_eq!((read.limits.memory, read.limits.cpu_secs), (Some(512 << 20), Some(30)));
        assert_eq!(read.written(), text);
        assert_eq!(Declaration::parse(r#"{"network":[]}"#).unwrap().network, Some(Network::None));
    }

    #[test]
    fn a_mistake_is_named() {
        for (text, expected) in [
            ("1", "`sandbox` must be \"off\", \"on\", \"strict\" or an object"),
            ("\"yes\"", "`sandbox` is 'yes', and must be"),
            (r#"{"reads":[]}"#, "`sandbox.reads` is not known; there are `mode`"),
            (r#"{"read":"project"}"#, "`sandbox.read` must be a list of paths"),
            (r#"{"read":[1]}"#, "`sandbox.read` must be a list of paths"),
            (r#"{"read":["logs"]}"#, "`sandbox.read`: 'logs' "),
            (r#"{"read":["tmp"]}"#, "`sandbox.read`: 'tmp' belongs into `write`"),
            (r#"{"write":["/var/*"]}"#, "globs are not supported"),
            (r#"{"deny":["/etc"]}"#, "a denied folder inside an allowed one cannot be enforced"),
            (r#"{"network":"some"}"#, "`sandbox.network` must be \"none\", \"all\" or a list"),
            (r#"{"network":["example.org"]}"#, "`sandbox.network`: "),
            (r#"{"memory":"lots"}"#, "`sandbox.memory` must be a size such as"),
            (r#"{"cpuSecs":0}"#, "`sandbox.cpuSecs` must be a whole number above 0"),
            (r#"{"mode":"maybe"}"#, "`sandbox.mode` is 'maybe'"),
        ] {
            assert!(problem(text).contains(expected), "{text}: {}", problem(text));
        }
    }

    #[test]
    fn a_declaration_goes_before_the_default_key_by_key() {
        let default =
            Declaration::parse(r#"{"mode":"strict","network":"all","read":["project"],"cpuSecs":9}"#)
                .unwrap();
        let own = Declaration::parse(r#"{"network":"none","processes":4}"#).unwrap().or(Some(&default));
        assert_eq!(own.mode, Some(Mode::Strict));
        assert_eq!((own.network, own.read), (Some(Network::None), default.read.clone()));
        assert_eq!((own.limits.cpu_secs, own.limits.processes), (Some(9), Some(4)));
        assert_eq!(Declaration::of(Mode::Off).or(Some(&default)).mode, Some(Mode::Off));
        assert_eq!(Declaration::parse("{}").unwrap().or(None).mode, Some(Mode::On));
    }
}
