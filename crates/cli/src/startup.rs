//! What every way to start needs: the settings, the private folder, the project.

use crate::arguments::Arguments;
use crate::error::{Error, LEAST_FILES};
use mcp_bash_project::{Location, Paths, stage_embedded};
use mcp_bash_runner::StateDir;
use mcp_bash_scripts::{Scripts, known_variables};
use mcp_bash_settings::{SettingProblem, Settings, UnknownName};
use rustix::process::{Resource, getrlimit};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

/// The settings of the environment, and what is wrong with them.
pub(crate) fn settings() -> (Settings, Vec<SettingProblem>) {
    Settings::from_environment()
}

/// The variables of the environment that look like settings and are none.
pub(crate) fn unknown_names() -> Vec<UnknownName> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    mcp_bash_settings::unknown_names(names, &known_variables())
}

pub(crate) fn location(arguments: &Arguments, settings: &Settings) -> Result<Location, Error> {
    let here = std::env::current_dir().ok();
    let (flag, variable) = (arguments.project_root.as_deref(), settings.project_root.as_deref());
    Ok(Location::find(flag, variable, here.as_deref())?)
}

/// The runtime that work is done on, and who runs the scripts of a project.
pub(crate) fn scripts(settings: Settings) -> Result<(Runtime, Arc<Scripts>), Error> {
    if let Some(files) = getrlimit(Resource::Nofile).current.filter(|files| *files < LEAST_FILES) {
        return Err(Error::FewFiles(files));
    }
    if !settings.control_groups {
        mcp_bash_runner::do_without_control_groups();
    }
    // Work here is waiting for processes. One thread that reads, starts them and sees them end wakes no other; what takes
    // long has threads of its own.
    let runtime =
        Builder::new_current_thread().enable_all().build().map_err(|source| Error::Start { source })?;
    let state_dir = Arc::new(StateDir::new(std::env::temp_dir(), settings.preserve_state));
    Ok((runtime, Arc::new(Scripts::new(settings, state_dir))))
}

/// Where the project at `location` is. The embedded one is written to the private folder first.
pub(crate) fn paths_at(location: &Location, scripts: &Scripts) -> Result<Paths, Error> {
    Ok(match location {
        Location::Folder(folder) => paths(folder, scripts.settings()),
        Location::Embedded => Paths::of(&stage(scripts.state_dir())?),
    })
}

/// Where the parts of the project in `root` are.
pub(crate) fn paths(root: &Path, settings: &Settings) -> Paths {
    let folders = &settings.folders;
    // Joining with an absolute path gives that path.
    Paths {
        tools: root.join(&folders.tools),
        resources: root.join(&folders.resources),
        prompts: root.join(&folders.prompts),
        completions: root.join(&folders.completions),
        providers: root.join(&folders.providers),
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
