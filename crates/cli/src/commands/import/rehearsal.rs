//! Rehearsal: reads each tool as a server would, in a folder of our own, before the user is asked whether to write it.

use super::error::ImportError;
use super::tool_file;
use mcp_bash_importing::Tool;
use mcp_bash_project::{Catalog, Paths, Reading, Surroundings, examine};
use mcp_bash_runner::StateDir;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// For each tool, why it would not be served well, if it would not.
pub(super) fn problems(tools: &[Tool], state_dir: &StateDir) -> Result<Vec<Option<String>>, ImportError> {
    let folder = state_dir.path().map_err(ImportError::Rehearsal)?.join("import");
    let paths = Paths::of(&folder);
    let files: Vec<PathBuf> = tools.iter().map(|tool| tool_file::path(&paths.tools, &tool.name)).collect();
    for (tool, file) in tools.iter().zip(&files) {
        match tool_file::write(file, tool) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(ImportError::Rehearsal(error));
            }
            _ => {}
        }
    }
    let catalog = Catalog::read(&paths, &Reading::default());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = examine(&catalog, Surroundings { search_path: &path });
    let mut words: BTreeMap<PathBuf, String> = BTreeMap::new();
    for diagnostic in catalog.diagnostics.iter().chain(&found) {
        words.entry(diagnostic.path.clone()).or_insert_with(|| diagnostic.words());
    }
    Ok(files.iter().map(|file| words.get(file).map(|words| format!("its metadata {words}"))).collect())
}
