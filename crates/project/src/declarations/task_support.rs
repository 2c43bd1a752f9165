//! `execution`: whether a call of a tool can be a task, which outlives its request.

use crate::declarations::error::{EntryError, wrong_value};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::num::NonZeroU32;

/// Whether a call can be a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskSupport {
    /// It never is.
    #[default]
    Forbidden,
    /// It is, for clients that know tasks.
    Optional,
    /// It always is, so that clients that do not know tasks cannot call the tool.
    Required,
}

impl TaskSupport {
    /// The word for it, in metadata and in the protocol.
    pub fn word(self) -> &'static str {
        match self {
            Self::Forbidden => "forbidden",
            Self::Optional => "optional",
            Self::Required => "required",
        }
    }

    /// Reads the key `tasks` of `server.meta.json`.
    pub(crate) fn read(field: Option<&RawValue>) -> Result<Self, EntryError> {
        match field.map(RawValue::get) {
            None | Some("null") => Ok(Self::default()),
            Some(text) => serde_json::from_str(text)
                .map_err(|_| wrong_value("tasks", WANTED, "another value", "; correct it")),
        }
    }
}

const WANTED: &str = "be \"forbidden\", \"optional\" or \"required\"";

/// What a tool declares about tasks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskExecution {
    /// `None` for what the project says.
    #[serde(rename = "taskSupport", default)]
    pub support: Option<TaskSupport>,
    /// Whether the call itself asks its first questions, so that the task begins with their answers.
    #[serde(default)]
    pub asks_first: bool,
    /// Among tasks that wait for their turn, those with a higher priority begin first.
    #[serde(default)]
    pub priority: Priority,
    /// How many tasks of the tool may run at a time, in all servers that share a store.
    #[serde(rename = "maxConcurrent", default)]
    pub most: Option<NonZeroU32>,
}

/// A priority between -100 and 100.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "i32")]
pub struct Priority(i32);

impl Priority {
    pub fn number(self) -> i32 {
        self.0
    }
}

impl TryFrom<i32> for Priority {
    type Error = &'static str;

    fn try_from(number: i32) -> Result<Self, Self::Error> {
        if (-100..=100).contains(&number) { Ok(Self(number)) } else { Err("not between -100 and 100") }
    }
}

impl TaskExecution {
    /// Reads the key of a tool's metadata.
    pub(crate) fn read(field: Option<&RawValue>) -> Result<Self, EntryError> {
        let wanted = "be an object with `taskSupport` (\"forbidden\", \"optional\" or \"required\"), `asksFirst` (true or \
                      false), `priority` (a whole number from -100 to 100) and `maxConcurrent` (a whole number above 0)";
        match field.map(RawValue::get) {
            None | Some("null") => Ok(Self::default()),
            Some(text) => serde_json::from_str(text)
                .map_err(|_| wrong_value("execution", wanted, "another value", "; correct it")),
        }
    }

    /// The value as metadata has it, as JSON.
    pub(crate) fn written(self) -> Option<String> {
        let support = self.support.map(|support| format!("\"taskSupport\":\"{}\"", support.word()));
        let asks_first = self.asks_first.then(|| "\"asksFirst\":true".to_owned());
        let priority =
            (self.priority != Priority::default()).then(|| format!("\"priority\":{}", self.priority.0));
        let most = self.most.map(|most| format!("\"maxConcurrent\":{most}"));
        let members: Vec<String> =
            support.into_iter().chain(asks_first).chain(priority).chain(most).collect();
        (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<TaskExecution, EntryError> {
        TaskExecution::read(Some(&RawValue::from_string(text.to_owned()).unwrap()))
    }

    #[test]
    fn what_is_written_is_read_again() {
        for (text, written) in [
            (r#"{"taskSupport":"optional"}"#, Some(r#"{"taskSupport":"optional"}"#)),
            (
                r#"{ "asksFirst": true, "taskSupport": "required" }"#,
                Some(r#"{"taskSupport":"required","asksFirst":true}"#),
            ),
            (r#"{"priority":-5,"maxConcurrent":2}"#, Some(r#"{"priority":-5,"maxConcurrent":2}"#)),
            (r#"{"priority":0}"#, None),
            ("{}", None),
            ("null", None),
        ] {
            assert_eq!(read(text).unwrap().written().as_deref(), written, "{text}");
        }
    }

    #[test]
    fn a_wrong_value_is_refused_by_name() {
        for text in [
            r#""optional""#,
            r#"{"taskSupport":"Optional"}"#,
            r#"{"tasks":"optional"}"#,
            r#"{"asksFirst":1}"#,
            r#"{"priority":101}"#,
            r#"{"priority":"high"}"#,
            r#"{"priority":1.5}"#,
            r#"{"maxConcurrent":0}"#,
            r#"{"maxConcurrent":-1}"#,
        ] {
            let refused = read(text).unwrap_err().to_string();
            assert!(refused.contains("execution") && refused.contains("taskSupport"), "{text}: {refused}");
        }
        let of_project = RawValue::from_string("\"always\"".to_owned()).unwrap();
        assert!(TaskSupport::read(Some(&of_project)).unwrap_err().to_string().contains("tasks"));
    }
}
