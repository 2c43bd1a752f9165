//! Overlooked tools: folders whose executables all count as helpers, although the author may have meant one of them to be a
//! tool.

use crate::walk::collection::Collection;
use crate::{Diagnostic, Paths, Tool};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

/// Names each folder directly in `tools/` that holds executables and no tool. Folders with another problem are left out:
/// that may be the reason.
pub(crate) fn overlooked(scripts: &Collection<Tool>, paths: &Paths) -> Vec<Diagnostic> {
    if scripts.stamps.len() <= scripts.len() {
        return Vec::new();
    }
    let with_tools: BTreeSet<&OsStr> =
        scripts.items().iter().filter_map(|tool| folder_of(Path::new(&tool.path))).collect();
    let helpers = scripts.stamps.iter().filter(|(_, stamps)| stamps.file.is_executable());
    let folders: BTreeSet<&OsStr> = helpers
        .filter_map(|(path, _)| folder_of(Path::new(&**path)))
        .filter(|folder| !with_tools.contains(folder))
        .collect();
    let folders = folders.into_iter().map(|folder| paths.tools.join(folder));
    let is_known = |folder: &Path| scripts.diagnostics.iter().any(|known| known.path.starts_with(folder));
    let folders = folders.filter(|folder| !is_known(folder));
    let problem = "holds executables, and none of them is a tool; call one `tool.*` or like the folder, or put metadata \
                   beside it (a folder of helpers that begins with a dot is left alone)";
    folders.map(|folder| Diagnostic::new(folder, problem)).collect()
}

/// The folder directly in `tools/` that contains a file, at any depth.
fn folder_of(path: &Path) -> Option<&OsStr> {
    let mut parts = path.iter();
    let first = parts.next()?;
    parts.next().map(|_| first)
}
