//! Test case of a project, as it was read: what is called, under which circumstances, and what is expected.

use mcp_bash_schema::Schema;
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) place: Place,
    pub(super) name: String,
    pub(super) subject: Subject,
    pub(super) arguments: Value,
    /// Files that exist before, by their path below the folder of the case.
    pub(super) files: Vec<(String, FileBefore)>,
    /// Variables of the server.
    pub(super) environment: BTreeMap<String, String>,
    /// The folders that the client allows; by default the folder of the case.
    pub(super) roots: Option<Vec<String>>,
    pub(super) answers: Vec<Answer>,
    pub(super) timeout: Duration,
    /// Why it is not run.
    pub(super) skip: Option<String>,
    pub(super) replace: Vec<(Regex, String)>,
    pub(super) expect: Expect,
}

/// Where a case is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: PathBuf,
    /// The same for people: relative to the project.
    pub(super) shown: String,
    pub(super) line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.shown, self.line)
    }
}

/// What a case tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subject {
    Tool(String),
    Prompt(String),
    /// By its URI.
    Resource(String),
    Completion {
        of: Completed,
        argument: String,
        value: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Completed {
    Prompt(String),
    Resource(String),
}

impl Subject {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Tool(name)
            | Self::Prompt(name)
            | Self::Resource(name)
            | Self::Completion { of: Completed::Prompt(name) | Completed::Resource(name), .. } => name,
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Tool(_) => "tool",
            Self::Prompt(_) => "prompt",
            Self::Resource(_) => "resource",
            Self::Completion { .. } => "completion",
        }
    }
}

impl Case {
    /// Its name on the command line.
    pub(super) fn id(&self) -> String {
        format!("{}/{}", self.subject.name(), self.name)
    }
}

#[derive(Debug, Clone)]
pub(super) struct FileBefore {
    pub(super) content: Content,
    pub(super) executable: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Content {
    Text(String),
    /// A copy of a file beside the case.
    From(PathBuf),
}

/// The client's answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    Accept(Value),
    Decline,
    Cancel,
    /// A model's answer.
    Text(String),
}

#[derive(Debug, Clone, Default)]
pub(super) struct Expect {
    pub(super) text: Option<String>,
    pub(super) contains: Vec<String>,
    pub(super) lacks: Vec<String>,
    pub(super) matches: Vec<Pattern>,
    pub(super) structured: Option<Value>,
    pub(super) structured_part: Option<Value>,
    pub(super) schema: Option<ResultSchema>,
    pub(super) snapshot: bool,
    pub(super) error: Option<ExpectedError>,
    pub(super) exit_code: Option<i64>,
    pub(super) progress: Vec<ExpectedProgress>,
    pub(super) logs: Vec<ExpectedLog>,
    pub(super) asks: Option<Vec<String>>,
    pub(super) files: Vec<(String, FileAfter)>,
}

impl Expect {
    /// Whether an error is expected.
    pub(super) fn wants_error(&self) -> bool {
        self.error.is_some() || self.exit_code.is_some_and(|code| code != 0)
    }
}

/// A regular expression, matched in linear time.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub(super) written: String,
    pub(super) regex: Regex,
}

#[derive(Clone)]
pub(super) struct ResultSchema(pub(super) Arc<Schema>);

impl fmt::Debug for ResultSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResultSchema")
    }
}

/// An error of any kind with this message.
#[derive(Debug, Clone, Default)]
pub(super) struct ExpectedError {
    pub(super) contains: Vec<String>,
    pub(super) matches: Vec<Pattern>,
    pub(super) code: Option<i64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ExpectedProgress {
    pub(super) progress: Option<f64>,
    pub(super) total: Option<f64>,
    pub(super) message: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ExpectedLog {
    pub(super) level: Option<String>,
    pub(super) contains: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum FileAfter {
    Exactly(String),
    There,
    Absent,
    Such { contains: Vec<String>, matches: Vec<Pattern> },
}
