//! Errors of packaging. The messages complete "mcp-bash: ..." and name the file, the key and the next step.

use thiserror::Error;

#[derive(Debug, Error, PartialEq, Eq)]
pub enum PackagingError {
    #[error("mcpb.conf:{line}: expected KEY=VALUE, and found `{found}`; the file is data and is never run")]
    NotAnAssignment { line: usize, found: String },
    #[error(
        "mcpb.conf:{line}: {key} has {what}, which a shell would run or replace; the file is data, so write the value itself, \
         in single quotes if it has such signs"
    )]
    Runs { line: usize, key: String, what: &'static str },
    #[error("mcpb.conf:{line}: the value of {key} has no closing {quote}")]
    OpenQuote { line: usize, key: String, quote: char },
    #[error("mcpb.conf:{line}: {key} is no key of a bundle{}", meant(.suggestion.as_ref()))]
    UnknownKey { line: usize, key: String, suggestion: Option<&'static str> },
    #[error("mcpb.conf:{line}: {key} is there twice, first in line {first}; remove one of them")]
    Twice { line: usize, key: String, first: usize },
    #[error("mcpb.conf:{line}: {key} is not usable: {problem}")]
    Value { line: usize, key: &'static str, problem: String },
    #[error("server.d/server.meta.json: `{key}` is not usable: {problem}")]
    Meta { key: &'static str, problem: String },
    #[error(
        "`{0}` is no semantic version (such as 1.4.0), and Claude Desktop crashes at every start with a bundle like that; set \
         MCPB_VERSION in mcpb.conf or `version` in server.d/server.meta.json"
    )]
    Version(String),
    #[error("`{0}` is no name of a package: use letters, digits, `.`, `_` and `-`, at most 64")]
    Name(String),
    #[error(
        "a bundle needs an author: set MCPB_AUTHOR_NAME in mcpb.conf, or `\"author\": {{\"name\": \"…\"}}` in \
         server.d/server.meta.json"
    )]
    NoAuthor,
    #[error(
        "a bundle needs a description: set MCPB_DESCRIPTION in mcpb.conf, or `description` in server.d/server.meta.json"
    )]
    NoDescription,
    #[error("`{0}` leads out of the project; name a path below it")]
    OutsidePath(String),
    #[error("vendor.json cannot be used: {0}")]
    Lock(String),
}

fn meant(suggestion: Option<&&'static str>) -> String {
    suggestion.map(|key| format!(", did you mean {key}?")).unwrap_or_default()
}
