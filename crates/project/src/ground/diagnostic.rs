//! Diagnostics: what is wrong with a project, where, how severe it is, and the fix.

use crate::Repair;
use std::fmt;
use std::path::{Path, PathBuf};

/// How severe a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// An entry is not served, or a call of it would fail.
    Error,
    /// It is served, but the author surely meant something else.
    Warning,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One problem of a project that did not stop the rest of it from being served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub path: PathBuf,
    /// The line of the file, counted from 1.
    pub line: Option<u64>,
    /// The column in that line, counted from 1.
    pub column: Option<u64>,
    /// What is wrong, as a sentence fragment.
    pub problem: String,
    /// The next step, if one is known.
    pub remedy: Option<String>,
    /// The automatic fix that changes no meaning, if there is one.
    pub repair: Option<Box<Repair>>,
}

/// Prefixes of problems after which an entry is missing or cannot be called.
const GRAVE: [&str; 3] = ["is skipped", "keeps ", "cannot be read"];

impl Diagnostic {
    /// Splits a message into its parts: the text after the last `; ` is the fix; `at line 3 column 7`, as parsers write it,
    /// is the position, and so is `name:3: `, as a language reports an error in one of its files.
    pub(crate) fn new(path: impl Into<PathBuf>, words: impl Into<String>) -> Self {
        let words = words.into();
        let (problem, remedy) = match words.rsplit_once("; ") {
            Some((problem, remedy)) => (problem.to_owned(), Some(remedy.to_owned())),
            None => (words, None),
        };
        let is_grave = GRAVE.iter().any(|beginning| problem.starts_with(beginning));
        let severity = if is_grave { Severity::Error } else { Severity::Warning };
        let path = path.into();
        let (problem, place) = without_place(problem);
        let (mut line, column) = place.unzip();
        let (problem, own_line) = without_own_line(problem, &path);
        line = line.or(own_line);
        Self { severity, path, line, column, problem, remedy, repair: None }
    }

    /// A problem that would make a call fail.
    pub(crate) fn error(path: impl Into<PathBuf>, problem: impl Into<String>, remedy: &str) -> Self {
        Self {
            severity: Severity::Error,
            path: path.into(),
            line: None,
            column: None,
            problem: problem.into(),
            remedy: Some(remedy.to_owned()),
            repair: None,
        }
    }

    pub(crate) fn warning(path: impl Into<PathBuf>, problem: impl Into<String>, remedy: &str) -> Self {
        Self { severity: Severity::Warning, ..Self::error(path, problem, remedy) }
    }

    pub(crate) fn at(self, place: Option<(u64, u64)>) -> Self {
        let (line, column) = place.unzip();
        Self { line, column, ..self }
    }

    pub(crate) fn at_line(self, line: u64) -> Self {
        Self { line: Some(line), ..self }
    }

    /// The same, with an automatic fix.
    pub(crate) fn repaired_by(self, repair: Repair) -> Self {
        Self { repair: Some(Box::new(repair)), ..self }
    }

    /// The problem and the fix, without the position.
    pub fn words(&self) -> String {
        match &self.remedy {
            Some(remedy) => format!("{}; {remedy}", self.problem),
            None => self.problem.clone(),
        }
    }

    /// Whether something that may have been meant to be served is not.
    pub fn tells_of_a_skip(&self) -> bool {
        ["is skipped", "is not searched", "holds "].iter().any(|start| self.problem.starts_with(start))
    }

    /// Whether the folder is no project.
    pub fn tells_of_no_project(&self) -> bool {
        self.problem.starts_with("has nothing to serve")
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(formatter, ":{line}")?;
            if let Some(column) = self.column {
                write!(formatter, ":{column}")?;
            }
        }
        write!(formatter, ": {}", self.words())
    }
}

/// Removes the position from a parser's message, whether or not it is a position in the file.
pub(crate) fn without_place(problem: String) -> (String, Option<(u64, u64)>) {
    let found = problem.rfind(" at line ").and_then(|start| {
        let rest = &problem[start + " at line ".len()..];
        let (line, rest) = number(rest)?;
        let (column, rest) = number(rest.strip_prefix(" column ")?)?;
        Some((format!("{}{rest}", &problem[..start]), (line, column)))
    });
    match found {
        Some((problem, place)) => (problem, Some(place)),
        None => (problem, None),
    }
}

/// Removes `name:3: ` from the reason why a file is skipped, if that is its own name.
fn without_own_line(problem: String, file: &Path) -> (String, Option<u64>) {
    let found = problem.split_once(": ").and_then(|(beginning, rest)| {
        let (name, rest) = rest.split_once(':')?;
        let (line, rest) = number(rest)?;
        let is_own = !name.is_empty() && file.ends_with(name);
        is_own.then_some((format!("{beginning}{rest}"), line)).filter(|_| rest.starts_with(": "))
    });
    match found {
        Some((problem, line)) => (problem, Some(line)),
        None => (problem, None),
    }
}

fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_split_into_place_problem_and_fix_and_joined_again() {
        let skipped =
            Diagnostic::new("/p/x.json", "is skipped: expected value at line 3 column 17; fix the JSON");
        assert_eq!((skipped.severity, skipped.line, skipped.column), (Severity::Error, Some(3), Some(17)));
        assert_eq!(skipped.problem, "is skipped: expected value");
        assert_eq!(skipped.to_string(), "/p/x.json:3:17: is skipped: expected value; fix the JSON");
        let own = Diagnostic::new("/p/a.py", "is skipped: a.py:3: SyntaxError: x:1: y; fix it");
        assert_eq!((own.line, own.column), (Some(3), None));
        assert_eq!(own.to_string(), "/p/a.py:3: is skipped: SyntaxError: x:1: y; fix it");
        for words in ["is skipped: b.py:3: SyntaxError", "is skipped: a.py:3", "is skipped: :3: x"] {
            let other = Diagnostic::new("/p/a.py", words);
            assert_eq!((other.line, &*other.problem), (None, words));
        }
        let plain = Diagnostic::new("/p", "has a name at line 3");
        assert_eq!((plain.severity, plain.line, &plain.remedy), (Severity::Warning, None, &None));
        assert_eq!(plain.to_string(), "/p: has a name at line 3");
    }
}
