//! Startup: what every way to start needs: the settings, the private folder, the project.

use crate::base::common::Common;
use crate::base::error::{Error, LEAST_FILES};
use crate::open::log_files;
use mcp_bash_project::{
    Catalog, Changes, Location, Paths, Reading, ServerConfig, is_staged, roots, stage_embedded,
};
use mcp_bash_runner::StateDir;
use mcp_bash_scripts::{FileInProgress, Scripts, known_variables};
use mcp_bash_settings::{ProjectSettings, SettingProblem, Settings, UnknownName};
use mcp_bash_wire::LogLevel;
use rustix::process::{Resource, getrlimit};
use std::io::{self, IsTerminal, Write as _};
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

/// Problems with settings, of the environment and of the project.
#[derive(Default)]
pub(crate) struct SettingProblems {
    pub(crate) all: Vec<String>,
    /// The one that lets nothing be served.
    pub(crate) fatal: Option<String>,
}

impl SettingProblems {
    /// Adds those that are not known yet.
    pub(crate) fn add(&mut self, problems: &[SettingProblem]) {
        for problem in problems {
            let words = problem.to_string();
            if problem.fatal {
                self.fatal.get_or_insert_with(|| words.clone());
            }
            if !self.all.contains(&words) {
                self.all.push(words);
            }
        }
    }

    /// The error if one of them lets nothing be served: a list that cannot be read may deny this very host.
    fn require_none_fatal(&self) -> Result<(), Error> {
        self.fatal.as_ref().map_or(Ok(()), |fatal| Err(Error::Setting(fatal.clone())))
    }
}

/// The settings in force for the project at `location`, for a command that runs or reads something; the error of a problem
/// that forbids that.
pub(crate) fn settings_to_serve(
    common: &Common,
    roots: Option<&str>,
    problems: &mut SettingProblems,
) -> Result<(Location, Settings), Error> {
    let (settings, of_environment) = settings();
    problems.add(&of_environment);
    problems.require_none_fatal()?;
    let location = location(common, &settings)?;
    let settings = settings_at(&location, roots, settings, problems);
    problems.require_none_fatal()?;
    Ok((location, settings))
}

/// The settings in force for the project at `location`: those of the environment and of the command line, then its own.
/// `problems` holds the problems with those of the environment, and receives the rest.
pub(crate) fn settings_at(
    location: &Location,
    roots: Option<&str>,
    of_environment: Settings,
    problems: &mut SettingProblems,
) -> Settings {
    let mut settings = match location {
        Location::Folder(folder) => with_project(folder, of_environment, problems),
        Location::Embedded => of_environment,
    };
    if let Some(roots) = roots {
        settings.roots = Some(roots.replace(',', ":"));
    }
    log_files::settle(&mut settings.logs);
    settings
}

/// The settings with those of the project in `root`.
fn with_project(root: &Path, of_environment: Settings, problems: &mut SettingProblems) -> Settings {
    let (paths, mut diagnostics) = (paths(root, &of_environment), Vec::new());
    let config = ServerConfig::read(&paths, &mut diagnostics);
    problems.all.extend(diagnostics.iter().map(ToString::to_string));
    let mut settings = of_environment;
    if !config.settings.is_empty() {
        let (project, unusable) = ProjectSettings::new(&config.settings);
        let (with_project, refused) = Settings::from_environment_and(&project);
        // The problems with the environment are known already.
        problems.all.extend(unusable.iter().map(ToString::to_string));
        problems.add(&refused);
        settings = with_project;
    }
    settings.project_variables = config.variables;
    settings.project_sandbox = config.sandbox;
    settings.project_launchers = config.launchers;
    settings.audit.selected = config.audited;
    settings.project_secrets = config.secrets;
    if !settings.has_log_level && paths.server.join(".debug").exists() {
        settings.log_level = LogLevel::Debug;
    }
    settings
}

/// The settings of the environment, and their problems.
pub(crate) fn settings() -> (Settings, Vec<SettingProblem>) {
    Settings::from_environment()
}

