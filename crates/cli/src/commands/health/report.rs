//! Report of `--health`: text for people on a terminal, JSON for programs.

use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::sandbox_check::{SandboxCheck, TRIAL};
use crate::open::search_path::SearchPath;
use crate::report::finding::{Finding, Grade};
use crate::report::json::Member;
use crate::report::text::Layout;
use crate::report::{Group, Report};
use crate::terminal::print::print;
use mcp_bash_terminal::words::counted;
use mcp_bash_terminal::{Terminal, visible};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

/// The members of a problem, by the names that programs know.
const MEMBERS: &[(&str, Member)] = &[
    ("severity", Member::Grade),
    ("file", Member::File),
    ("line", Member::Line),
    ("column", Member::Column),
    ("problem", Member::Problem),
    ("remedy", Member::Remedy),
];

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

    pub(crate) fn exit(self) -> Exit {
        Report::exit(self != Self::Misconfigured, self == Self::Unhealthy)
    }
}

pub(crate) struct Health {
    pub(crate) status: Status,
    pub(crate) minimal: bool,
    pub(crate) tools: usize,
    pub(crate) resources: usize,
    pub(crate) prompts: usize,
    /// Whether no tool could be called.
    pub(crate) tools_fail: bool,
    /// Whether nothing could be served.
    pub(crate) all_fails: bool,
    pub(crate) search_path: Option<SearchPath>,
    /// How scripts are confined.
    pub(crate) sandboxes: Option<SandboxCheck>,
    /// Whether the project's own checks passed, if it has some.
    pub(crate) project_checks: Option<bool>,
    /// The problems. Its root is the folder of the project, if it was found.
    pub(crate) report: Report,
}

impl Health {
    /// A report of problems alone.
    pub(crate) fn of(status: Status, problems: Vec<Finding>) -> Self {
        Self {
            status,
            minimal: false,
            tools: 0,
            resources: 0,
            prompts: 0,
            tools_fail: false,
            all_fails: false,
            search_path: None,
            sandboxes: None,
            project_checks: None,
            report: Report { root: None, groups: vec![Group::new("", problems)] },
        }
    }

    /// A report about the project in a folder.
    pub(crate) fn about(mut self, folder: PathBuf) -> Self {
        self.report.root = Some(folder);
        self
    }

    fn to_json(&self) -> Value {
        let mut report = json!({
            "status": self.status.as_str(),
            "mode": if self.minimal { "minimal" } else { "full" },
            "jsonTool": "jq",
            "problems": self.report.findings_to_json(MEMBERS, |_| true),
        });
        if let (Some(project), Some(search_path)) = (&self.report.root, &self.search_path) {
            report["project"] = json!(project.to_string_lossy());
            let status = |fails: bool| if fails { "failed" } else { "ok" };
            report["tools"] = json!(status(self.tools_fail));
            report["resources"] = json!(status(self.all_fails));
            report["prompts"] = json!(status(self.all_fails));
            report["counts"] =
                json!({ "tools": self.tools, "resources": self.resources, "prompts": self.prompts });
            report["path"] = json!(search_path.path.to_string_lossy());
            report["pathSource"] = json!(search_path.source);
            report["sandbox"] = json!(self.sandboxes.as_ref().map(SandboxCheck::to_json));
            report["projectChecks"] = json!(status(self.project_checks == Some(false)));
        }
        report
    }

    /// The report for people, with the problems grouped by file, and the result.
    fn text(&self, terminal: Terminal) -> String {
        let mut text = self.report.text(Layout::Files, terminal, |_| true);
        if let Some(sandboxes) = &self.sandboxes {
            let _ = writeln!(text, "{}", sandboxes.line());
            if let Some(proposal) = sandboxes.proposal() {
                let _ = writeln!(text, "    → {}; to try it, run: {TRIAL}", visible(&proposal));
            }
        }
        let status = match self.status {
            Status::Ok => terminal.painted("32", "ready"),
            other => terminal.painted("31", other.as_str()),
        };
        if let Some(project) = &self.report.root {
            let _ = write!(
                text,
                "{}: {}, {}, {}: ",
                visible(&project.to_string_lossy()),
                counted(self.tools, "tool"),
                counted(self.resources, "resource"),
                counted(self.prompts, "prompt")
            );
        }
        let errors = counted(self.report.count(Grade::Error), "error");
        let warnings = counted(self.report.count(Grade::Warning), "warning");
        let _ = writeln!(text, "{status} ({errors}, {warnings})");
        text
    }
}

pub(crate) fn print_report(health: &Health, as_json: bool) -> Result<(), Error> {
    let terminal = Terminal::of_stdout();
    print(&if as_json || !terminal.is_one() {
        format!("{}\n", health.to_json())
    } else {
        health.text(terminal)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn health() -> Health {
        let problem = |file: &str, line, grade| {
            let finding = Finding::new("", grade, "is odd\u{1b}[2J").remedy("fix it").at(file.into());
            Finding { line, ..finding }
        };
        let problems = vec![
            problem("/p/tools/b", Some(3), Grade::Warning),
            problem("/p/tools/a", None, Grade::Error),
            problem("/p/tools/b", Some(9), Grade::Error),
            Finding::error("", "no luck"),
        ];
        Health { tools: 1, ..Health::of(Status::Unhealthy, problems).about("/p".into()) }
    }

    #[test]
    fn text_is_grouped_by_file_and_nothing_in_it_moves_the_cursor() {
        let expected = "  error: no luck\n\n\
            tools/a\n  error: is odd\\u{1b}[2J\n    → fix it\n\n\
            tools/b\n  warning: line 3: is odd\\u{1b}[2J\n    → fix it\n  error: line 9: is odd\\u{1b}[2J\n    → fix it\n\n\
            /p: 1 tool, 0 resources, 0 prompts: unhealthy (3 errors, 1 warning)\n";
        assert_eq!(health().text(Terminal::coloured(false)), expected);
    }

    #[test]
    fn colours_are_only_where_they_are_wanted() {
        assert!(health().text(Terminal::coloured(true)).contains("\x1b[31merror\x1b[0m"));
        assert!(!health().text(Terminal::coloured(false)).contains('\x1b'));
    }
}
