//! Virtual environments of a project: which one a file uses, and whether it can be used.

use super::super::language::folders;
use super::inline_dependencies;
use crate::Paths;
use crate::trust::{self, Distrust};
use mcp_bash_harmless::shell_path;
use std::path::{Path, PathBuf};

/// The usual folders of virtual environments.
const ENVIRONMENTS: [&str; 2] = [".venv", "venv"];

/// Whether a folder contains a virtual environment.
pub(super) fn has_environment(folder: &Path) -> bool {
    ENVIRONMENTS.iter().any(|name| folder.join(name).join("bin/python").exists())
}

/// The virtual environment of a folder that has no interpreter: it is empty, or its Python was upgraded or removed, so that
/// the symlink is broken.
fn broken_environment(folder: &Path) -> Option<PathBuf> {
    let mut named = ENVIRONMENTS.iter().map(|name| folder.join(name));
    // A folder named `venv` may be anything.
    named.find(|at| at.is_dir() && (at.ends_with(".venv") || at.join("pyvenv.cfg").exists()))
}

/// The virtual environment that a file would use if it had an interpreter. `uv` recreates those of its own projects.
pub(super) fn unusable_environment(file: &Path, paths: &Paths, has_uv: bool) -> Option<PathBuf> {
    if has_uv && inline_dependencies::are_in(file) {
        return None;
    }
    let mut nearest = folders(file, paths).take_while(|folder| !has_environment(folder));
    nearest.find_map(|folder| {
        let is_of_uv = has_uv && folder.join("uv.lock").is_file();
        broken_environment(folder).filter(|_| !is_of_uv)
    })
}

/// How to recreate a virtual environment that has no interpreter.
pub(super) fn how_to_recreate(environment: &Path, paths: &Paths) -> String {
    let shown = environment.strip_prefix(&paths.root).unwrap_or(environment);
    let shown = shell_path(shown);
    format!(
        "create it again with `python3 -m venv --clear {shown}` and install there what the file needs \
         (`{shown}/bin/pip install …`)"
    )
}

/// The Python of the virtual environment in a folder, if there is one that no other user can write.
pub(super) fn environment_in(folder: &Path, paths: &Paths) -> Result<Option<PathBuf>, String> {
    for name in ENVIRONMENTS {
        let environment = folder.join(name);
        let python = environment.join("bin/python");
        if python.exists() {
            judge_environment(&environment, paths)
                .map_err(|distrust| format!("its virtual environment is not used: {distrust}"))?;
            return Ok(Some(python));
        }
    }
    Ok(None)
}

/// Judges the files that Python reads of its virtual environment before the script: its configuration, and in each package
/// folder the files that it runs at every start.
fn judge_environment(environment: &Path, paths: &Paths) -> Result<(), Distrust> {
    let root = &paths.root;
    trust::judge_folder(&environment.join("bin"), root)?;
    let mut files = Vec::from([environment.join("pyvenv.cfg")]);
    for version in environment.join("lib").read_dir().into_iter().flatten().flatten() {
        let packages = version.path().join("site-packages");
        trust::judge_folder_if_any(&packages, root)?;
        let installed = packages.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
        files.extend(installed.filter(|file| {
            file.extension().is_some_and(|ending| ending == "pth")
                || file.file_stem().is_some_and(|name| name == "sitecustomize" || name == "usercustomize")
        }));
    }
    trust::judge_loaded(files.iter().map(PathBuf::as_path), root)
}
