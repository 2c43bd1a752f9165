//! Report of `--health`: text for people on a terminal, JSON for programs.

use crate::base::error::Error;
use crate::open::search_path::SearchPath;
use crate::terminal::finding::{Finding, colour_of, shortened};
use crate::terminal::print::print;
use mcp_bash_project::Severity;
use mcp_bash_terminal::words::counted;
use mcp_bash_terminal::{Terminal, visible};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Ok,
    Unhealthy,
    Misconfigured,
}

impl Status {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unhealthy => "unhealthy",
            Self::Misconfigured => "misconfigured",
        }
    }

    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Unhealthy => 1,
            Self::Misconfigured => 2,
        }
    }
}

pub(crate) struct Report {
    pub(crate) status: Status,
    pub(crate) minimal: bool,
    /// The folder of the project, if it was found.
    pub(crate) project: Option<PathBuf>,
    pub(crate) tools: usize,
    pub(crate) resources: usize,
    pub(crate) prompts: usize,
    /// Whether no tool could be called.
    pub(crate) tools_fail: bool,
    /// Whether nothing could be served.
    pub(crate) all_fails: bool,
    pub(crate) search_path: Option<SearchPath>,
    /// Whether the project's own checks passed, if it has some.
    pub(crate) project_checks: Option<bool>,
    pub(crate) problems: Vec<Finding>,
}

impl Report {
    /// A report of problems alone.
    pub(crate) fn of(status: Status, problems: Vec<Finding>) -> Self {
        Self {
            status,
            minimal: false,
            project: None,
            tools: 0,
            resources: 0,
            prompts: 0,
            tools_fail: false,
            all_fails: false,
            search_path: None,
            project_checks: None,
            problems,
        }
    }

    fn to_json(&self) -> Value {
        let mut report = json!({
            "status": self.status.as_str(),
            "mode": if self.minimal { "minimal" } else { "full" },
            "jsonTool": "jq",
            "problems": self.problems.iter().map(Finding::to_json).collect::<Vec<_>>(),
        });
        if let (Some(project), Some(search_path)) = (&self.project, &self.search_path) {
            report["project"] = json!(project.to_string_lossy());
            let status = |fails: bool| if fails { "failed" } else { "ok" };
            report["tools"] = json!(status(self.tools_fail));
            report["resources"] = json!(status(self.all_fails));
            report["prompts"] = json!(status(self.all_fails));
            report["counts"] =
                json!({ "tools": self.tools, "resources": self.resources, "prompts": self.prompts });
            report["path"] = json!(search_path.path.to_string_lossy());
            report["pathSource"] = json!(search_path.source);
            report["projectChecks"] = json!(status(self.project_checks == Some(false)));
        }
        report
    }
}

pub(crate) fn print_report(report: &Report, as_json: bool) -> Result<(), Error> {
    let text = if as_json || !Terminal::of_stdout().is_one() {
        format!("{}\n", report.to_json())
    } else {
        text(report, Terminal::of_stdout())
    };
    print(&text)
}

fn severity(severity: Severity, terminal: Terminal) -> String {
    terminal.painted(colour_of(severity), severity.as_str())
}

/// The report for people, with the problems grouped by file.
fn text(report: &Report, terminal: Terminal) -> String {
    let mut text = String::new();
    let mut files: BTreeMap<Option<&Path>, Vec<&Finding>> = BTreeMap::new();
    for problem in &report.problems {
        files.entry(problem.file.as_deref()).or_default().push(problem);
    }
    for (file, problems) in files {
        if let Some(file) = file {
            let _ = writeln!(
                text,
                "{}",
                terminal.painted("1", &visible(&shortened(file, report.project.as_deref())))
            );
        }
        for problem in problems {
            let line = problem.line.map(|line| format!("line {line}: ")).unwrap_or_default();
            let _ = writeln!(
                text,
                "  {}: {line}{}",
                severity(problem.severity, terminal),
                visible(&problem.problem)
            );
            if let Some(remedy) = &problem.remedy {
                let _ = writeln!(text, "    → {}", visible(remedy));
            }
        }
        text.push('\n');
    }
    text.push_str(&summary(report, terminal));
    text
}

/// The last lines: the result, and the number of findings.
fn summary(report: &Report, terminal: Terminal) -> String {
    let count = |severity| report.problems.iter().filter(|problem| problem.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let status = match report.status {
        Status::Ok => terminal.painted("32", "ready"),
        other => terminal.painted("31", other.as_str()),
    };
    let mut text = String::new();
    if let Some(project) = &report.project {
        let _ = write!(
            text,
            "{}: {}, {}, {}: ",
            visible(&project.to_string_lossy()),
            counted(report.tools, "tool"),
            counted(report.resources, "resource"),
            counted(report.prompts, "prompt")
        );
    }
    let _ = writeln!(text, "{status} ({}, {})", counted(errors, "error"), counted(warnings, "warning"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let problem = |file: &str, line, severity| Finding {
            severity,
            file: Some(file.into()),
            line,
            column: None,
            problem: "is odd\u{1b}[2J".to_owned(),
            remedy: Some("fix it".to_owned()),
            repair: None,
        };
        let problems = vec![
            problem("/p/tools/b", Some(3), Severity::Warning),
            problem("/p/tools/a", None, Severity::Error),
            problem("/p/tools/b", Some(9), Severity::Error),
            Finding::error("no luck", None),
        ];
        Report { project: Some("/p".into()), tools: 1, ..Report::of(Status::Unhealthy, problems) }
    }

    #[test]
    fn text_is_grouped_by_file_and_nothing_in_it_moves_the_cursor() {
        let expected = "  error: no luck\n\n\
            tools/a\n  error: is odd\\u{1b}[2J\n    → fix it\n\n\
            tools/b\n  warning: line 3: is odd\\u{1b}[2J\n    → fix it\n  error: line 9: is odd\\u{1b}[2J\n    → fix it\n\n\
            /p: 1 tool, 0 resources, 0 prompts: unhealthy (3 errors, 1 warning)\n";
        assert_eq!(text(&report(), Terminal::coloured(false)), expected);
    }

    #[test]
    fn colours_are_only_where_they_are_wanted() {
        assert!(text(&report(), Terminal::coloured(true)).contains("\x1b[31merror\x1b[0m"));
        assert!(!text(&report(), Terminal::coloured(false)).contains('\x1b'));
    }
}
