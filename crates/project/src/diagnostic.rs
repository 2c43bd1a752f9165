//! What discovery skipped, and why.

use std::fmt;
use std::path::PathBuf;

/// One thing that is wrong with a project and did not stop the rest of it from being served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub path: PathBuf,
    /// What is wrong and what would mend it, as a sentence fragment.
    pub problem: String,
}

impl Diagnostic {
    pub(crate) fn new(path: impl Into<PathBuf>, problem: impl Into<String>) -> Self {
        Self { path: path.into(), problem: problem.into() }
    }

    /// Whether something that may have been meant to be served is not.
    pub fn tells_of_a_skip(&self) -> bool {
        ["is skipped", "is not searched", "holds "].iter().any(|start| self.problem.starts_with(start))
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path.display(), self.problem)
    }
}
