//! Errors that are found before a tool is called.

use std::ffi::OsString;
use thiserror::Error;

/// The messages complete "mcp-bash: ...".
#[derive(Debug, Error)]
pub(crate) enum CallError {
    #[error("`{command}` takes the name of a tool first{}; `mcp-bash list` shows which there are", word.as_ref().map(|word| format!(", not `{word}`")).unwrap_or_default())]
    NoName { command: String, word: Option<String> },
    #[error("`{}` is not UTF-8; give it with --args, escaped as JSON", .0.display())]
    NotText(OsString),
    #[error("--roots names `{0}`, which is no folder")]
    NoRoot(String),
    #[error("{kind} not found: {name}{}", hint(nearest.as_deref(), more))]
    NotFound { kind: &'static str, name: String, nearest: Option<String>, more: String },
    #[error(
        "--trace-access traces a tool of this project; a tool of another server (--url, --command) runs where it cannot be traced"
    )]
    TraceElsewhere,
    #[error("the accesses of a tool cannot be traced here: {0}")]
    NoTrace(std::io::Error),
    #[error("in minimal mode a server offers no tools; leave out --minimal and MCPBASH_FORCE_MINIMAL")]
    Minimal,
}

/// A hint for a user who named something that does not exist.
fn hint(nearest: Option<&str>, more: &str) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None => format!("; {more}"),
    }
}

impl CallError {
    /// No entry among these has that name.
    pub(crate) fn not_found(kind: &'static str, name: &str, known: &[&str], list: &str) -> Self {
        let nearest = mcp_bash_spelling::nearest_or_longer(name, known).map(ToOwned::to_owned);
        let more = if known.is_empty() {
            format!("there are no {kind}s")
        } else {
            format!("`mcp-bash list {list}` shows which there are")
        };
        Self::NotFound { kind, name: name.to_owned(), nearest, more }
    }
}
