//! Report of `doctor`: checks in sections, and the fixes that were or would be made; as text for people and as JSON.

use crate::terminal::finding::colour_of;
use mcp_bash_project::Severity;
use mcp_bash_terminal::{Terminal, visible};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grade {
    Good,
    /// Worth knowing, but nothing to fix.
    Note,
    Bad(Severity),
}

/// One check.
pub(super) struct Check {
    /// Stable across releases, for programs.
    pub(super) id: &'static str,
    pub(super) grade: Grade,
    message: String,
    /// What the user should do.
    remedy: Option<String>,
    /// The command for it.
    command: Option<String>,
    /// What `--fix` would do.
    fix: Option<Fix>,
}

/// Something that `doctor --fix` does.
pub(super) struct Fix {
    /// For people: "make tools/a/tool.sh executable".
    pub(super) message: String,
    pub(super) command: Option<String>,
    pub(super) apply: Box<dyn FnOnce() -> Result<(), String> + Send>,
}

impl Check {
    pub(super) fn good(id: &'static str, message: impl Into<String>) -> Self {
        Self::new(id, Grade::Good, message)
    }

    pub(super) fn note(id: &'static str, message: impl Into<String>) -> Self {
        Self::new(id, Grade::Note, message)
    }

    pub(super) fn warning(id: &'static str, message: impl Into<String>) -> Self {
        Self::new(id, Grade::Bad(Severity::Warning), message)
    }

    pub(super) fn error(id: &'static str, message: impl Into<String>) -> Self {
        Self::new(id, Grade::Bad(Severity::Error), message)
    }

    pub(super) fn new(id: &'static str, grade: Grade, message: impl Into<String>) -> Self {
        Self { id, grade, message: message.into(), remedy: None, command: None, fix: None }
    }

    pub(super) fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    pub(super) fn command(self, command: impl Into<String>) -> Self {
        Self { command: Some(command.into()), ..self }
    }

    pub(super) fn fix(self, fix: Fix) -> Self {
        Self { fix: Some(fix), ..self }
    }

    fn to_json(&self, severity: Severity) -> Value {
        let message = match &self.remedy {
            Some(remedy) => format!("{}; {remedy}", self.message),
            None => self.message.clone(),
        };
        json!({
            "id": self.id,
            "severity": severity.as_str(),
            "message": message,
            "fixable": self.fix.is_some(),
            "suggestedCommand": self.command,
        })
    }
}

pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) checks: Vec<Check>,
}

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
pub(super) struct Report {
    sections: Vec<Section>,
    /// Additional facts for programs.
    facts: Map<String, Value>,
    proposed: Vec<Action>,
    taken: Vec<Action>,
}

impl Report {
    pub(super) fn add(&mut self, section: Section) {
        self.sections.push(section);
    }

    pub(super) fn fact(&mut self, name: &str, value: Value) {
        self.facts.insert(name.to_owned(), value);
    }

    /// Makes the fixes, or lists them.
    pub(super) fn repair(&mut self, mode: Mode) {
        for check in self.sections.iter_mut().flat_map(|section| &mut section.checks) {
            if mode == Mode::Look {
                return;
            }
            let Some(fix) = &check.fix else { continue };
            let (message, command) = (fix.message.clone(), fix.command.clone());
            self.proposed.push(Action { id: check.id, message, command, failure: None });
            if mode == Mode::Propose {
                continue;
            }
            let Some(Fix { message, command, apply }) = check.fix.take() else { continue };
            let failure = apply().err();
            if failure.is_none() {
                check.grade = Grade::Good;
                check.message = format!("fixed: {}", check.message);
                check.remedy = None;
            }
            self.taken.push(Action { id: check.id, message, command, failure });
        }
    }

    fn count(&self, severity: Severity) -> usize {
        let checks = self.sections.iter().flat_map(|section| &section.checks);
        checks.filter(|check| check.grade == Grade::Bad(severity)).count()
    }

    pub(super) fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0 || self.taken.iter().any(|action| action.failure.is_some())
    }

    pub(super) fn to_json(&self, exit_code: u8) -> Value {
        let checks = self.sections.iter().flat_map(|section| &section.checks);
        let findings: Vec<Value> = checks
            .filter_map(|check| match check.grade {
                Grade::Bad(severity) => Some(check.to_json(severity)),
                Grade::Good | Grade::Note => None,
            })
            .collect();
        let mut report = json!({
            "schemaVersion": 1,
            "exitCode": exit_code,
            "findings": findings,
            "proposedActions": self.proposed.iter().map(Action::to_json).collect::<Vec<_>>(),
            "actionsTaken": self.taken.iter().map(Action::to_json).collect::<Vec<_>>(),
        });
        if let Value::Object(report) = &mut report {
            report.extend(self.facts.clone());
            report.insert("errors".into(), self.count(Severity::Error).into());
            report.insert("warnings".into(), self.count(Severity::Warning).into());
        }
        report
    }

    /// The report for people; `quiet` leaves out successful checks.
    pub(super) fn text(&self, terminal: Terminal, quiet: bool) -> String {
        let mut text = String::new();
        for section in &self.sections {
            let is_shown = |check: &&Check| !quiet || matches!(check.grade, Grade::Bad(_));
            let shown: Vec<&Check> = section.checks.iter().filter(is_shown).collect();
            if shown.is_empty() {
                continue;
            }
            let _ = writeln!(text, "{}", terminal.painted("1", section.title));
            for check in shown {
                let _ = writeln!(text, "  {} {}", mark(check.grade, terminal), visible(&check.message));
                let remedies = check.remedy.iter().cloned();
                let commands = check.command.iter().map(|command| format!("run: {command}"));
                for line in remedies.chain(commands) {
                    let _ = writeln!(text, "    → {}", visible(&line));
                }
            }
            text.push('\n');
        }
        text.push_str(&self.actions(terminal));
        let counted = mcp_bash_terminal::words::counted;
        let (errors, warnings) = (self.count(Severity::Error), self.count(Severity::Warning));
        let checks = self.sections.iter().flat_map(|section| &section.checks);
        let fixable = checks.filter(|check| check.fix.is_some()).count();
        let hint = if fixable > 0 && self.proposed.is_empty() {
            format!("; `mcp-bash doctor --fix` fixes {fixable} of them, `--dry-run` says how")
        } else {
            String::new()
        };
        let _ = writeln!(text, "{}, {}{hint}", counted(errors, "error"), counted(warnings, "warning"));
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

fn mark(grade: Grade, terminal: Terminal) -> String {
    match grade {
        Grade::Good => terminal.painted("32", "✓"),
        Grade::Note => terminal.painted("2", "·"),
        Grade::Bad(severity) => {
            let mark = if severity == Severity::Error { "✗" } else { "⚠" };
            terminal.painted(colour_of(severity), mark)
        }
    }
}
