//! What every way to start needs: the settings, the private folder, the project.

use crate::arguments::Arguments;
use crate::error::Error;
use mcp_bash_project::{Catalog, Location, Paths, stage_embedded};
use mcp_bash_runner::StateDir;
use mcp_bash_server::{SettingProblem, Settings};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The settings of the environment, and what is wrong with them.
pub(crate) fn settings() -> (Settings, Vec<SettingProblem>) {
    Settings::read(|name| std::env::var(name).ok())
}

/// The folder for what has to be a file while we run.
pub(crate) fn state_dir(settings: &Settings) -> Arc<StateDir> {
    Arc::new(StateDir::new(std::env::temp_dir(), settings.preserve_state))
}

pub(crate) fn location(arguments: &Arguments) -> Result<Location, Error> {
    let variable =
        std::env::var_os("MCPBASH_PROJECT_ROOT").filter(|value| !value.is_empty()).map(PathBuf::from);
    let here = std::env::current_dir().ok();
    Ok(Location::find(arguments.project_root.as_deref(), variable.as_deref(), here.as_deref())?)
}

/// Reads the project at `location`. The embedded one is written to the private folder first.
pub(crate) fn catalog(
    location: &Location,
    settings: &Settings,
    state_dir: &StateDir,
) -> Result<Catalog, Error> {
    let paths = match location {
        Location::Folder(folder) => paths(folder),
        Location::Embedded => Paths::of(&stage(state_dir)?),
    };
    Ok(Catalog::read(&paths, &settings.reading()))
}

/// Where the parts of the project in `root` are.
pub(crate) fn paths(root: &Path) -> Paths {
    Paths::with_overrides(root, |name| std::env::var(name).ok())
}

/// Writes the embedded project to the private folder.
pub(crate) fn stage(state_dir: &StateDir) -> Result<PathBuf, Error> {
    let folder = state_dir.path().map_err(Error::Embedded)?.join("getting-started");
    stage_embedded(&folder).map_err(Error::Embedded)?;
    Ok(folder)
}
