//! `validate --run-tests`: runs the tests of the project, and names what sandboxes allow and no test used.

use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::script_entries::script_entries;
use crate::report::finding::Finding;
use mcp_bash_project::Catalog;
use mcp_bash_runner::StateDir;
use mcp_bash_sandbox::{Declaration, Mode, RecordedUsage, Usage};
use mcp_bash_scripts::can_watch;
use mcp_bash_settings::Settings;
use mcp_bash_terminal::tell;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// The most that is read of what was recorded, in bytes.
const LONGEST_RECORD: u64 = 256 * 1024 * 1024;

/// Why the tests say nothing about sandboxes.
#[derive(Debug, thiserror::Error)]
enum NoUsage {
    #[error("the tests cannot show what sandboxes are used for: {0}")]
    Watch(io::Error),
    #[error("failed to run the tests: {0}")]
    Run(io::Error),
    #[error("the tests were not run to their end ({0}); run `mcp-bash test` to see why")]
    Ended(ExitStatus),
    #[error("failed to read what the tests recorded: {0}")]
    Record(io::Error),
}

/// What the sandboxes of a project allow beyond what its tests use.
pub(super) fn beyond_tests(
    folder: &Path,
    catalog: &Catalog,
    settings: &Settings,
) -> Result<Vec<Finding>, Error> {
    let recorded = record(folder).map_err(|error| Error::of_command(Exit::Failed, error))?;
    let Recorded { by_script, has_failed } = recorded;
    let mut found = Vec::new();
    if has_failed {
        let remedy = "run `mcp-bash test` to see them: what they would use of a sandbox is not known";
        found.push(Finding::warning("sandbox.tests", "tests of the project fail").remedy(remedy));
    }
    for entry in script_entries(catalog) {
        let own = entry.own.filter(|own| own.effective_mode() > Mode::Off);
        if let (Some(own), Some(usage)) = (own, by_script.get(&entry.file)) {
            let whose = format!("{} '{}'", entry.kind, entry.name);
            found.extend(findings(&whose, usage, own, &entry.file));
        }
    }
    if let Ok(Some(default)) = &settings.project_sandbox {
        let mut all = Usage::default();
        for usage in by_script.into_values() {
            all.add(usage);
        }
        found.extend(findings("the default", &all, default, &catalog.paths.server.join("server.meta.json")));
    }
    Ok(found)
}

fn findings(whose: &str, usage: &Usage, declaration: &Declaration, file: &Path) -> Vec<Finding> {
    let excess = usage.excess(declaration).into_iter().map(|excess| {
        Finding::warning("sandbox.excess", format!("{whose}: its sandbox {excess}"))
            .remedy("leave out what it does not need, or test what needs it")
            .at(file.to_owned())
    });
    excess.collect()
}

struct Recorded {
    by_script: HashMap<PathBuf, Usage>,
    has_failed: bool,
}

/// Runs the tests, and reads what their servers recorded.
fn record(folder: &Path) -> Result<Recorded, NoUsage> {
    can_watch().map_err(NoUsage::Watch)?;
    let private = StateDir::new(std::env::temp_dir(), false);
    let file = private.path().map_err(NoUsage::Record)?.join("usage.jsonl");
    tell("Running the tests of the project…");
    let program = std::env::current_exe().map_err(NoUsage::Run)?;
    let mut tests = Command::new(program);
    tests.arg("test").arg("--project-root").arg(folder).env("MCPBASH_SANDBOX_USAGE", &file);
    let status = tests.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let status = status.map_err(NoUsage::Run)?;
    let has_failed = match status.code() {
        Some(0) => false,
        Some(1) => true,
        _ => return Err(NoUsage::Ended(status)),
    };
    let mut by_script: HashMap<PathBuf, Usage> = HashMap::new();
    let text = match mcp_bash_files::read_text(&file, LONGEST_RECORD) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read.map_err(NoUsage::Record)?,
    };
    for line in text.lines() {
        let line: RecordedUsage =
            serde_json::from_str(line).map_err(|error| NoUsage::Record(error.into()))?;
        by_script.entry(line.script).or_default().add(line.usage);
    }
    Ok(Recorded { by_script, has_failed })
}
