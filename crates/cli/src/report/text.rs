//! Text reports, for people: a line for each finding with a mark, and below it what to do.

use super::Report;
use super::finding::{Finding, Grade, shortened};
use mcp_bash_terminal::{Terminal, visible};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// How a command lays out its report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Groups are files: `error: line 3: text`.
    Files,
    /// No groups: `✗ path:3 - text`.
    Places,
    /// Groups are subjects: `✗ text`.
    Subjects,
}

impl Report {
    /// The findings that `is_shown`.
    pub(crate) fn text(
        &self,
        layout: Layout,
        terminal: Terminal,
        is_shown: impl Fn(&Finding) -> bool,
    ) -> String {
        let mut text = String::new();
        for (title, findings) in self.titled(layout) {
            let shown: Vec<&Finding> = findings.into_iter().filter(|finding| is_shown(finding)).collect();
            let is_apart = layout != Layout::Places && !shown.is_empty();
            if is_apart && !title.is_empty() {
                let _ = writeln!(text, "{}", terminal.painted("1", &visible(&title)));
            }
            for finding in shown {
                let _ = writeln!(text, "{}", line(finding, layout, self.root.as_deref(), terminal));
                let commands = finding.command.iter().map(|command| format!("run: {command}"));
                for advice in finding.remedy.iter().cloned().chain(commands) {
                    let _ = writeln!(text, "    → {}", visible(&advice));
                }
            }
            if is_apart {
                text.push('\n');
            }
        }
        text
    }

    /// The groups of a layout.
    fn titled(&self, layout: Layout) -> Vec<(String, Vec<&Finding>)> {
        if layout != Layout::Files {
            let groups = self.groups.iter();
            return groups.map(|group| (group.title.clone(), group.findings.iter().collect())).collect();
        }
        let mut files: BTreeMap<Option<&Path>, Vec<&Finding>> = BTreeMap::new();
        for finding in self.findings() {
            files.entry(finding.file.as_deref()).or_default().push(finding);
        }
        let title = |file: Option<&Path>| file.map(|file| shortened(file, self.root.as_deref()));
        files.into_iter().map(|(file, findings)| (title(file).unwrap_or_default(), findings)).collect()
    }
}

fn line(finding: &Finding, layout: Layout, root: Option<&Path>, terminal: Terminal) -> String {
    let grade = finding.grade;
    match layout {
        Layout::Files => {
            let line = finding.line.map(|line| format!("line {line}: ")).unwrap_or_default();
            let word = terminal.painted(colour(grade), grade.as_str());
            format!("  {word}: {line}{}", visible(&finding.problem))
        }
        Layout::Places => format!("{} {}", mark(grade, terminal), placed(finding, root)),
        // Among many good checks, a note is no more than they are.
        Layout::Subjects if grade == Grade::Note => {
            format!("  {} {}", terminal.painted("2", "·"), visible(&finding.problem))
        }
        Layout::Subjects => format!("  {} {}", mark(grade, terminal), visible(&finding.problem)),
    }
}

/// `path:line - text`, on one line without control characters.
pub(super) fn placed(finding: &Finding, root: Option<&Path>) -> String {
    let Some(file) = &finding.file else { return visible(&finding.problem) };
    let file = if Some(&**file) == root { ".".to_owned() } else { shortened(file, root) };
    let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
    format!("{}{line} - {}", visible(&file), visible(&finding.problem))
}

/// The sign of a grade, in its colour.
pub(crate) fn mark(grade: Grade, terminal: Terminal) -> String {
    let sign = match grade {
        Grade::Good => "✓",
        Grade::Note => "ℹ",
        Grade::Warning => "⚠",
        Grade::Error => "✗",
    };
    terminal.painted(colour(grade), sign)
}

fn colour(grade: Grade) -> &'static str {
    match grade {
        Grade::Good => "32",
        Grade::Note => "36",
        Grade::Warning => "33",
        Grade::Error => "31",
    }
}