/// Environment variables that look like settings and are none.
pub(crate) fn unknown_names() -> Vec<UnknownName> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    mcp_bash_settings::unknown_names(names, &known_variables())
}

pub(crate) fn location(common: &Common, settings: &Settings) -> Result<Location, Error> {
    let here = std::env::current_dir().ok();
    let (flag, variable) = (common.project_root.as_deref(), settings.project_root.as_deref());
    Ok(Location::find(flag, variable, here.as_deref())?)
}

/// The project of a command, and the settings in force for it. Problems with them are not reported here.
pub(crate) fn project(common: &Common) -> Result<(Paths, Settings), Error> {
    let (settings, _) = settings();
    let location = location(common, &settings)?;
    let settings = settings_at(&location, None, settings, &mut SettingProblems::default());
    let Location::Folder(root) = location else { return Err(Error::NoProject) };
    Ok((paths(&root, &settings), settings))
}

/// Whether a runtime is being created. If it lacks a thread or a descriptor it panics, and may wait for ever for the
/// threads that it has started.
static IS_MAKING_RUNTIME: AtomicBool = AtomicBool::new(false);

/// Why a panic at this moment is not our own bug, if it is not.
pub(crate) fn failure_of_runtime(panic: &PanicHookInfo<'_>) -> Option<Error> {
    if !IS_MAKING_RUNTIME.load(Ordering::Relaxed) {
        return None;
    }
    let words = panic.payload().downcast_ref::<String>();
    let words = words.cloned().unwrap_or_else(|| "the system lacks a thread or a descriptor".to_owned());
    Some(Error::Start { source: io::Error::other(words) })
}

/// The runtime for the work, and what runs the scripts of a project.
pub(crate) fn scripts(settings: Settings) -> Result<(Runtime, Arc<Scripts>), Error> {
    if let Some(files) = getrlimit(Resource::Nofile).current.filter(|files| *files < LEAST_FILES) {
        return Err(Error::FewFiles(files));
    }
    if !settings.control_groups {
        mcp_bash_runner::do_without_control_groups();
    }
    IS_MAKING_RUNTIME.store(true, Ordering::Relaxed);
    // Most work here is waiting for processes. One thread that reads, starts them and reaps them wakes no other; long work
    // and more connections have threads of their own.
    let runtime =
        Builder::new_current_thread().enable_all().build().map_err(|source| Error::Start { source })?;
    IS_MAKING_RUNTIME.store(false, Ordering::Relaxed);
    let temporary = settings.logs.temporary.clone().unwrap_or_else(std::env::temp_dir);
    let state_dir = Arc::new(StateDir::new(temporary, settings.logs.keep));
    let scripts = Arc::new(Scripts::new(settings, state_dir, runtime.handle().clone()));
    Ok((runtime, scripts))
}

/// How long a command waits silently for the definitions of a project.
const SILENCE: Duration = Duration::from_secs(2);

/// Reads a project for a command that needs all of it: waits until each file has reported its definitions, or failed to.
/// Tells the user what it waits for.
pub(crate) fn read_whole(runtime: &Runtime, scripts: &Scripts, paths: &Paths, reading: &Reading) -> Catalog {
    let mut catalog = Catalog::read(paths, reading);
    let mut in_progress = scripts.files_in_progress();
    loop {
        let asked = in_progress.borrow_and_update().clone();
        if asked.is_empty() {
            return catalog;
        }
        runtime.block_on(async {
            if timeout(SILENCE, in_progress.wait_for(Vec::is_empty)).await.is_err() {
                if io::stderr().is_terminal() {
                    tell_of_wait(&in_progress.borrow(), paths);
                }
                let _ = in_progress.wait_for(Vec::is_empty).await;
            }
        });
        catalog = catalog.read_again(reading, &Changes::to_files(asked.iter().map(|asked| &*asked.file)));
    }
}

/// The files by their paths below the project.
pub(crate) fn names_of(files: &[FileInProgress], paths: &Paths) -> String {
    let name = |file: &Path| file.strip_prefix(&paths.root).unwrap_or(file).display().to_string();
    files.iter().map(|asked| name(&asked.file)).collect::<Vec<_>>().join(", ")
}

