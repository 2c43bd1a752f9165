//! Files that somebody surely meant to be served, and that nobody can run.

use super::script::{interpreter_by_ending, quoted};
use super::walk::Folder;
use crate::listing::metadata_stem;
use crate::tools::has_shebang;
use crate::{Catalog, Diagnostic};
use std::path::{Path, PathBuf};

/// Scripts among the tools that are none, since they are neither executable nor say what runs them.
pub(super) fn check(catalog: &Catalog, folders: &[Folder], found: &mut Vec<Diagnostic>) {
    let is_tool = |path: &Path| catalog.tools.items().iter().any(|tool| tool.script == path);
    for folder in folders {
        let files: Vec<PathBuf> = folder.files.iter().map(|name| folder.path.join(name)).collect();
        let is_top = folder.path == catalog.paths.tools;
        // What stands beside a tool helps it.
        if !is_top && files.iter().any(|file| is_tool(file)) {
            continue;
        }
        let is_told = |file: &Path| catalog.diagnostics.iter().any(|known| known.path == file);
        let scripts = files.iter().filter(|file| !is_tool(file) && !is_told(file));
        found.extend(scripts.filter_map(|file| stray(file)));
    }
}

fn stray(file: &Path) -> Option<Diagnostic> {
    let interpreter = interpreter_by_ending(file)?;
    let is_metadata = file.file_name().is_some_and(|name| metadata_stem(name).is_some());
    if is_metadata || super::is_executable(file) || !file.is_file() || has_shebang(file) {
        return None;
    }
    let remedy = format!(
        "add the first line `#!/usr/bin/env {interpreter}` and run `chmod +x {}`, or move it out of the tools \
         if it is none",
        quoted(file)
    );
    let problem = "is not served: it is neither executable nor starts with `#!`";
    Some(Diagnostic::warning(file, problem, &remedy))
}
