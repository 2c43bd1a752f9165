//! Prompt errors: why the messages of a prompt cannot be created.

use mcp_bash_budget::NoRoom;
use mcp_bash_fetch::FetchError;
use serde_json::Value;
use thiserror::Error;

/// The setting that limits files, templates and script output.
const LIMIT_SETTING: &str = "MCPBASH_MAX_PROMPT_BYTES";

/// The messages complete "Prompt 'name' (file) ...".
#[derive(Debug, Error)]
pub(super) enum PromptError {
    #[error("`messages[{index}]` {cause}")]
    InMessage { index: usize, cause: Box<Self> },
    #[error("has the role {0}; it must be \"user\" or \"assistant\"")]
    Role(Value),
    #[error("lacks the text `{0}` in its content")]
    Lacks(String),
    #[error("names {path} as {kind}, but it is {mime_type}")]
    Unsuitable { path: String, kind: String, mime_type: String },
    #[error("has a `path`, which the type `{0}` does not take")]
    NoPath(String),
    #[error("names {path}, which has more than {limit} bytes; {LIMIT_SETTING} sets the limit")]
    FileTooLarge { path: String, limit: usize },
    #[error("names {0}, which is outside the project; copy it into the project")]
    Outside(String),
    #[error("names a file that cannot be read: {0}")]
    Unreadable(FetchError),
    #[error("comes to more than {0} bytes; {LIMIT_SETTING} sets the limit")]
    TooLarge(usize),
    #[error("is too large: {0}")]
    NoRoom(#[from] NoRoom),
    #[error("is not valid JSON: {0}")]
    NotJson(serde_json::Error),
    /// A rule that needs no data in its message.
    #[error("{0}")]
    Rule(&'static str),
}

impl From<&'static str> for PromptError {
    fn from(rule: &'static str) -> Self {
        Self::Rule(rule)
    }
}
