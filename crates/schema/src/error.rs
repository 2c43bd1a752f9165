//! Schema errors: why a schema cannot be used.

use crate::bounds::{MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, MAX_SUBSCHEMAS};
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaError {
    TooLarge,
    TooDeep,
    TooManySubschemas,
    /// The text is not JSON, for this reason.
    NotJson(String),
    /// `$schema` names this dialect.
    UnknownDialect(String),
    /// The schema is invalid in its own dialect. The sentence says where and why.
    Invalid(String),
    /// A reference leads to this address outside the schema.
    OutsideReference(String),
    /// A reference leads to a place in the schema that does not exist.
    DanglingReference(String),
    /// A regular expression that cannot be matched in time proportional to the text.
    UnboundedPattern {
        path: String,
        pattern: String,
    },
    /// A pattern that is not a regular expression, or much too large.
    BadPattern {
        path: String,
        pattern: String,
    },
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(f, "the schema is larger than {MAX_SCHEMA_BYTES} bytes"),
            Self::TooDeep => write!(f, "the schema nests deeper than {MAX_SCHEMA_DEPTH} levels"),
            Self::TooManySubschemas => write!(f, "the schema has more than {MAX_SUBSCHEMAS} subschemas"),
            Self::NotJson(reason) => write!(f, "the schema is not JSON: {reason}"),
            Self::UnknownDialect(uri) => write!(
                f,
                "the schema is written in a dialect that is not known here, `{uri}`; leave `$schema` out for \
                 2020-12, or name 2019-09, draft-07, draft-06 or draft-04"
            ),
            Self::Invalid(sentence) => write!(f, "the schema is not valid: {sentence}"),
            Self::OutsideReference(uri) => write!(
                f,
                "the schema refers to `{uri}` outside itself, which is never fetched; copy it into `$defs`"
            ),
            Self::DanglingReference(reference) => {
                write!(f, "the schema refers to `{reference}`, which it does not have")
            }
            Self::UnboundedPattern { path, pattern } => write!(
                f,
                "the pattern `{pattern}` at `{path}` cannot be matched in bounded time; write it without \
                 look-around and back-references"
            ),
            Self::BadPattern { path, pattern } => {
                write!(f, "the pattern `{pattern}` at `{path}` is no regular expression, or is too large")
            }
        }
    }
}

impl std::error::Error for SchemaError {}
