//! Client errors: what can go wrong between a client and a server.

use crate::http::HttpError;
use serde_json::Value;
use serde_json::value::RawValue;
use std::io;
use std::time::Duration;
use thiserror::Error;

/// The messages complete "mcp-bash: ...".
#[derive(Debug, Error)]
pub enum Error {
    #[error("failed to start `{command}`: {source}")]
    Start { command: String, source: io::Error },
    #[error("the server ended before it answered{}", of_ending(.0.as_deref()))]
    Ended(Option<String>),
    #[error("the server did not answer `{method}` within {} s", after.as_secs_f64())]
    TimedOut { method: String, after: Duration },
    #[error("the server does not speak the protocol: it sent {0}")]
    Protocol(String),
    /// A server over HTTP cannot be reached or used.
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("the server asks `{method}`, which cannot be answered: {why}")]
    Unanswerable { method: String, why: String },
    /// The server answered with an error.
    #[error("{0}")]
    Refused(Refusal),
}

/// The error that a server answers with.
#[derive(Debug)]
pub struct Refusal {
    pub code: i64,
    pub message: String,
    /// The whole error object as it came.
    pub text: Box<RawValue>,
}

impl Refusal {
    /// The `data` of the error, beyond its message.
    pub fn data(&self) -> Value {
        let error: Value = serde_json::from_str(self.text.get()).unwrap_or_default();
        error.get("data").cloned().unwrap_or_default()
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (error {})", self.message, self.code)
    }
}

fn of_ending(how: Option<&str>) -> String {
    how.map(|how| format!(" ({how})")).unwrap_or_default()
}
