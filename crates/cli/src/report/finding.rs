//! Finding: one line of a report: a problem in a file of the project or in its surroundings, a remark, or a check that
//! passed.

use mcp_bash_project::{Diagnostic, Repair, Severity};
use mcp_bash_settings::{SettingProblem, UnknownName};
use std::path::{Path, PathBuf};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grade {
    /// It was checked, and nothing is wrong.
    Good,
    /// Worth knowing, but nothing to fix.
    Note,
    Warning,
    Error,
}

pub(crate) struct Finding {
    /// Stable across releases, for programs; empty if they do not need it.
    pub(crate) id: &'static str,
    pub(crate) grade: Grade,
    pub(crate) file: Option<PathBuf>,
    pub(crate) line: Option<u64>,
    pub(crate) column: Option<u64>,
    pub(crate) problem: String,
    /// What the user should do.
    pub(crate) remedy: Option<String>,
    /// The command for it.
    pub(crate) command: Option<String>,
    /// The change of files that fixes it.
    pub(crate) repair: Option<Box<Repair>>,
    /// What `doctor --fix` does.
    pub(crate) fix: Option<Fix>,
}

/// Something that `doctor --fix` does.
pub(crate) struct Fix {
    /// For people: "make tools/a/tool.sh executable".
    pub(crate) message: String,
    pub(crate) command: Option<String>,
    pub(crate) apply: Box<dyn FnOnce() -> Result<(), String> + Send>,
}

impl Grade {
    /// Whether there is something to fix.
    pub(crate) fn is_bad(self) -> bool {
        matches!(self, Self::Warning | Self::Error)
    }

    /// Its name for people and programs.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Good | Self::Note => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl From<Severity> for Grade {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Error,
            Severity::Warning => Self::Warning,
        }
    }
}

impl Finding {
    pub(crate) fn new(id: &'static str, grade: Grade, problem: impl Into<String>) -> Self {
        Self {
            id,
            grade,
            file: None,
            line: None,
            column: None,
            problem: problem.into(),
            remedy: None,
            command: None,
            repair: None,
            fix: None,
        }
    }

    pub(crate) fn good(id: &'static str, words: impl Into<String>) -> Self {
        Self::new(id, Grade::Good, words)
    }

    pub(crate) fn note(id: &'static str, words: impl Into<String>) -> Self {
        Self::new(id, Grade::Note, words)
    }

    pub(crate) fn warning(id: &'static str, problem: impl Into<String>) -> Self {
        Self::new(id, Grade::Warning, problem)
    }

    pub(crate) fn error(id: &'static str, problem: impl Into<String>) -> Self {
        Self::new(id, Grade::Error, problem)
    }

    pub(crate) fn at(self, file: PathBuf) -> Self {
        Self { file: Some(file), ..self }
    }

    pub(crate) fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    pub(crate) fn command(self, command: impl Into<String>) -> Self {
        Self { command: Some(command.into()), ..self }
    }

    pub(crate) fn fix(self, fix: Fix) -> Self {
        Self { fix: Some(fix), ..self }
    }

    /// An error of this program without a name.
    pub(crate) fn of_problem(problem: impl Into<String>, remedy: Option<String>) -> Self {
        Self { remedy, ..Self::error("", problem) }
    }

    /// An error message, in which the fix follows `; `.
    pub(crate) fn of_error(error: &dyn std::fmt::Display) -> Self {
        let words = error.to_string();
        match words.rsplit_once("; ") {
            Some((problem, remedy)) => Self::of_problem(problem, Some(remedy.to_owned())),
            None => Self::of_problem(words, None),
        }
    }

    /// The message that there is no project, in which the fix follows `: `.
    pub(crate) fn of_missing_project(words: &str) -> Self {
        match words.split_once(": ") {
            Some((problem, remedy)) => Self::of_problem(problem, Some(remedy.to_owned())),
            None => Self::of_problem(words, None),
        }
    }

    /// A message that begins with a path below `root`.
    pub(crate) fn below(root: &Path, words: &str) -> Self {
        match words.split_once(": ") {
            Some((path, words)) => Self::of_error(&words).at(root.join(path)),
            None => Self::of_error(&words),
        }
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
        Self { line, column, remedy, repair, ..Self::new("", severity.into(), problem).at(path) }
    }
}

impl From<SettingProblem> for Finding {
    fn from(problem: SettingProblem) -> Self {
        let remedy = format!("set {} to a value that can be used, or unset it", problem.name);
        Self::error("", problem.to_string()).remedy(remedy)
    }
}

impl From<UnknownName> for Finding {
    fn from(unknown: UnknownName) -> Self {
        Self::warning("", unknown.problem()).remedy(unknown.remedy())
    }
}
