//! Sandbox check: how the scripts of a project are confined, and which declarations cannot be used.

use crate::open::script_entries::{ScriptEntry, script_entries};
use crate::report::finding::{Finding, Grade};
use mcp_bash_project::{Catalog, Paths};
use mcp_bash_sandbox::Mode;
use mcp_bash_scripts::{SandboxSource, ScriptSandbox, Scripts};
use mcp_bash_terminal::words::counted;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The command that tries a project in sandboxes.
pub(crate) const TRIAL: &str = "MCPBASH_SANDBOX=on mcp-bash test";

/// Findings about files and mechanisms of this machine.
const OF_THIS_MACHINE: [&str; 2] = [MISSING_PLACE, UNENFORCEABLE];
const MISSING_PLACE: &str = "sandbox.place";
const UNENFORCEABLE: &str = "sandbox.strict";

#[derive(Default)]
pub(crate) struct SandboxCheck {
    /// Scripts that run in a sandbox.
    confined: usize,
    /// Scripts that run without one.
    unconfined: usize,
    /// Of those, tools.
    unconfined_tools: usize,
    /// Scripts that are not run, because their sandbox is not known.
    refused: usize,
    /// The sandbox of the first confined script, which stands for all in what this machine enforces.
    example: Option<ScriptSandbox>,
    /// The mode that the operator sets.
    operator: Option<Mode>,
    pub(crate) findings: Vec<Finding>,
}

/// A finding of another command as `validate` reports it: files and mechanisms that are missing here may exist where the
/// project is served.
pub(crate) fn as_of_another_machine(finding: Finding) -> Finding {
    if OF_THIS_MACHINE.contains(&finding.id) { Finding { grade: Grade::Warning, ..finding } } else { finding }
}

impl SandboxCheck {
    pub(crate) fn of(scripts: &Scripts, catalog: &Catalog) -> Self {
        let settings = scripts.settings();
        let mut check = Self { operator: settings.sandbox, ..Self::default() };
        let metadata = catalog.paths.server.join("server.meta.json");
        let entries = script_entries(catalog);
        if let (Err(why), true) = (&settings.project_sandbox, settings.sandbox != Some(Mode::Off)) {
            check.refused = entries.len();
            let problem = format!("no script is run: {why}");
            let remedy = "correct `sandbox`, or remove it to run scripts without one";
            check.findings.push(Finding::error("sandbox.default", problem).remedy(remedy).at(metadata));
            return check;
        }
        let declared =
            entries.iter().filter(|entry| entry.own.is_some_and(|own| own.effective_mode() > Mode::Off));
        let declared = declared.count();
        let has_default = !matches!(settings.project_sandbox, Ok(None));
        if settings.sandbox == Some(Mode::Off) && (declared > 0 || has_default) {
            check.findings.push(turned_off(declared, has_default));
        }
        for entry in &entries {
            let Ok(sandbox) = scripts.sandbox_of(entry.own) else { continue };
            check.take_in(entry, sandbox, &catalog.paths);
        }
        check
    }

    fn take_in(&mut self, entry: &ScriptEntry<'_>, sandbox: ScriptSandbox, paths: &Paths) {
        if !sandbox.is_on() {
            self.unconfined += 1;
            self.unconfined_tools += usize::from(entry.kind == "tool");
            return;
        }
        self.confined += 1;
        // A default that cannot be used is one problem, however many scripts it concerns.
        let (whose, file) = match sandbox.source {
            SandboxSource::Project => ("the default".to_owned(), paths.server.join("server.meta.json")),
            _ => (format!("{} '{}'", entry.kind, entry.name), entry.file.clone()),
        };
        for place in sandbox.places(&paths.root, &[]) {
            if let Some(problem) = place.problem {
                self.add(problem_of_place(&whose, &problem, file.clone()));
            }
        }
        if sandbox.mode() == Mode::Strict
            && let Some(Err(refusal)) = sandbox.enforcement()
        {
            let problem = format!("{whose} does not run: {refusal}");
            let (problem, remedy) = problem.rsplit_once("; ").unwrap_or((&problem, ""));
            let finding = Finding::error(UNENFORCEABLE, problem).remedy(remedy).at(file);
            self.add(finding.command("mcp-bash sandbox status"));
        }
        self.example.get_or_insert(sandbox);
    }

