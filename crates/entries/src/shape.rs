//! Entry forms: how clients want an entry, written and read.

use crate::entry::Entry;
use serde_json::{Map, Value, json};

/// The list of variables that Codex passes on.
pub(crate) const PASSED: &str = "env_vars";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `command`, `args` and, if there are any, `env`.
    Command,
    /// The same, always with `env`.
    CommandAndEnv,
    /// The same as [`Self::Command`], with `"type": "stdio"` before it.
    Stdio,
    /// The command and its arguments in one list, variables as `environment`.
    OpenCode,
    /// `cmd` and `envs`, and the name again.
    Goose,
    /// A list item that includes its name.
    Named,
    /// The same with `transport`, and the command as a list: a text would be split into words.
    Vibe,
}

impl Shape {
    /// The entry in this form.
    pub(crate) fn value(self, entry: &Entry) -> Value {
        let env: Map<String, Value> =
            entry.env.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        let words: Vec<&String> = [&entry.command].into_iter().chain(&entry.args).collect();
        let mut value = match self {
            Self::Command | Self::CommandAndEnv => json!({ "command": entry.command, "args": entry.args }),
            Self::Stdio => json!({ "type": "stdio", "command": entry.command, "args": entry.args }),
            Self::Named => json!({ "name": entry.name, "command": entry.command, "args": entry.args }),
            Self::OpenCode => json!({ "type": "local", "command": words, "enabled": true }),
            Self::Vibe => {
                json!({ "name": entry.name, "transport": "stdio", "command": [entry.command], "args": entry.args })
            }
            Self::Goose => json!({
                "name": entry.name,
                "description": "",
                "type": "stdio",
                "cmd": entry.command,
                "args": entry.args,
                "timeout": 300,
                "enabled": true,
            }),
        };
        if !env.is_empty() || matches!(self, Self::CommandAndEnv | Self::Goose) {
            value[self.env_key()] = Value::Object(env);
        }
        if !entry.passed.is_empty() {
            value[PASSED] = json!(entry.passed);
        }
        value
    }

    /// Reads an entry, if it starts a command.
    pub(crate) fn entry(self, name: &str, value: &Value) -> Option<Entry> {
        let words = |value: &Value| -> Vec<String> {
            let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
            items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
        };
        let split = |all: Vec<String>| {
            let mut all = all.into_iter();
            Some((all.next()?, all.collect::<Vec<String>>()))
        };
        let (command, args) = match self {
            Self::OpenCode => split(words(&value["command"]))?,
            // The user may have written the arguments separately.
            Self::Vibe if value["command"].is_array() => {
                let (command, args) = split(words(&value["command"]))?;
                (command, [args, words(&value["args"])].concat())
            }
            Self::Goose => (value["cmd"].as_str()?.to_owned(), words(&value["args"])),
            _ => (value["command"].as_str()?.to_owned(), words(&value["args"])),
        };
        let env = value[self.env_key()].as_object().into_iter().flatten();
        let env = env.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        let passed = words(&value[PASSED]);
        Some(Entry { name: name.to_owned(), command, args, env: env.collect(), passed })
    }

    /// Whether the entries are a list, in which each item has its name.
    pub(crate) fn is_list(self) -> bool {
        matches!(self, Self::Named | Self::Vibe)
    }

    fn env_key(self) -> &'static str {
        match self {
            Self::OpenCode => "environment",
            Self::Goose => "envs",
            _ => "env",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_entries_can_be_read_again() {
        let entry = Entry {
            name: "tools".into(),
            command: "/bin/mcp-bash".into(),
            args: vec!["--project-root".into(), "/p".into()],
            env: vec![("TOKEN".into(), "x".into())],
            passed: vec!["REGION".into()],
        };
        for shape in [
            Shape::Command,
            Shape::CommandAndEnv,
            Shape::Stdio,
            Shape::OpenCode,
            Shape::Goose,
            Shape::Named,
            Shape::Vibe,
        ] {
            assert_eq!(shape.entry("tools", &shape.value(&entry)), Some(entry.clone()), "{shape:?}");
            assert_eq!(shape.entry("tools", &json!({ "url": "https://example.com" })), None);
        }
    }
}