fn tell_of_wait(files: &[FileInProgress], paths: &Paths) {
    let names = names_of(files, paths);
    // A closed standard error is not a failure.
    let _ = writeln!(io::stderr(), "mcp-bash: waiting for {names} to say what there is");
}

/// Problems with the roots and the environment of scripts.
pub(crate) struct EnvironmentProblems {
    /// Why scripts are not run, or no path is allowed.
    pub(crate) refusals: Vec<String>,
    /// What scripts will miss.
    pub(crate) missing: Vec<String>,
}

/// Checks the roots and the environment of scripts before any of them is called.
pub(crate) fn environment_problems(scripts: &Scripts, catalog: &Catalog) -> EnvironmentProblems {
    let (paths, tools) = (&catalog.paths, catalog.tools.items().iter().map(|tool| &**tool));
    let found = scripts.environment_problems(paths, tools);
    let (mut refusals, mut missing) = (Vec::from_iter(found.refusal), found.missing);
    let mut diagnostics = Vec::new();
    let roots = roots::of_project(paths, scripts.settings().roots.as_deref(), &mut diagnostics);
    refusals.extend(roots.err().map(|error| error.to_string()));
    missing.extend(diagnostics.iter().map(ToString::to_string));
    EnvironmentProblems { refusals, missing }
}

/// The paths of the project at `location`. The embedded one is written to the private folder first.
pub(crate) fn paths_at(location: &Location, scripts: &Scripts) -> Result<Paths, Error> {
    Ok(match location {
        Location::Folder(folder) => paths(folder, scripts.settings()),
        Location::Embedded => Paths::of(&stage(scripts.state_dir())?),
    })
}

/// The paths of the project in `root`.
pub(crate) fn paths(root: &Path, settings: &Settings) -> Paths {
    let folders = &settings.folders;
    // Joining with an absolute path gives that path.
    Paths {
        tools: root.join(&folders.tools),
        resources: root.join(&folders.resources),
        prompts: root.join(&folders.prompts),
        completions: root.join(&folders.completions),
        providers: root.join(&folders.providers),
        lib: root.join("lib"),
        server: root.join(&folders.server),
        registry: root.join(&folders.registry),
        root: root.to_owned(),
    }
}

/// Writes the embedded project to the private folder.
pub(crate) fn stage(state_dir: &StateDir) -> Result<PathBuf, Error> {
    let folder = state_dir.path().map_err(Error::Embedded)?.join("getting-started");
    stage_embedded(&folder).map_err(Error::Embedded)?;
    Ok(folder)
}

/// Writes the embedded project to the private folder again if part of it is gone: a cleaner of temporary files or a script
/// has removed it. Does nothing for a user's project.
pub(crate) fn stage_again(location: &Location, scripts: &Scripts, paths: &Paths) {
    if *location != Location::Embedded || is_staged(&paths.root) {
        return;
    }
    let state_dir = scripts.state_dir();
    let is_where_it_was = || state_dir.path().is_ok_and(|folder| paths.root.starts_with(folder));
    // A failure now is retried when the project is read again.
    if state_dir.restore().is_ok() && is_where_it_was() {
        let _ = stage_embedded(&paths.root);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_folders_are_the_defaults_of_the_settings() {
        let (settings, _) = Settings::read(|_| None);
        assert_eq!(paths(Path::new("/p"), &settings), Paths::of(Path::new("/p")));
    }

    #[test]
    fn a_folder_is_relative_to_the_project_or_absolute() {
        let (settings, _) = Settings::read(|name| match name {
            "MCPBASH_TOOLS_DIR" => Some("bin".to_owned()),
            "MCPBASH_REGISTRY_DIR" => Some("/cache".to_owned()),
            _ => None,
        });
        let paths = paths(Path::new("/p"), &settings);
        assert_eq!((paths.tools, paths.registry), ("/p/bin".into(), "/cache".into()));
    }
}
