//! Project programs: those of the packages that a project has installed for its languages. They come first in the search path
//! of its scripts.

use mcp_bash_project::trust::{self, Distrust};
use mcp_bash_project::{Paths, ProgramFolders, languages};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Checks a folder of programs, and each program in it.
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
    pub(crate) environments: Vec<ProgramEnvironment>,
    /// Why some of them are not used.
    pub(crate) problems: Vec<String>,
}

/// A folder of programs that is a virtual environment of its language.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ProgramEnvironment {
    pub(crate) place: PathBuf,
    /// The variable that activates it.
    pub(crate) variable: &'static str,
    /// The variable that would override it.
    pub(crate) leads_out: &'static str,
}

impl ProjectPrograms {
    /// Searches for them. Programs that another user can write are not used, just like scripts.
    pub(crate) fn find(paths: &Paths) -> Self {
        let mut found = Self::default();
        for language in languages() {
            found.add(&language.program_folders, paths);
        }
        found
    }

    /// Adds those of a language. Of several environments, the first one counts.
    fn add(&mut self, folders: &ProgramFolders, paths: &Paths) {
        for (place, programs) in folders.places {
            let place = paths.root.join(place);
            let folder = place.join(programs);
            if !folder.is_dir() {
                continue;
            }
            if let Err(distrust) = judge(&folder, paths) {
                let problem = format!("{} is not on the PATH of scripts: {distrust}", folder.display());
                self.problems.push(problem);
                continue;
            }
            self.folders.push(folder);
            if let Some([variable, leads_out]) = folders.environment {
                self.environments.push(ProgramEnvironment { place, variable, leads_out });
                return;
            }
        }
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
