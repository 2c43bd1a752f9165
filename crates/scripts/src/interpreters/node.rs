//! Node.js of a project. Node.js itself finds packages in `node_modules` beside or above a file.

use super::first_found;
use super::python::folders;
use crate::surroundings::Surroundings;
use mcp_bash_project::{Paths, trust};
use std::path::{Path, PathBuf};

pub(super) async fn find(surroundings: &Surroundings, file: &Path, paths: &Paths) -> Result<PathBuf, String> {
    for folder in folders(file, paths) {
        trust::judge_folder_if_any(&folder.join("node_modules"), &paths.root)
            .map_err(|distrust| format!("its packages are not used: {distrust}"))?;
    }
    let found = first_found(surroundings, &["node", "nodejs"], paths).await;
    found.ok_or_else(|| {
        "there is no `node` on the PATH of scripts; install Node.js 18 or newer, or put its folder on the PATH of the \
         server"
            .to_owned()
    })
}
