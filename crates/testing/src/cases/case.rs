//! Test case of a project, as it was read: what is called, under which circumstances, and what is expected.

use mcp_bash_policy::{Action, Timestamp};
use mcp_bash_schema::Schema;
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) place: Place,
    pub(crate) name: String,
    /// Files that exist before, by their path below the folder of the case.
    pub(crate) files: Vec<(String, FileBefore)>,
    /// Variables of the server.
    pub(crate) environment: BTreeMap<String, String>,
    /// The folders that the client allows; by default the folder of the case.
    pub(crate) roots: Option<Vec<String>>,
    /// Whether it shares a server with the other cases of its file that say so.
    pub(crate) share: bool,
    /// Why it is not run.
    pub(crate) skip: Option<String>,
    pub(crate) replace: Vec<(Regex, String)>,
    /// Its requests, in this order: at least one.
    pub(crate) steps: Vec<Step>,
    /// Who makes the request, if it is about the policy.
    pub(crate) asker: Asker,
}

/// A caller of whom a policy is asked, and the time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asker {
    pub(crate) name: String,
    pub(crate) groups: Vec<Box<str>>,
    pub(crate) scopes: Vec<Box<str>>,
    pub(crate) claims: Value,
    pub(crate) known_by: String,
    pub(crate) address: String,
    /// By default now.
    pub(crate) at: Option<Timestamp>,
}

/// One request of a case, and what is expected of its result.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) line: usize,
    pub(crate) subject: Subject,
    pub(crate) arguments: Value,
    pub(crate) answers: Vec<Answer>,
    /// Whether the user consents to the call, if it asks for that.
    pub(crate) confirm: Option<bool>,
    pub(crate) timeout: Duration,
    pub(crate) expect: Expect,
    /// Values of the result that later steps use, by name.
    pub(crate) keep: Vec<(String, Kept)>,
}

/// A part of a result that is kept.
#[derive(Debug, Clone)]
pub(crate) enum Kept {
    /// Its text.
    Text,
    /// The value at this JSON pointer.
    At(String),
    /// The first group of this pattern in its text, or all that matches if it has no group.
    Match(Pattern),
}

/// Where a case is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: PathBuf,
    /// The same for people: relative to the project.
    pub(crate) shown: String,
    pub(crate) line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.shown, self.line)
    }
}

/// What a case tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
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
pub(crate) enum Completed {
    Prompt(String),
    Resource(String),
}

impl Subject {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Tool(name)
            | Self::Prompt(name)
            | Self::Resource(name)
            | Self::Completion { of: Completed::Prompt(name) | Completed::Resource(name), .. } => name,
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
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
    pub(crate) fn id(&self) -> String {
        format!("{}/{}", self.subject().name(), self.name)
    }

    /// Whether both run with the same server, one after the other.
    pub(crate) fn shares_with(&self, other: &Self) -> bool {
        self.share
            && other.share
            && self.place.file == other.place.file
            && (&self.environment, &self.roots) == (&other.environment, &other.roots)
    }

    /// Whether its server needs no environment and no roots of its own.
    pub(crate) fn has_plain_server(&self) -> bool {
        self.environment.is_empty() && self.roots.is_none()
    }

    /// What it tests, for lists and reports: the subject of its first step.
    pub(crate) fn subject(&self) -> &Subject {
        &self.steps[0].subject
    }
}

#[derive(Debug, Clone)]
pub(crate) struct FileBefore {
    pub(crate) content: Content,
    pub(crate) executable: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Content {
    Text(String),
    /// A copy of a file beside the case.
    From(PathBuf),
}

/// The client's answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Accept(Value),
    Decline,
    Cancel,
    /// A model's answer.
    Text(String),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Expect {
    pub(crate) text: Option<String>,
    pub(crate) contains: Vec<String>,
    pub(crate) lacks: Vec<String>,
    pub(crate) matches: Vec<Pattern>,
    pub(crate) structured: Option<Value>,
    pub(crate) structured_part: Option<Value>,
    pub(crate) schema: Option<ResultSchema>,
    pub(crate) snapshot: bool,
    pub(crate) error: Option<ExpectedError>,
    pub(crate) exit_code: Option<i64>,
    pub(crate) progress: Vec<ExpectedProgress>,
    pub(crate) logs: Vec<ExpectedLog>,
    pub(crate) asks: Option<Vec<String>>,
    pub(crate) files: Vec<(String, FileAfter)>,
    /// The command that would be run. Such a case runs nothing.
    pub(crate) command: Option<Vec<String>>,
    /// The variables that it would have, of those that arguments set.
    pub(crate) variables: Option<BTreeMap<String, String>>,
    /// What it would read on standard input.
    pub(crate) stdin: Option<String>,
    /// The decision of the policy, and the rule that makes it. Such a case runs nothing.
    pub(crate) policy: Option<ExpectedDecision>,
}

#[derive(Debug, Clone)]
pub(crate) struct ExpectedDecision {
    pub(crate) action: Action,
    pub(crate) rule: Option<String>,
}

impl Expect {
    /// Whether only the mapping of the arguments or the policy is compared, and nothing is run.
    pub(crate) fn is_dry(&self) -> bool {
        self.command.is_some() || self.variables.is_some() || self.stdin.is_some() || self.policy.is_some()
    }

    /// Whether an error is expected.
    pub(crate) fn wants_error(&self) -> bool {
        self.error.is_some() || self.exit_code.is_some_and(|code| code != 0)
    }
}

/// A regular expression, matched in linear time.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    pub(crate) written: String,
    pub(crate) regex: Regex,
}

#[derive(Clone)]
pub(crate) struct ResultSchema(pub(crate) Arc<Schema>);

impl fmt::Debug for ResultSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResultSchema")
    }
}

/// An error of any kind with this message.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExpectedError {
    pub(crate) contains: Vec<String>,
    pub(crate) matches: Vec<Pattern>,
    pub(crate) code: Option<i64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ExpectedProgress {
    pub(crate) progress: Option<f64>,
    pub(crate) total: Option<f64>,
    pub(crate) message: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ExpectedLog {
    pub(crate) level: Option<String>,
    pub(crate) contains: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) enum FileAfter {
    Exactly(String),
    There,
    Absent,
    Such { contains: Vec<String>, matches: Vec<Pattern> },
}
