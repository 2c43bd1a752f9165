//! Stray scripts: files that were surely meant to be served, and that cannot be run.

use super::walk::Folder;
use crate::ground::interpreters::{has_shebang, is_executable};
use crate::languages::interpreter_by_ending;
use crate::walk::function_sign::{helps_functions, unmarked};
use crate::walk::listing::metadata_stem;
use crate::{Catalog, Diagnostic, FunctionFile};
use mcp_bash_harmless::shell_path;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Scripts among the tools that are not tools, because they are not executable and do not name what runs them.
pub(super) fn check(catalog: &Catalog, folders: &[Folder], found: &mut Vec<Diagnostic>) {
    let tools: HashSet<&Path> = catalog.tools.items().iter().map(|tool| &*tool.script).collect();
    let functions: HashSet<PathBuf> = files_of_functions(catalog).collect();
    let told: HashSet<&Path> = catalog.diagnostics.iter().map(|known| &*known.path).collect();
    let is_tool = |path: &Path| tools.contains(path);
    for folder in folders.iter().filter(|folder| !folder.is_of_tests) {
        let files: Vec<PathBuf> = folder.files.iter().map(|name| folder.path.join(name)).collect();
        let is_top = folder.path == catalog.paths.tools;
        // A file beside a tool is its helper.
        if !is_top && files.iter().any(|file| is_tool(file)) {
            continue;
        }
        let scripts = files.iter().filter(|file| {
            !is_tool(file)
                && !told.contains(file.as_path())
                && !functions.contains(*file)
                && !helps_functions(file)
        });
        found.extend(scripts.filter_map(|file| stray(file)));
    }
    found.extend(catalog.function_files().iter().filter_map(|file| without_functions(file)));
    found.extend(catalog.function_files().iter().filter_map(|file| with_split_state(file)));
}

/// Function files, and the files that they load.
fn files_of_functions(catalog: &Catalog) -> impl Iterator<Item = PathBuf> + '_ {
    let root = &catalog.paths.root;
    catalog.function_files().iter().flat_map(move |file| {
        let loaded = file.loaded_files().map(|loaded| root.join(loaded));
        loaded.chain([file.served_by.file.clone()])
    })
}

/// A file that was loaded for its functions and has none.
fn without_functions(file: &FunctionFile) -> Option<Diagnostic> {
    let is_empty = file.tools.is_empty()
        && file.resources.is_empty()
        && file.templates.is_empty()
        && file.prompts.is_empty();
    let problem = "was loaded, and no function in it is a tool, a resource or a prompt";
    let language = file.served_by.worker.program.language().filter(|_| is_empty)?;
    Some(Diagnostic::warning(&file.served_by.file, problem, language.remedy_without_functions))
}

/// A file whose state several processes have, each its own.
fn with_split_state(file: &FunctionFile) -> Option<Diagnostic> {
    let state = file.split_state()?;
    let problem = format!("is served by several processes, and each of them has its own {state}");
    let place = file.served_by.worker.program.place_of_option("processes");
    let remedy = format!("leave out {place}, so that one process serves it, or keep the state elsewhere");
    Some(Diagnostic::warning(&file.served_by.file, &problem, &remedy))
}

fn stray(file: &Path) -> Option<Diagnostic> {
    let interpreter = interpreter_by_ending(file)?;
    let is_metadata = file.file_name().is_some_and(|name| metadata_stem(name).is_some());
    if is_metadata || is_executable(file) || !file.is_file() || has_shebang(file) {
        return None;
    }
    if let Some((problem, remedy)) = unmarked(file) {
        return Some(Diagnostic::warning(file, problem, remedy));
    }
    let remedy = format!(
        "add the first line `#!/usr/bin/env {interpreter}` and run `chmod +x {}`, or move it out of the tools \
         if it is none",
        shell_path(file)
    );
    let problem = "is not served: it is neither executable nor starts with `#!`";
    Some(Diagnostic::warning(file, problem, &remedy))
}