    /// Adds a finding, unless it is known.
    fn add(&mut self, finding: Finding) {
        let is_known = |known: &Finding| known.problem == finding.problem && known.file == finding.file;
        if !self.findings.iter().any(is_known) {
            self.findings.push(finding);
        }
    }

    /// How scripts are confined, in one line.
    pub(crate) fn line(&self) -> String {
        let all = self.confined + self.unconfined + self.refused;
        let by = match self.operator {
            Some(mode) => format!(" (MCPBASH_SANDBOX={})", mode.name()),
            None => String::new(),
        };
        match (self.confined, self.unconfined, self.refused) {
            (0, 0, 0) => "there are no scripts to run in a sandbox".to_owned(),
            (_, _, 1..) => "no script is run, since their sandbox is not known".to_owned(),
            (confined, 0, _) => format!("all scripts run in a sandbox: {confined}{by}"),
            (0, ..) => format!("scripts run without a sandbox{by}"),
            (confined, ..) => format!("{confined} of {} run in a sandbox{by}", counted(all, "script")),
        }
    }

    /// What a sandbox would change, if some scripts run without one and the operator leaves it open.
    pub(crate) fn proposal(&self) -> Option<String> {
        let changed = match (self.unconfined_tools, self.unconfined) {
            (0, 0) => return None,
            (0, scripts) => counted(scripts, "script"),
            (tools, _) => counted(tools, "tool"),
        };
        self.operator.is_none().then(|| {
            format!(
                "`\"sandbox\": \"on\"` in server.d/server.meta.json would confine {changed}: no network, and writes only \
                 to a temporary folder"
            )
        })
    }

    /// The checks of `doctor`.
    pub(crate) fn checks(&self) -> Vec<Finding> {
        let line = self.line();
        let line = if self.confined > 0 && self.unconfined == 0 {
            Finding::good("sandbox.in_force", line)
        } else {
            Finding::note("sandbox.in_force", line)
        };
        let mut checks = vec![match self.proposal() {
            Some(proposal) => line.remedy(proposal).command(TRIAL),
            None => line,
        }];
        if let Some(Ok(in_force)) = self.example.as_ref().and_then(ScriptSandbox::enforcement) {
            let enforced = in_force.levels().iter().filter(|(_, level)| level.why().is_none());
            let enforced: Vec<&str> = enforced.map(|(aspect, _)| aspect.name()).collect();
            checks.push(Finding::good("sandbox.enforced", format!("enforced here: {}", enforced.join(", "))));
            for (aspect, level) in in_force.shortfalls() {
                let why = level.why().unwrap_or_default();
                let words = format!("{} {} enforced here: {why}", aspect.name(), level.word());
                let remedy = "`mcp-bash sandbox status` shows what to do";
                checks.push(Finding::note("sandbox.shortfall", words).remedy(remedy));
            }
        }
        checks
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "confined": self.confined,
            "unconfined": self.unconfined,
            "refused": self.refused,
            "operator": self.operator.map(Mode::name),
            "proposal": self.proposal(),
            "enforcement": self.example.as_ref().and_then(ScriptSandbox::summary),
        })
    }
}

fn turned_off(declared: usize, has_default: bool) -> Finding {
    let whose = match (declared, has_default) {
        (0, _) => "the project declares one".to_owned(),
        (count, false) => format!("{} declare one", counted(count, "script")),
        (count, true) => format!("the project and {} declare one", counted(count, "script")),
    };
    Finding::warning("sandbox.off", format!("MCPBASH_SANDBOX=off turns all sandboxes off, although {whose}"))
        .remedy("unset MCPBASH_SANDBOX where the server runs")
}

/// A place that does not exist, with the fix that follows `: ` in its message.
fn problem_of_place(whose: &str, problem: &str, file: PathBuf) -> Finding {
    let (problem, remedy) = problem.split_once(": ").unwrap_or((problem, "correct `sandbox`"));
    Finding::error(MISSING_PLACE, format!("{whose} does not run: {problem}")).remedy(remedy).at(file)
}
