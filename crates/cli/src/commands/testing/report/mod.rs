//! Test report, for people and for programs.

mod json;
mod junit;
mod text;

pub(super) use json::json;
pub(super) use junit::junit;
pub(super) use text::{Loudness, diff_line, text};

use super::external::{ExternalReport, Outcome};
use super::run::{CaseReport, Status};
use std::time::Duration;

/// A whole run.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) cases: Vec<CaseReport>,
    pub(super) externals: Vec<ExternalReport>,
    /// The tools that no case of the project tests.
    pub(super) untested: Vec<String>,
    /// How many snapshots were recorded.
    pub(super) recorded: usize,
    pub(super) duration: Duration,
    /// Whether all tests were selected.
    pub(super) is_whole: bool,
    /// Whether a tool without a test is a failure.
    pub(super) requires_tests: bool,
    /// Whether test runners may be missing.
    pub(super) allows_missing: bool,
}

/// How many tests had which result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) skipped: usize,
    /// Files that could not be run.
    pub(super) not_run: usize,
}

impl Report {
    pub(super) fn totals(&self) -> Totals {
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

    pub(super) fn has_failed(&self) -> bool {
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
            let name = report.case.subject.name();
            match groups.iter_mut().find(|(known, _)| *known == name) {
                Some((_, group)) => group.push(report),
                None => groups.push((name, vec![report])),
            }
        }
        groups
    }
}
