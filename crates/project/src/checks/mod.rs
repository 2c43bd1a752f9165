//! Project checks: find what would make a call fail before a client calls: in scripts, in metadata, in file permissions.
//!
//! Discovery reads as little as it can, and nothing of the entries it knows from the registry. These checks read the rest:
//! the beginning of each script, the text of all metadata. They run on request, and beside a running server, but never
//! delay its start.

mod annotations;
mod clashes;
mod evaluated;
mod keys;
mod members;
mod placeholders;
mod policy;
mod portability;
#[cfg(test)]
mod published_schemas;
mod schema;
mod script;
mod shebang;
mod source;
mod strays;
mod surroundings;
mod traps;
mod unconfirmed;
mod unreachable;
mod unsigned;
mod walk;
mod writable;

pub use portability::portability;
pub use surroundings::Surroundings;
pub use traps::variables_from_outside;
pub use unreachable::unreachable;

use crate::walk::listing::is_interface;
#[cfg(test)]
pub(crate) use keys::known_keys;

use crate::{Catalog, Diagnostic, Execution, Source, Tool};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use surroundings::ScriptUse;
use walk::{Folder, walk};

/// All problems of a project besides those that discovery found, ordered by file.
pub fn examine(catalog: &Catalog, surroundings: Surroundings<'_>) -> Vec<Diagnostic> {
    let paths = &catalog.paths;
    let mut found = Vec::new();
    for (script, kind) in scripts(catalog) {
        found.extend(script::check(&script, kind, surroundings));
    }
    let mut folders = walk(&paths.tools);
    strays::check(catalog, &folders, &mut found);
    unsigned::check(catalog, &folders, &mut found);
    for folder in [&paths.prompts, &paths.resources, &paths.server, &paths.providers, &paths.completions] {
        folders.extend(walk(folder));
    }
    let is_kept = |folder: &&Folder| folder.path != paths.server;
    let metadata: Vec<PathBuf> = folders
        .iter()
        .filter(is_kept)
        .flat_map(|folder| clashes::metadata_files(folder, &mut found))
        .filter(|file| !is_interface(file))
        .collect();
    for file in &metadata {
        keys::check_file(file, &mut found);
    }
    keys::check_server(paths, &mut found);
    policy::check(paths, &mut found);
    schema::check(catalog, &metadata, &mut found);
    annotations::check(catalog, &metadata, &mut found);
    unconfirmed::check(catalog, &metadata, &mut found);
    placeholders::check(catalog, &mut found);
    traps::check(catalog, &mut found);
    evaluated::check(catalog, &mut found);
    // Resources are read, not run: a shared folder of them may be group-writable.
    folders.retain(|folder| !folder.path.starts_with(&paths.resources));
    found.extend(writable::check(catalog, &folders));
    let key = |found: &Diagnostic| (found.path.clone(), found.line, found.severity);
    found.sort_by_cached_key(key);
    found.dedup();
    found
}

/// The metadata files in a folder that are read.
fn metadata_files(folder: &Path) -> Vec<PathBuf> {
    walk(folder).iter().flat_map(|folder| clashes::metadata_files(folder, &mut Vec::new())).collect()
}

/// The beginning of a file as text, or nothing if it cannot be read.
fn beginning(file: &Path, bytes: u64) -> String {
    let mut text = Vec::new();
    let read = mcp_bash_files::open(file).and_then(|file| file.take(bytes).read_to_end(&mut text));
    if read.is_ok() { String::from_utf8_lossy(&text).into_owned() } else { String::new() }
}

/// All scripts that the project may run, each once.
fn scripts(catalog: &Catalog) -> BTreeMap<PathBuf, ScriptUse> {
    let is_script =
        |tool: &&Arc<Tool>| !tool.is_function() && !matches!(tool.execution, Execution::Command { .. });
    let tools = catalog.tools.items().iter().filter(is_script).map(|tool| tool.script.clone());
    let prompts = catalog.prompts.items().iter();
    let own = prompts
        .clone()
        .filter(|prompt| matches!(prompt.source, Source::Script))
        .map(|prompt| prompt.file.clone());
    let completing = prompts.filter_map(|prompt| prompt.completion_script());
    let completions = catalog.completions.items().iter().map(|completion| completion.script.clone());
    let started =
        tools.chain(own).chain(completing).chain(completions).map(|script| (script, ScriptUse::Started));
    let server = walk(&catalog.paths.server).into_iter().next();
    let server = server
        .into_iter()
        .flat_map(|Folder { path, files, .. }| files.into_iter().map(move |name| path.join(name)));
    let sourced = server.filter(|path| path.extension().is_some_and(|ending| ending == "sh"));
    started.chain(sourced.map(|script| (script, ScriptUse::Sourced))).collect()
}
