//! Report of `validate`: a line for each finding and each sound entry, or one JSON document.

use super::fix::Fix;
use super::sections::Section;
use super::{applied, count, defaults};
use crate::terminal::finding::{Finding, colour_of, shortened};
use mcp_bash_project::{Catalog, Paths, Repair, Severity, metadata_names, origins};
use mcp_bash_terminal::{Terminal, visible};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub(super) struct Report<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) paths: &'a Paths,
    pub(super) found: &'a [Finding],
    pub(super) fixes: &'a [Fix],
    pub(super) strict: bool,
    /// Whether sound entries are left out.
    pub(super) is_quiet: bool,
    pub(super) explains: bool,
    /// The command of the official inspector, if it is requested.
    pub(super) inspector: Option<&'a str>,
}

/// A finding, an entry without problems, or an author's declaration.
enum Message<'a> {
    Finding(&'a Finding),
    Note(String),
    Sound(String),
}

struct Placed<'a> {
    section: Section,
    file: Option<PathBuf>,
    line: Option<u64>,
    message: Message<'a>,
}

impl Report<'_> {
    /// The findings that make the command fail.
    pub(super) fn counted_errors(&self) -> usize {
        let warnings = if self.strict { count(self.found, Severity::Warning) } else { 0 };
        count(self.found, Severity::Error) + warnings
    }

    /// All messages, ordered by section and file.
    fn messages(&self) -> Vec<Placed<'_>> {
        let findings = self.found.iter().map(|finding| Placed {
            section: Section::of_finding(finding, self.paths),
            file: finding.file.clone(),
            line: finding.line,
            message: Message::Finding(finding),
        });
        let sound = self.sound_entries().into_iter().map(|(file, words)| Placed {
            section: Section::of(&file, self.paths),
            file: Some(file),
            line: None,
            message: Message::Sound(words),
        });
        let notes = self.declarations().into_iter().map(|(file, words)| Placed {
            section: Section::of(&file, self.paths),
            file: Some(file),
            line: None,
            message: Message::Note(words),
        });
        let mut messages: Vec<Placed<'_>> = findings.chain(sound).chain(notes).collect();
        messages.sort_by(|one, other| {
            (one.section, &one.file, one.line).cmp(&(other.section, &other.file, other.line))
        });
        messages
    }

    /// What authors declare safe and no check can confirm: the arguments that may hold any text where a program may read
    /// code.
    fn declarations(&self) -> Vec<(PathBuf, String)> {
        let tools = self.catalog.tools.items().iter();
        let declared = tools.flat_map(|tool| {
            let unrestricted = tool.execution.mapping().into_iter().flat_map(|mapping| &mapping.unrestricted);
            unrestricted.map(|(name, reason)| {
                let words = format!("lets `{name}` hold any text, also where a program may read it as code");
                (tool.script.clone(), format!("{words}; its author says: {reason}"))
            })
        });
        declared.collect()
    }

    /// The entries without problems, each with its file.
    fn sound_entries(&self) -> Vec<(PathBuf, String)> {
        let (catalog, paths) = (self.catalog, self.paths);
        let named = |kind: &str, name: &str| format!("valid ({kind} {name})");
        let tools = catalog.tools.items().iter().map(|tool| (tool.script.clone(), named("tool", &tool.name)));
        let prompts =
            catalog.prompts.items().iter().map(|prompt| (prompt.file.clone(), named("prompt", &prompt.name)));
        let place = |path: &str| match path {
            "" => paths.server.join("register.json"),
            path => paths.resources.join(path),
        };
        let resources = catalog.resources.items().iter();
        let resources = resources.map(|known| (place(&known.path), named("resource", &known.about.name)));
        let templates = catalog.templates.items().iter();
        let templates = templates.map(|known| (place(&known.path), named("template", &known.about.name)));
        let completions = catalog.completions.items().iter();
        let completions = completions.map(|known| (known.script.clone(), named("completion", &known.name)));
        let meta = paths.server.join("server.meta.json");
        let server = meta.is_file().then(|| (meta, "valid".to_owned()));
        let entries = tools.chain(prompts).chain(resources).chain(templates).chain(completions).chain(server);
        let wrong: HashSet<&Path> = self.found.iter().filter_map(|finding| finding.file.as_deref()).collect();
        let distrusted = self.distrusted();
        let is_sound = |file: &Path| !is_wrong(file, &wrong) && !is_inside(file, &distrusted);
        entries.filter(|(file, _)| is_sound(file)).collect()
    }

    /// The paths that must be fixed before their files are run: one finding can be about many.
    fn distrusted(&self) -> HashSet<&Path> {
        let errors = self.found.iter().filter(|finding| finding.severity == Severity::Error);
        let repairs = errors.filter_map(|finding| finding.repair.as_deref());
        repairs.flat_map(Repair::steps).map(|step| &*step.path).collect()
    }

    pub(super) fn to_json(&self) -> Value {
        let identity = &self.catalog.identity;
        let messages = self.messages().into_iter().map(|placed| {
            let file = placed.file.as_ref().map(|file| file.to_string_lossy().into_owned());
            let section = placed.section.as_str();
            match placed.message {
                Message::Finding(finding) => json!({
                    "level": finding.severity.as_str(),
                    "section": section,
                    "message": self.line_of(finding.file.as_deref(), finding.line, &finding.problem),
                    "file": file,
                    "line": finding.line,
                    "remedy": finding.remedy,
                }),
                Message::Note(words) | Message::Sound(words) => json!({
                    "level": "info",
                    "section": section,
                    "message": self.line_of(placed.file.as_deref(), None, &words),
                    "file": file,
                    "line": null,
                    "remedy": null,
                }),
            }
        });
        let mut report = json!({
            "projectRoot": self.paths.root.to_string_lossy(),
            "errors": count(self.found, Severity::Error),
            "warnings": count(self.found, Severity::Warning),
            "fixesApplied": applied(self.fixes),
            "strict": self.strict,
            "defaults": { "name": identity.name, "title": identity.title, "version": identity.version },
            "messages": messages.collect::<Vec<_>>(),
        });
        if !self.fixes.is_empty() {
            report["fixes"] = self.fixes.iter().map(Fix::to_json).collect();
        }
        if let Some(command) = self.inspector {
            report["inspector"] = json!(command);
        }
        if self.explains {
            report["entries"] = defaults::to_json(&origins(self.catalog));
        }
        report
    }

    pub(super) fn to_text(&self, terminal: Terminal) -> String {
        let mut text =
            format!("Validating project at {}...\n\n", visible(&self.paths.root.to_string_lossy()));
        for placed in self.messages() {
            match placed.message {
                Message::Finding(finding) => {
                    let sign = if finding.severity == Severity::Error { "✗" } else { "⚠" };
                    let sign = terminal.painted(colour_of(finding.severity), sign);
                    let line = self.line_of(finding.file.as_deref(), finding.line, &finding.problem);
                    let _ = writeln!(text, "{sign} {line}");
                    if let Some(remedy) = &finding.remedy {
                        let _ = writeln!(text, "    → {}", visible(remedy));
                    }
                }
                Message::Note(words) => {
                    let line = self.line_of(placed.file.as_deref(), None, &words);
                    let _ = writeln!(text, "{} {line}", terminal.painted("36", "ℹ"));
                }
                Message::Sound(_) if self.is_quiet => {}
                Message::Sound(words) => {
                    let line = self.line_of(placed.file.as_deref(), None, &words);
                    let _ = writeln!(text, "{} {line}", terminal.painted("32", "✓"));
                }
            }
        }
        text.push('\n');
        if self.explains {
            text.push_str(&defaults::to_text(&origins(self.catalog), &self.paths.root));
            text.push('\n');
        }
        text.push_str(&self.summary());
        text
    }

    /// `path:line - text`, on one line without control characters.
    fn line_of(&self, file: Option<&Path>, line: Option<u64>, words: &str) -> String {
        let Some(file) = file else { return visible(words) };
        let file =
            if file == self.paths.root { ".".to_owned() } else { shortened(file, Some(&self.paths.root)) };
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{line} - {}", visible(&file), visible(words))
    }

    /// Whether `--fix` would fix anything.
    fn can_be_repaired(&self) -> bool {
        let repairs = self.found.iter().filter_map(|finding| finding.repair.as_deref());
        repairs.flat_map(Repair::steps).any(|step| step.obstacle(&self.paths.root).is_none())
    }

    /// The last line: the result, and the next step.
    fn summary(&self) -> String {
        let (errors, warnings) = (self.counted_errors(), count(self.found, Severity::Warning));
        let mut text = String::new();
        match applied(self.fixes) {
            0 => {}
            fixed => {
                let _ = writeln!(text, "{fixed} fix(es) made.");
            }
        }
        if errors == 0 {
            let _ = writeln!(text, "All checks passed (warnings: {warnings}).");
            return text;
        }
        let is_untried = self.fixes.is_empty() || self.fixes.iter().any(Fix::is_only_shown);
        let step = if is_untried && self.can_be_repaired() {
            "Run 'mcp-bash validate --fix' to repair what can be repaired safely"
        } else if self.found.iter().any(|finding| finding.remedy.is_some()) {
            "Follow the advice after each arrow"
        } else {
            "Fix the problems above"
        };
        let strictly = if self.strict && warnings > 0 { " (warnings count as errors: --strict)" } else { "" };
        let _ = writeln!(text, "{errors} error(s) found{strictly}. {step}, and validate again.");
        text
    }
}

/// Whether a file, its metadata or a folder that contains it is one of these.
fn is_inside(file: &Path, paths: &HashSet<&Path>) -> bool {
    file.ancestors().any(|path| paths.contains(path)) || is_wrong(file, paths)
}

/// Whether a file or its metadata has a problem.
fn is_wrong(file: &Path, wrong: &HashSet<&Path>) -> bool {
    wrong.contains(file) || metadata_names(file).any(|metadata| wrong.contains(&*metadata))
}
