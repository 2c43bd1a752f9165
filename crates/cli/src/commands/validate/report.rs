//! Report of `validate`: a line for each finding and each sound entry, or one JSON document.

use super::fix::Fix;
use super::sections::Section;
use super::{applied, defaults};
use crate::report::finding::{Finding, Grade};
use crate::report::json::Member;
use crate::report::text::Layout;
use crate::report::{Group, Report};
use mcp_bash_project::{Catalog, Paths, Repair, metadata_names, origins};
use mcp_bash_terminal::{Terminal, visible};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The members of a message, by the names that programs know.
const MEMBERS: &[(&str, Member)] = &[
    ("level", Member::Grade),
    ("section", Member::Group),
    ("message", Member::PlacedProblem),
    ("file", Member::File),
    ("line", Member::Line),
    ("remedy", Member::Remedy),
];

pub(super) struct Validation<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) paths: &'a Paths,
    pub(super) fixes: &'a [Fix],
    pub(super) strict: bool,
    /// Whether sound entries are left out.
    pub(super) is_quiet: bool,
    pub(super) explains: bool,
    /// The command of the official inspector, if it is requested.
    pub(super) inspector: Option<&'a str>,
    /// The findings, the entries without problems and the declarations of authors, by section and file.
    pub(super) report: Report,
}

/// The report about a project in which these problems were found.
pub(super) fn report_of(mut found: Vec<Finding>, catalog: &Catalog, paths: &Paths) -> Report {
    let sound = sound_entries(catalog, paths, &found);
    found.extend(sound.into_iter().map(|(file, words)| Finding::good("", words).at(file)));
    found.extend(declarations(catalog).into_iter().map(|(file, words)| Finding::note("", words).at(file)));
    let section = |finding: &Finding| Section::of_finding(finding, paths);
    found.sort_by(|one, other| {
        (section(one), &one.file, one.line).cmp(&(section(other), &other.file, other.line))
    });
    let mut groups: Vec<Group> = Vec::new();
    for finding in found {
        let title = section(&finding).as_str();
        match groups.last_mut().filter(|group| group.title == title) {
            Some(group) => group.findings.push(finding),
            None => groups.push(Group::new(title, vec![finding])),
        }
    }
    Report { root: Some(paths.root.clone()), groups }
}

/// What authors declare safe and no check can confirm: the arguments that may hold any text where a program may read
/// code.
fn declarations(catalog: &Catalog) -> Vec<(PathBuf, String)> {
    let tools = catalog.tools.items().iter();
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
fn sound_entries(catalog: &Catalog, paths: &Paths, found: &[Finding]) -> Vec<(PathBuf, String)> {
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
    let wrong: HashSet<&Path> = found.iter().filter_map(|finding| finding.file.as_deref()).collect();
    let distrusted = distrusted(found);
    let is_sound = |file: &Path| !is_wrong(file, &wrong) && !is_inside(file, &distrusted);
    entries.filter(|(file, _)| is_sound(file)).collect()
}

/// The paths that must be fixed before their files are run: one finding can be about many.
fn distrusted(found: &[Finding]) -> HashSet<&Path> {
    let errors = found.iter().filter(|finding| finding.grade == Grade::Error);
    let repairs = errors.filter_map(|finding| finding.repair.as_deref());
    repairs.flat_map(Repair::steps).map(|step| &*step.path).collect()
}

impl Validation<'_> {
    /// The findings that make the command fail.
    pub(super) fn counted_errors(&self) -> usize {
        let warnings = if self.strict { self.report.count(Grade::Warning) } else { 0 };
        self.report.count(Grade::Error) + warnings
    }

    pub(super) fn to_json(&self) -> Value {
        let identity = &self.catalog.identity;
        let mut report = json!({
            "projectRoot": self.paths.root.to_string_lossy(),
            "errors": self.report.count(Grade::Error),
            "warnings": self.report.count(Grade::Warning),
            "fixesApplied": applied(self.fixes),
            "strict": self.strict,
            "defaults": { "name": identity.name, "title": identity.title, "version": identity.version },
            "messages": self.report.findings_to_json(MEMBERS, |_| true),
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
        let is_shown = |finding: &Finding| !(self.is_quiet && finding.grade == Grade::Good);
        text.push_str(&self.report.text(Layout::Places, terminal, is_shown));
        text.push('\n');
        if self.explains {
            text.push_str(&defaults::to_text(&origins(self.catalog), &self.paths.root));
            text.push('\n');
        }
        text.push_str(&self.summary());
        text
    }

    /// Whether `--fix` would fix anything.
    fn can_be_repaired(&self) -> bool {
        let repairs = self.report.findings().filter_map(|finding| finding.repair.as_deref());
        repairs.flat_map(Repair::steps).any(|step| step.obstacle(&self.paths.root).is_none())
    }

    /// The last line: the result, and the next step.
    fn summary(&self) -> String {
        let (errors, warnings) = (self.counted_errors(), self.report.count(Grade::Warning));
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
        } else if self.report.findings().any(|finding| finding.remedy.is_some()) {
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
