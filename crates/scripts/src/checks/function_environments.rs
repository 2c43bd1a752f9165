//! Function environments: what prevents function files from finding the packages they import, reported before a client
//! calls one.

use crate::interpreters::{first_found, inline_dependencies, python};
use crate::running::processes::block_on;
use crate::scripts::Scripts;
use mcp_bash_project::{Catalog, may_hold_functions};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The largest project file that is searched for dependencies, in bytes.
const LONGEST: u64 = 1024 * 1024;

impl Scripts {
    /// Problems with the environments of function files, for the operator: each begins with the path of a file in the
    /// project.
    pub fn environments_of_functions(&self, catalog: &Catalog) -> Vec<String> {
        let files = files(catalog);
        if files.is_empty() {
            return Vec::new();
        }
        let has_uv =
            block_on(first_found(&self.surroundings, &["uv"], &catalog.paths)).ok().flatten().is_some();
        let problems: BTreeSet<(PathBuf, String)> =
            files.iter().filter_map(|file| problem(file, catalog, has_uv)).collect();
        let told = problems.into_iter().map(|(file, problem)| {
            let file = file.strip_prefix(&catalog.paths.root).unwrap_or(&file).to_owned();
            format!("{}: {problem}", file.display())
        });
        told.collect()
    }
}

/// The function files, and those that could not be loaded.
fn files(catalog: &Catalog) -> BTreeSet<PathBuf> {
    let loaded = catalog.function_files().iter().map(|file| file.served_by.file.clone());
    let failed = catalog.diagnostics.iter().map(|told| told.path.clone());
    let is_of_language = |file: &PathBuf| may_hold_functions(file);
    loaded
        .chain(failed.filter(|file| file.starts_with(&catalog.paths.tools)))
        .filter(is_of_language)
        .collect()
}

/// The problem, and its file.
fn problem(file: &Path, catalog: &Catalog, has_uv: bool) -> Option<(PathBuf, String)> {
    let paths = &catalog.paths;
    if file.extension().is_some_and(|ending| ending == "py") {
        if let Some(environment) = python::unusable_environment(file, paths, has_uv) {
            let remedy = python::made_anew(&environment, paths);
            let problem = format!("has no working interpreter, so that another Python is used; {remedy}");
            return Some((environment, problem));
        }
        if has_uv {
            return None;
        }
        if inline_dependencies::are_in(file) {
            let problem = "names its dependencies itself, and there is no `uv` to install them; install uv, or put them \
                           into a `.venv` of the project";
            return Some((file.to_owned(), problem.to_owned()));
        }
        let mut folders = python::folders(file, paths);
        let nearest = folders.find(|folder| python::has_environment(folder) || has_python_project(folder))?;
        let problem = "names dependencies, and there is no `.venv` beside it; make one with `python3 -m venv .venv` and \
                       install them there, or install uv";
        return (!python::has_environment(nearest))
            .then(|| (nearest.join("pyproject.toml"), problem.to_owned()));
    }
    let mut folders = python::folders(file, paths);
    let nearest = folders.find(|folder| folder.join("package.json").is_file())?;
    let problem = "names dependencies, and there is no `node_modules` beside it; run `npm install`";
    let is_wrong = has_node_dependencies(nearest) && !nearest.join("node_modules").is_dir();
    is_wrong.then(|| (nearest.join("package.json"), problem.to_owned()))
}

/// Whether a folder is a Python project with dependencies.
fn has_python_project(folder: &Path) -> bool {
    let text = mcp_bash_files::read_text(&folder.join("pyproject.toml"), LONGEST).unwrap_or_default();
    let mut lines = text.lines().skip_while(|line| line.trim() != "[project]").skip(1);
    let list = lines
        .find_map(|line| line.trim().strip_prefix("dependencies")?.trim().strip_prefix('=').map(str::trim));
    list.is_some_and(|list| list != "[]")
}

fn has_node_dependencies(folder: &Path) -> bool {
    let text = mcp_bash_files::read_text(&folder.join("package.json"), LONGEST).unwrap_or_default();
    let package: Value = serde_json::from_str(&text).unwrap_or_default();
    package["dependencies"].as_object().is_some_and(|dependencies| !dependencies.is_empty())
}
