//! Examination: everything that is known to be wrong with a project and its surroundings, for the commands that report it:
//! `health` and `validate`.

use crate::base::error::Error;
use crate::open::sandbox_check::SandboxCheck;
use crate::open::search_path::SearchPath;
use crate::open::secret_check::SecretCheck;
use crate::open::startup::{self, SettingProblems};
use crate::report::finding::{Finding, Grade};
use mcp_bash_project::{Catalog, Diagnostic, Location, Paths, Surroundings, examine};
use mcp_bash_scripts::Scripts;
use mcp_bash_server::StorePlace;
use mcp_bash_settings::Settings;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// A project that was read and examined. Nothing of it was run except files that report their own definitions, and a
/// registration hook that is allowed.
pub(crate) struct Examination {
    pub(crate) catalog: Catalog,
    pub(crate) paths: Paths,
    pub(crate) scripts: Arc<Scripts>,
    pub(crate) search_path: SearchPath,
    pub(crate) found: Vec<Finding>,
    /// How scripts are confined.
    pub(crate) sandboxes: SandboxCheck,
    /// Whether the folder has any of the parts of a project.
    pub(crate) has_parts: bool,
    /// Whether at least one tool could be called, as far as the files tell.
    pub(crate) is_usable: bool,
    /// Runs the processes of the scripts.
    _runtime: Runtime,
}

/// The message about a folder that has none of the parts of a project.
const NO_PARTS: &str = "has nothing to serve";

/// Problems with the settings of the environment, then variables that look like settings. The bool says whether there are
/// problems with settings.
pub(crate) fn of_environment() -> (Settings, Vec<Finding>, bool) {
    let (settings, problems) = startup::settings();
    let mut found: Vec<Finding> = problems.into_iter().map(Finding::from).collect();
    let is_wrong = !found.is_empty();
    found.extend(startup::unknown_names().into_iter().map(Finding::from));
    (settings, found, is_wrong)
}

impl Examination {
    /// Examines the project in `folder`. `more` are checks besides those of a server.
    pub(crate) fn of(
        folder: &Path,
        roots: Option<&str>,
        settings: Settings,
        more: impl FnOnce(&Catalog) -> Vec<Diagnostic>,
    ) -> Result<Self, Error> {
        let mut setting_problems = SettingProblems::default();
        let location = Location::Folder(folder.to_owned());
        let mut settings = startup::settings_at(&location, roots, settings, &mut setting_problems);
        settings.leaves_no_trace = true;
        let (runtime, scripts) = startup::scripts(settings)?;
        let search_path = SearchPath::resolve(&scripts);
        scripts.set_search_path(search_path.path.clone());
        let paths = startup::paths(folder, scripts.settings());
        let catalog = startup::read_whole(&runtime, &scripts, &paths, &scripts.reading(&paths));
        let path = search_path.for_project(&paths);
        let mut diagnostics = catalog.diagnostics.clone();
        diagnostics.extend(examine(&catalog, Surroundings { search_path: &path }));
        let diagnostics = together(diagnostics, more(&catalog));
        let mut found: Vec<Finding> = diagnostics.into_iter().map(Finding::from).collect();
        let missing = scripts.missing_programs(&catalog);
        found.extend(missing.iter().map(|words| Finding::below(folder, words)));
        let without_packages = scripts.environments_of_functions(&catalog);
        let warned = |words: &String| Finding { grade: Grade::Warning, ..Finding::below(folder, words) };
        found.extend(without_packages.iter().map(warned));
        let mut sandboxes = SandboxCheck::of(&scripts, &catalog);
        found.append(&mut sandboxes.findings);
        found.extend(SecretCheck::of(&scripts, &catalog).findings());
        found.extend(store_problem(&catalog, scripts.settings()));
        if let Err(why) = &scripts.settings().project_sandbox {
            setting_problems.all.retain(|problem| !problem.contains(why));
        }
        let environment = startup::environment_problems(&scripts, &catalog);
        let is_usable = is_usable(&catalog, &found)
            && environment.refusals.is_empty()
            && setting_problems.fatal.is_none();
        let (refusals, missing) = (&environment.refusals, &environment.missing);
        let refusals = refusals.iter().chain(&setting_problems.fatal);
        let warnings =
            setting_problems.all.iter().filter(|words| setting_problems.fatal.as_ref() != Some(*words));
        let warnings = warnings.chain(missing);
        found.extend(warnings.map(|words| Finding { grade: Grade::Warning, ..Finding::of_error(words) }));
        found.extend(refusals.map(|words| Finding::error("", words.clone())));
        let has_parts = has_parts(&paths);
        if !has_parts {
            tell_of_no_parts(folder, &mut found);
        }
        Ok(Self {
            catalog,
            paths,
            scripts,
            search_path,
            found,
            sandboxes,
            has_parts,
            is_usable,
            _runtime: runtime,
        })
    }

