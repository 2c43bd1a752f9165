//! Project checks of `doctor`: the findings of `health`, the project's own requirements, and whether its changes are
//! noticed.

use super::programs::{self, Programs};
use super::requirements;
use crate::open::examination::Examination;
use crate::open::sandbox_check::SandboxCheck;
use crate::open::search_path::SearchPath;
use crate::open::startup;
use crate::report::Group;
use crate::report::finding::{Finding, Fix, shortened};
use mcp_bash_project::{Repair, tells_of_changes};
use mcp_bash_settings::Settings;
use mcp_bash_terminal::words::counted;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

/// The timeout for reading a project, with all processes that takes.
const LIMIT: Duration = Duration::from_secs(30);

/// As much as the main thread has.
const STACK: usize = 8 * 1024 * 1024;

/// The largest `server.meta.json` that is read, in bytes.
const LONGEST_METADATA: u64 = 16 * 1024 * 1024;

/// How many problems are shown; `validate` shows the rest.
const MOST: usize = 20;

/// Findings about a project and the programs of its scripts.
pub(super) struct Found {
    pub(super) programs: Programs,
    pub(super) project: Group,
    pub(super) project_facts: Value,
    /// How scripts are confined, if there is a project.
    pub(super) sandboxes: Option<SandboxCheck>,
    pub(super) bash_version: String,
}

/// Checks the project in `folder`, or without one only the search path. `None` after the timeout.
pub(super) fn look(folder: Option<PathBuf>, settings: Settings) -> Option<Result<Found, String>> {
    let (sender, receiver) = channel();
    let looker = std::thread::Builder::new().name("doctor".into()).stack_size(STACK);
    // A thread that is still running after the limit ends with this process.
    let started = looker.spawn(move || {
        let found = match &folder {
            Some(folder) => with_project(folder, settings),
            None => without_project(settings),
        };
        let _ = sender.send(found.map_err(|error| error.to_string()));
    });
    started.ok().and_then(|_| receiver.recv_timeout(LIMIT).ok())
}

/// The finding after the timeout.
pub(super) fn too_slow() -> Finding {
    Finding::error("project.too_slow", format!("the project cannot be read within {} s", LIMIT.as_secs()))
        .remedy("find out which script in it takes so long: those that provide tools are asked for them")
}

fn without_project(settings: Settings) -> Result<Found, crate::base::error::Error> {
    let (_runtime, scripts) = startup::scripts(settings)?;
    let search_path = SearchPath::resolve(&scripts);
    let here = std::env::current_dir().unwrap_or_default();
    let check = Finding::note("project.none", format!("there is no project in {} or above", here.display()))
        .remedy("name one with `--project-root`");
    Ok(Found {
        programs: programs::look(&scripts, &search_path, None),
        project: Group::new("Project", vec![check]),
        project_facts: json!({ "root": "", "serverMetaValid": null, "toolsCount": 0, "registryExists": false }),
        sandboxes: None,
        bash_version: scripts.bash_version().unwrap_or_default(),
    })
}

fn with_project(folder: &Path, settings: Settings) -> Result<Found, crate::base::error::Error> {
    let mut examined = Examination::of(folder, None, settings, |_| Vec::new())?;
    let found = std::mem::take(&mut examined.found);
    let Examination { catalog, scripts, paths, search_path, .. } = &examined;
    let programs = programs::look(scripts, search_path, Some(catalog));
    let counts = [
        counted(catalog.tools.len(), "tool"),
        counted(catalog.resources.len(), "resource"),
        counted(catalog.prompts.len(), "prompt"),
    ];
    let mut checks =
        vec![Finding::good("project.read", format!("{}: {}", folder.display(), counts.join(", ")))];
    checks.push(if tells_of_changes(paths) {
        Finding::good("project.file_events", "its changes are noticed at once")
    } else {
        Finding::warning("project.file_events", "its file system does not tell of changes")
            .remedy("it is looked at every few seconds instead; a local folder is noticed at once")
    });
    checks.extend(requirements::look(&paths.server, &programs.desktop));
    let rest = found.len().saturating_sub(MOST);
    checks.extend(found.into_iter().take(MOST).map(|finding| problem(finding, folder)));
    if rest > 0 {
        let words = format!("{} more; `mcp-bash validate` tells them all", counted(rest, "problem"));
        checks.push(Finding::warning("project.problems", words));
    }
    let meta = paths.server.join("server.meta.json");
    let meta_valid = is_valid(&meta);
    let project_facts = json!({
        "root": folder.to_string_lossy(),
        "serverMetaValid": meta_valid,
        "toolsCount": catalog.tools.len(),
        "registryExists": paths.registry.is_dir(),
        "resourcesCount": catalog.resources.len(),
        "promptsCount": catalog.prompts.len(),
    });
    let bash_version = scripts.bash_version().unwrap_or_default();
    let (project, sandboxes) = (Group::new("Project", checks), Some(examined.sandboxes));
    Ok(Found { programs, project, project_facts, sandboxes, bash_version })
}

/// Whether a file is JSON. `None` if there is none.
fn is_valid(file: &Path) -> Option<bool> {
    file.symlink_metadata().ok()?;
    let text = mcp_bash_files::read(file, LONGEST_METADATA);
    Some(text.is_ok_and(|text| serde_json::from_slice::<Value>(&text).is_ok()))
}

/// A problem of the project, with its place in its words.
fn problem(finding: Finding, folder: &Path) -> Finding {
    let place = match (&finding.file, finding.line) {
        (Some(file), Some(line)) => format!("{}:{line}: ", shortened(file, Some(folder))),
        (Some(file), None) => format!("{}: ", shortened(file, Some(folder))),
        (None, _) => String::new(),
    };
    let fix = finding.repair.as_deref().map(|repair| repaired(repair, folder));
    Finding { id: "project.problem", problem: format!("{place}{}", finding.problem), fix, ..finding }
}

/// The fix that `validate --fix` would make.
fn repaired(repair: &Repair, folder: &Path) -> Fix {
    let (steps, root) = (repair.steps().to_vec(), folder.to_owned());
    let words = steps.iter().map(|step| format!("{}: {step}", shortened(&step.path, Some(folder))));
    let message = words.collect::<Vec<_>>().join("; ");
    let apply = move || steps.iter().try_for_each(|step| step.apply(&root));
    Fix { message, command: Some("mcp-bash validate --fix".to_owned()), apply: Box::new(apply) }
}
