//! Errors: why a text is no expression, and why an expression has no value.

use crate::value::Type;
use thiserror::Error;

/// A place in an expression, counted from 1; columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// Why a text is no expression.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{mistake}")]
pub struct CompileError {
    pub at: Position,
    pub mistake: Mistake,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Mistake {
    #[error("the expression is empty")]
    Empty,
    #[error("the expression has {length} characters; at most {most} are allowed")]
    TooLong { length: usize, most: usize },
    #[error("the expression is nested more than {most} levels deep; split it into several rules")]
    TooDeep { most: usize },
    #[error("expected {expected}, found {found}")]
    Unexpected { expected: &'static str, found: String },
    #[error("unexpected character `{0}`")]
    Character(char),
    #[error("`=` is no operator; compare with `==`")]
    Assignment,
    #[error("`{0}` is no operator; write `{1}`")]
    HalfOperator(char, &'static str),
    #[error("the string that begins here has no closing quote")]
    OpenString,
    #[error("invalid escape in a string: `{0}`; write `\\\\` for a backslash, or a raw string r\"…\"")]
    Escape(String),
    #[error("the number {0} is out of range")]
    Number(String),
    #[error("`{0}` is a reserved word")]
    Reserved(String),
    #[error("unknown name `{name}`{}", suggestion(.nearest.as_deref(), .known))]
    UnknownName { name: String, nearest: Option<String>, known: String },
    #[error("`{variable}` has no field `{field}`{}", suggestion(.nearest.as_deref(), .known))]
    UnknownField { variable: String, field: String, nearest: Option<String>, known: String },
    #[error("unknown function `{name}`{}", suggestion(.nearest.as_deref(), .known))]
    UnknownFunction { name: String, nearest: Option<String>, known: String },
    #[error("{usage}: wrong number of arguments ({given})")]
    Arguments { usage: &'static str, given: usize },
    #[error("`{0}` is called on a value: write x.{0}(…)")]
    MemberOnly(&'static str),
    #[error("`{0}` is no method: write {0}(x)")]
    GlobalOnly(&'static str),
    #[error("has() takes a field: write has(args.path)")]
    HasField,
    #[error("the first argument of `{0}` is the name of a variable: write list.{0}(x, …)")]
    MacroVariable(&'static str),
    #[error("invalid regular expression: {0}")]
    Pattern(String),
    #[error(
        "unknown time zone `{0}`; write a name such as \"Europe/Berlin\", \"UTC\" or an offset such as \"+02:00\""
    )]
    Zone(String),
}

fn suggestion(nearest: Option<&str>, known: &str) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None if known.is_empty() => String::new(),
        None => format!("; known are {known}"),
    }
}

/// Why an expression has no value, and the part of it that failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{failure} (line {}, column {})", .at.line, .at.column)]
pub struct EvalError {
    pub at: Position,
    pub failure: Failure,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Failure {
    #[error(
        "the expression costs too much to evaluate; make it simpler, or limit the arguments in the `inputSchema`"
    )]
    CostExceeded,
    #[error("there is no `{0}`; test it first with has(…)")]
    NoSuchKey(String),
    #[error("index {index} is out of range for a list of {length}")]
    Index { index: String, length: usize },
    #[error("`{operation}` does not take {types}")]
    NoOverload { operation: &'static str, types: String },
    #[error("a value of type {0} has no field `{1}`")]
    NoFields(Type, String),
    #[error("expected a bool, found {0}")]
    NotBool(Type),
    #[error("the result of `{0}` is out of range")]
    Overflow(&'static str),
    #[error("division by zero")]
    DivisionByZero,
    #[error("the key `{0}` occurs twice in a map")]
    DuplicateKey(String),
    #[error("a value of type {0} cannot be a key of a map")]
    BadKey(Type),
    #[error("`{text}` is no {wanted}")]
    Conversion { text: String, wanted: &'static str },
    #[error("invalid regular expression: {0}")]
    Pattern(String),
    #[error(
        "unknown time zone `{0}`; a zone that is not a literal must be UTC or an offset such as \"+02:00\""
    )]
    Zone(String),
}

/// The beginning of a text, for errors.
pub(crate) fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