    /// The same for a command that judges a project: then a folder without parts is an error.
    pub(crate) fn of_project(mut self) -> Self {
        let told = self.found.iter_mut().filter(|told| tells_of_no_parts(told, &self.paths.root));
        told.for_each(|told| told.grade = Grade::Error);
        self
    }
}

/// Why calls cannot become tasks, if a tool wants that, or why the database of several servers cannot be used.
fn store_problem(catalog: &Catalog, settings: &Settings) -> Option<Finding> {
    const FOLDER: &str = "set MCPBASH_STORE to a folder for them";
    const DATABASE: &str = "make MCPBASH_STORE the address of a database that this machine reaches";
    let place = StorePlace::of(&settings.tasks, &catalog.paths.root);
    let remedy = match &place {
        Ok(Some(StorePlace::Database(_))) => DATABASE,
        _ if !catalog.has_tasks() => return None,
        _ => FOLDER,
    };
    let place = match place {
        Ok(Some(place)) => place,
        Ok(None) => {
            let words = "tasks cannot be kept: there is no home folder";
            return Some(Finding::warning("tasks.store", words).remedy(remedy));
        }
        Err(error) => return Some(Finding::error("tasks.store", error.to_string())),
    };
    let error = match place.tasks() {
        Ok(tasks) => tasks.check().err()?.to_string(),
        Err(error) => error.to_string(),
    };
    let (problem, remedy) = error.split_once("; ").unwrap_or((&error, remedy));
    Some(Finding::warning("tasks.store", problem).remedy(remedy))
}

fn has_parts(paths: &Paths) -> bool {
    let Paths { tools, resources, prompts, completions, providers, server, .. } = paths;
    [tools, resources, prompts, completions, providers, server].into_iter().any(|part| part.is_dir())
}

/// Reports that, unless it is known already, with the project that may be meant.
fn tell_of_no_parts(root: &Path, found: &mut Vec<Finding>) {
    if found.iter().any(|told| tells_of_no_parts(told, root)) {
        return;
    }
    let problem = format!("{NO_PARTS}: there are neither tools, resources, prompts nor server.d");
    let remedy = "name the folder of a project, or make this one with `mcp-bash init`";
    found.push(Finding::warning("", problem).remedy(remedy).at(root.to_owned()));
}

fn tells_of_no_parts(finding: &Finding, root: &Path) -> bool {
    finding.file.as_deref() == Some(root) && finding.problem.starts_with(NO_PARTS)
}

/// All diagnostics, ordered by file and line. If `more` says the same, its version is better: with the line, and in the
/// file that has to be fixed.
fn together(mut known: Vec<Diagnostic>, more: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let better: HashSet<&str> = more.iter().map(|told| &*told.problem).collect();
    known.retain(|known| !better.contains(&*known.problem));
    known.extend(more);
    known.sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
    known
}

/// Half a project is served; one without any usable part is not.
fn is_usable(catalog: &Catalog, found: &[Finding]) -> bool {
    let errors = || found.iter().filter(|problem| problem.grade == Grade::Error);
    let broken: HashSet<&Path> = errors().filter_map(|problem| problem.file.as_deref()).collect();
    // Without a working policy, every call is refused.
    if broken.contains(&*catalog.paths.policy()) {
        return false;
    }
    let is_sound = |script: &Path| !broken.contains(script);
    let some_tool_works = catalog.tools.items().iter().any(|tool| is_sound(&tool.script));
    catalog.failure.is_none() && (errors().next().is_none() || some_tool_works)
}
