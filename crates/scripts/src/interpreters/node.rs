//! The Node.js of a project. What is installed in `node_modules` beside or above a file is found by Node.js itself.

use super::first_found;
use crate::scripts::Scripts;
use mcp_bash_project::Paths;
use std::path::PathBuf;

pub(super) async fn find(scripts: &Scripts, paths: &Paths) -> Result<PathBuf, String> {
    let found = first_found(scripts, &["node", "nodejs"], paths).await;
    found.ok_or_else(|| {
        "there is no `node` on the PATH of scripts; install Node.js 18 or newer, or put its folder on the PATH of the \
         server"
            .to_owned()
    })
}
