//! Finding: one problem, as `health` and `validate` report it: in a file of the project, or in its surroundings.

use mcp_bash_project::{Diagnostic, Repair, Severity};
use mcp_bash_settings::{SettingProblem, UnknownName};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(crate) struct Finding {
    pub(crate) severity: Severity,
    pub(crate) file: Option<PathBuf>,
    pub(crate) line: Option<u64>,
    pub(crate) column: Option<u64>,
    pub(crate) problem: String,
    pub(crate) remedy: Option<String>,
    pub(crate) repair: Option<Box<Repair>>,
}

impl Finding {
    /// A problem that is in no file.
    pub(crate) fn error(problem: impl Into<String>, remedy: Option<String>) -> Self {
        let problem = problem.into();
        Self {
            severity: Severity::Error,
            file: None,
            line: None,
            column: None,
            problem,
            remedy,
            repair: None,
        }
    }

    /// An error message, in which the fix follows `; `.
    pub(crate) fn of_error(error: &dyn std::fmt::Display) -> Self {
        let words = error.to_string();
        match words.rsplit_once("; ") {
            Some((problem, remedy)) => Self::error(problem, Some(remedy.to_owned())),
            None => Self::error(words, None),
        }
    }

    /// The message that there is no project, in which the fix follows `: `.
    pub(crate) fn of_missing_project(words: &str) -> Self {
        match words.split_once(": ") {
            Some((problem, remedy)) => Self::error(problem, Some(remedy.to_owned())),
            None => Self::error(words, None),
        }
    }

    /// A message that begins with a path below `root`.
    pub(crate) fn below(root: &Path, words: &str) -> Self {
        match words.split_once(": ") {
            Some((path, words)) => Self { file: Some(root.join(path)), ..Self::of_error(&words) },
            None => Self::of_error(&words),
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "severity": self.severity.as_str(),
            "file": self.file.as_ref().map(|file| file.to_string_lossy()),
            "line": self.line,
            "column": self.column,
            "problem": self.problem,
            "remedy": self.remedy,
        })
    }
}

/// The colour of a severity.
pub(crate) fn colour_of(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "31",
        Severity::Warning => "33",
    }
}

/// A path relative to the project.
pub(crate) fn shortened(path: &Path, project: Option<&Path>) -> String {
    let below = project.and_then(|project| path.strip_prefix(project).ok());
    let below = below.filter(|below| !below.as_os_str().is_empty());
    below.unwrap_or(path).to_string_lossy().into_owned()
}

impl From<Diagnostic> for Finding {
    fn from(diagnostic: Diagnostic) -> Self {
        let Diagnostic { severity, path, line, column, problem, remedy, repair } = diagnostic;
        Self { severity, file: Some(path), line, column, problem, remedy, repair }
    }
}

impl From<SettingProblem> for Finding {
    fn from(problem: SettingProblem) -> Self {
        let remedy = format!("set {} to a value that can be used, or unset it", problem.name);
        Self::error(problem.to_string(), Some(remedy))
    }
}

impl From<UnknownName> for Finding {
    fn from(unknown: UnknownName) -> Self {
        let remedy = Some(unknown.remedy());
        Self { severity: Severity::Warning, ..Self::error(unknown.problem(), remedy) }
    }
}
