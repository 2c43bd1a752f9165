//! Project programs: those of a Python virtual environment and of installed Node.js packages. The project's scripts find
//! them before all others.

use mcp_bash_project::Paths;
use mcp_bash_project::trust::{self, Distrust};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Their folders in a project, and whether each is a virtual environment. Of those, the first one counts.
const PLACES: [(&str, &str, bool); 3] =
    [(".venv", "bin", true), ("venv", "bin", true), ("node_modules", ".bin", false)];

/// Judges a folder of programs and each program in it.
fn judge(folder: &Path, paths: &Paths) -> Result<(), Distrust> {
    trust::judge_folder(folder, &paths.root)?;
    let programs = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    // A broken symlink is not a program.
    programs
        .filter(|program| program.is_file())
        .try_for_each(|program| trust::judge_program(&program, &paths.root))
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ProjectPrograms {
    folders: Vec<PathBuf>,
    pub(crate) virtual_env: Option<PathBuf>,
    /// Why some of them are not used.
    pub(crate) problems: Vec<String>,
}

impl ProjectPrograms {
    /// Searches for them. Programs that another user can write are not used; the same goes for scripts.
    pub(crate) fn find(paths: &Paths) -> Self {
        let mut found = Self::default();
        for (place, programs, is_virtual_env) in PLACES {
            let (place, folder) = (paths.root.join(place), paths.root.join(place).join(programs));
            if !folder.is_dir() || (is_virtual_env && found.virtual_env.is_some()) {
                continue;
            }
            if let Err(distrust) = judge(&folder, paths) {
                let problem = format!("{} is not on the PATH of scripts: {distrust}", folder.display());
                found.problems.push(problem);
                continue;
            }
            if is_virtual_env {
                found.virtual_env = Some(place);
            }
            found.folders.push(folder);
        }
        found
    }

    /// The search path with them before everything else.
    pub(crate) fn before(&self, search_path: &OsStr) -> OsString {
        if self.folders.is_empty() {
            return search_path.to_owned();
        }
        let folders = self.folders.iter().cloned().chain(std::env::split_paths(search_path));
        std::env::join_paths(folders).unwrap_or_else(|_| search_path.to_owned())
    }
}
