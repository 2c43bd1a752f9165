//! Errors of a roles file.

use crate::hours::HoursError;
use crate::rate::RateError;

#[derive(Debug, thiserror::Error)]
pub enum RolesError {
    /// The message of the parser, which has line and column.
    #[error("{0}")]
    Syntax(String),
    #[error("there are no roles, so that no caller could do anything; add one under `roles:`")]
    NoRoles,
    #[error("there are {0} roles; 64 are allowed")]
    TooMany(usize),
    #[error("role `{role}`: `@{toolset}` is no toolset of this file{suggestion}")]
    UnknownToolset { role: String, toolset: String, suggestion: String },
    #[error("`default: {0}` is no role of this file")]
    UnknownDefault(String),
    #[error("toolset `{0}`: a toolset names tools, not other toolsets")]
    NestedToolset(String),
    #[error("role `{role}`: {error}")]
    Rate { role: String, error: RateError },
    #[error("role `{role}`: {error}")]
    Hours { role: String, error: HoursError },
    #[error("role `{0}`: `concurrency` has to be at least 1")]
    NoConcurrency(String),
    #[error(
        "role `{0}` is given to nobody; name `tokens`, `groups`, `scopes`, `certificates` or `callers` under `given:`, or make it the `default:`"
    )]
    GivenToNobody(String),
}
