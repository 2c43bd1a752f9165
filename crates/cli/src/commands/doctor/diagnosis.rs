//! Diagnosis: the report of `doctor`, with the fixes that were or would be made, and facts for programs.

use crate::report::finding::{Finding, Fix, Grade};
use crate::report::json::Member;
use crate::report::text::Layout;
use crate::report::{Group, Report};
use mcp_bash_terminal::words::counted;
use mcp_bash_terminal::{Terminal, visible};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The members of a finding, by the names that programs know.
const MEMBERS: &[(&str, Member)] = &[
    ("id", Member::Id),
    ("severity", Member::Grade),
    ("message", Member::ProblemAndRemedy),
    ("fixable", Member::IsFixable),
    ("suggestedCommand", Member::Command),
];

/// Whether fixes are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Look,
    Propose,
    Repair,
}

/// A fix that was made, or would be.
struct Action {
    id: &'static str,
    message: String,
    command: Option<String>,
    failure: Option<String>,
}

#[derive(Default)]
pub(super) struct Diagnosis {
    report: Report,
    /// Additional facts for programs.
    facts: Map<String, Value>,
    proposed: Vec<Action>,
    taken: Vec<Action>,
}

impl Diagnosis {
    pub(super) fn add(&mut self, group: Group) {
        self.report.groups.push(group);
    }

    pub(super) fn fact(&mut self, name: &str, value: Value) {
        self.facts.insert(name.to_owned(), value);
    }

    /// Makes the fixes, or lists them.
    pub(super) fn repair(&mut self, mode: Mode) {
        for finding in self.report.groups.iter_mut().flat_map(|group| &mut group.findings) {
            if mode == Mode::Look {
                return;
            }
            let Some(fix) = &finding.fix else { continue };
            let (message, command) = (fix.message.clone(), fix.command.clone());
            self.proposed.push(Action { id: finding.id, message, command, failure: None });
            if mode == Mode::Propose {
                continue;
            }
            let Some(Fix { message, command, apply }) = finding.fix.take() else { continue };
            let failure = apply().err();
            if failure.is_none() {
                finding.grade = Grade::Good;
                finding.problem = format!("fixed: {}", finding.problem);
                finding.remedy = None;
            }
            self.taken.push(Action { id: finding.id, message, command, failure });
        }
    }

    pub(super) fn has_errors(&self) -> bool {
        self.report.count(Grade::Error) > 0 || self.taken.iter().any(|action| action.failure.is_some())
    }

    pub(super) fn to_json(&self, exit_code: u8) -> Value {
        let mut diagnosis = json!({
            "schemaVersion": 1,
            "exitCode": exit_code,
            "findings": self.report.findings_to_json(MEMBERS, |finding| finding.grade.is_bad()),
            "proposedActions": self.proposed.iter().map(Action::to_json).collect::<Vec<_>>(),
            "actionsTaken": self.taken.iter().map(Action::to_json).collect::<Vec<_>>(),
        });
        if let Value::Object(diagnosis) = &mut diagnosis {
            diagnosis.extend(self.facts.clone());
            diagnosis.insert("errors".into(), self.report.count(Grade::Error).into());
            diagnosis.insert("warnings".into(), self.report.count(Grade::Warning).into());
        }
        diagnosis
    }

    /// The report for people; `quiet` leaves out successful checks.
    pub(super) fn text(&self, terminal: Terminal, quiet: bool) -> String {
        let is_shown = |finding: &Finding| !quiet || finding.grade.is_bad();
        let mut text = self.report.text(Layout::Subjects, terminal, is_shown);
        text.push_str(&self.actions(terminal));
        let errors = counted(self.report.count(Grade::Error), "error");
        let warnings = counted(self.report.count(Grade::Warning), "warning");
        let fixable = self.report.findings().filter(|finding| finding.fix.is_some()).count();
        let hint = if fixable > 0 && self.proposed.is_empty() {
            format!("; `mcp-bash doctor --fix` fixes {fixable} of them, `--dry-run` says how")
        } else {
            String::new()
        };
        let _ = writeln!(text, "{errors}, {warnings}{hint}");
        text
    }

    fn actions(&self, terminal: Terminal) -> String {
        let mut text = String::new();
        let (title, actions) =
            if self.taken.is_empty() { ("Would do", &self.proposed) } else { ("Done", &self.taken) };
        if actions.is_empty() {
            return text;
        }
        let _ = writeln!(text, "{}", terminal.painted("1", title));
        for action in actions {
            let _ = match &action.failure {
                None => writeln!(text, "  - {}", visible(&action.message)),
                Some(why) => {
                    writeln!(text, "  - {}: failed: {}", visible(&action.message), visible(why))
                }
            };
        }
        text.push('\n');
        text
    }
}

impl Action {
    fn to_json(&self) -> Value {
        let mut action = json!({ "id": self.id, "message": self.message, "command": self.command });
        if let Some(failure) = &self.failure {
            action["error"] = json!(failure);
        }
        action
    }
}
