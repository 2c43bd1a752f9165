//! Reports of `health`, `validate` and `doctor`: findings in groups, one renderer for people (`text`) and one for programs
//! (`json`), and one rule for the exit code.

pub(crate) mod finding;
pub(crate) mod json;
pub(crate) mod text;

use crate::base::exit::Exit;
use finding::{Finding, Grade};
use std::path::PathBuf;

#[derive(Default)]
pub(crate) struct Report {
    /// The folder of the project, which paths are relative to.
    pub(crate) root: Option<PathBuf>,
    pub(crate) groups: Vec<Group>,
}

/// Findings with something in common: a file, a part of the project, a subject.
pub(crate) struct Group {
    /// Empty if the findings have nothing in common.
    pub(crate) title: String,
    pub(crate) findings: Vec<Finding>,
}

impl Group {
    pub(crate) fn new(title: impl Into<String>, findings: Vec<Finding>) -> Self {
        Self { title: title.into(), findings }
    }
}

impl Report {
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.groups.iter().flat_map(|group| &group.findings)
    }

    pub(crate) fn count(&self, grade: Grade) -> usize {
        self.findings().filter(|finding| finding.grade == grade).count()
    }

    /// The exit code: without a project that could be judged, with errors, or without.
    pub(crate) fn exit(has_project: bool, has_failed: bool) -> Exit {
        match (has_project, has_failed) {
            (false, _) => Exit::Usage,
            (true, true) => Exit::Failed,
            (true, false) => Exit::Done,
        }
    }
}
