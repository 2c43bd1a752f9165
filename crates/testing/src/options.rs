//! Options: what to run and how to report it.

use std::path::PathBuf;

#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each of them is a flag of the command line")]
pub struct Options {
    /// Only tests with one of these in their name or file are run; all without any.
    pub patterns: Vec<String>,
    /// Lists the tests, and runs none.
    pub list: bool,
    /// Compares what clients see of the project with its record.
    pub contract: bool,
    /// Records snapshots or the contract again, after a review.
    pub update: bool,
    /// Records all changes without asking.
    pub yes: bool,
    /// Runs the affected tests again whenever a file changes.
    pub watch: bool,
    pub json: bool,
    /// Where a `JUnit` report goes; `-` is standard output.
    pub junit: Option<PathBuf>,
    /// How many cases run at once; as many as there are processors by default.
    pub jobs: Option<u16>,
    /// Fails if a tool has no test.
    pub require_tests: bool,
    /// Does not fail because a test runner is not installed.
    pub allow_missing: bool,
    pub loudness: Loudness,
    /// The flags that name the server, for the command that runs a failed test again.
    pub server_flags: Vec<String>,
}

/// How much of a report is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Loudness {
    /// Failures only.
    Quiet,
    /// A line for each subject.
    #[default]
    Usual,
    /// A line for each case.
    Each,
}
