//! Errors of a policy file, each with its place.

use mcp_bash_cel::{CompileError, PatternError};
use mcp_bash_yaml::Wrong;
use thiserror::Error;

/// What is wrong in a policy file, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{problem}", place(*.line, *.column))]
pub struct PolicyError {
    pub line: Option<usize>,
    pub column: Option<usize>,
    pub problem: Box<Problem>,
}

fn place(line: Option<usize>, column: Option<usize>) -> String {
    match (line, column) {
        (Some(line), Some(column)) => format!("{line}:{column}: "),
        (Some(line), None) => format!("{line}: "),
        _ => String::new(),
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Problem {
    #[error("the file has {0} bytes; at most {most} are read", most = crate::limits::LONGEST_FILE)]
    TooLarge(u64),
    #[error("the file is not valid UTF-8; save it as UTF-8")]
    NotText,
    #[error("the file is empty; it needs `version: 1`, `default` and `rules`")]
    Empty,
    #[error("{0}")]
    Yaml(String),
    #[error("`{0}` is missing; {1}")]
    Missing(&'static str, &'static str),
    #[error("version {0} is not known; write `version: 1`")]
    Version(String),
    #[error("`default` is `allow` or `deny`, not `{0}`")]
    Default(String),
    #[error("there are {0} rules; at most {most} are allowed", most = crate::limits::MOST_RULES)]
    TooManyRules(usize),
    #[error("{rule} has no effect; add one of `allow: true`, `deny`, `confirm` and `redact`")]
    NoEffect { rule: String },
    #[error("{rule} has both `{first}` and `{second}`; make two rules of it")]
    TwoEffects { rule: String, first: &'static str, second: &'static str },
    #[error(
        "{rule}: write `allow: true`, and the condition under `when`; to refuse, write `deny` with a message"
    )]
    Allow { rule: String },
    #[error("{rule}: `{key}` needs a message")]
    NoMessage { rule: String, key: &'static str },
    #[error("{rule}: the message has {length} characters; at most {most} are allowed", most = crate::limits::LONGEST_MESSAGE)]
    LongMessage { rule: String, length: usize },
    #[error("{rule}: `{{` begins a value such as {{args.env}}, and has no `}}`; write `{{{{` for a brace")]
    OpenBrace { rule: String },
    #[error("a rule named `{name}` is already on line {line}; names must be unique")]
    DuplicateName { name: String, line: usize },
    #[error("`{0}` is no name of a rule; use letters, digits, `-`, `_` and `.`, at most 64 of them")]
    BadName(String),
    #[error("{rule}: {error}")]
    Expression { rule: String, error: Box<CompileError> },
    #[error("{rule} names {first} and {second}, and no request has both; make two rules of it, one for each")]
    NoSubject { rule: String, first: &'static str, second: &'static str },
    #[error("{rule}: invalid regular expression: {error}")]
    Pattern { rule: String, error: PatternError },
    #[error("{rule}: the pattern `{pattern}` matches the empty text")]
    EmptyMatch { rule: String, pattern: String },
    #[error("{rule}: `{pointer}` is no JSON pointer; write a path such as \"/rows/*/email\"")]
    Pointer { rule: String, pointer: String },
    #[error("{rule}: `redact` is a list of JSON pointers and of `pattern: REGEX`")]
    Redact { rule: String },
    #[error("{rule}: `redact` has {count} entries; at most {most} are allowed", most = crate::limits::MOST_REDACTIONS)]
    TooManyRedactions { rule: String, count: usize },
}

impl From<Wrong> for PolicyError {
    fn from(Wrong { line, column, problem }: Wrong) -> Self {
        Self { line, column, problem: Box::new(Problem::Yaml(problem)) }
    }
}
