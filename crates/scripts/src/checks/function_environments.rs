//! Function environments: find what prevents function files from importing their packages, before a client calls one.

use crate::interpreters::ProjectHost;
use crate::running::processes::block_on;
use crate::scripts::Scripts;
use mcp_bash_project::{Catalog, LanguageHost, language_of_file, languages};
use std::collections::BTreeSet;
use std::path::PathBuf;

impl Scripts {
    /// Problems with the environments of function files, for the operator: each begins with the path of a file in the
    /// project.
    pub fn environments_of_functions(&self, catalog: &Catalog) -> Vec<String> {
        let files = files(catalog);
        if files.is_empty() {
            return Vec::new();
        }
        let host = ProjectHost { surroundings: &self.surroundings, paths: &catalog.paths };
        let exists = |program: &str| matches!(block_on(host.first_found(&[program])), Ok(Ok(Some(_))));
        let installers = languages().filter_map(|language| language.installer);
        let installers: BTreeSet<&str> = installers.filter(|program| exists(program)).collect();
        let problem = |file: &PathBuf| {
            let language = language_of_file(file)?;
            let has_installer = language.installer.is_some_and(|program| installers.contains(program));
            (language.missing_packages)(file, &catalog.paths, has_installer)
        };
        let problems: BTreeSet<(PathBuf, String)> = files.iter().filter_map(problem).collect();
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
    let is_of_language = |file: &PathBuf| language_of_file(file).is_some();
    loaded
        .chain(failed.filter(|file| file.starts_with(&catalog.paths.tools)))
        .filter(is_of_language)
        .collect()
}
