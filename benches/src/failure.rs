//! Driver failures: why a server cannot be measured.

use std::fmt;

/// A measurement that could not be taken, with the name of the server.
#[derive(Debug)]
pub struct Failure {
    server: String,
    what: String,
}

impl Failure {
    pub fn new(server: impl Into<String>, what: impl Into<String>) -> Self {
        Self { server: server.into(), what: what.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.server, self.what)
    }
}

impl std::error::Error for Failure {}
