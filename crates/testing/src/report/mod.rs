//! Test report, for people and for programs.

mod json;
mod junit;
mod text;

pub(crate) use json::json;
pub(crate) use junit::junit;
pub(crate) use text::{diff_line, text};

use crate::external::{ExternalReport, Outcome};
use crate::run::{CaseReport, Status};
use std::time::Duration;

/// A whole run.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) cases: Vec<CaseReport>,
    pub(crate) externals: Vec<ExternalReport>,
    /// The tools that no case of the project tests.
    pub(crate) untested: Vec<String>,
    /// How many snapshots were recorded.
    pub(crate) recorded: usize,
    pub(crate) duration: Duration,
    /// Whether all tests were selected.
    pub(crate) is_whole: bool,
    /// Whether a tool without a test is a failure.
    pub(crate) requires_tests: bool,
    /// Whether test runners may be missing.
    pub(crate) allows_missing: bool,
}

/// How many tests had which result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    /// Files that could not be run.
    pub(crate) not_run: usize,
}

impl Report {
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for report in &self.cases {
            match report.status {
                Status::Passed => totals.passed += 1,
                Status::Failed(_) => totals.failed += 1,
                Status::Skipped(_) => totals.skipped += 1,
            }
        }
        for report in &self.externals {
            match &report.outcome {
                Outcome::Ran { passed, failed, skipped, problem } => {
                    totals.passed += passed;
                    // A file that fails without a failed test is one failure.
                    totals.failed += (*failed).max(usize::from(problem.is_some()));
                    totals.skipped += skipped;
                }
                Outcome::NotRun(_) => totals.not_run += 1,
            }
        }
        totals
    }

    pub(crate) fn has_failed(&self) -> bool {
        let totals = self.totals();
        totals.failed > 0 || totals.not_run > 0 && !self.allows_missing || self.lacks_tests()
    }

    fn lacks_tests(&self) -> bool {
        self.requires_tests && !self.untested.is_empty()
    }

    /// The cases of each subject, in the order in which the subjects first occur.
    fn by_subject(&self) -> Vec<(&str, Vec<&CaseReport>)> {
        let mut groups: Vec<(&str, Vec<&CaseReport>)> = Vec::new();
        for report in &self.cases {
            let name = report.case.subject().name();
            match groups.iter_mut().find(|(known, _)| *known == name) {
                Some((_, group)) => group.push(report),
                None => groups.push((name, vec![report])),
            }
        }
        groups
    }
}
