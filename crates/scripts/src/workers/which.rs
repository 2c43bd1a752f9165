//! Which worker: the inputs of its start. Two calls share a worker only if all of them are equal.

use mcp_bash_project::{Paths, Worker};
use mcp_bash_sandbox::Declaration;
use mcp_bash_secrets::Needs;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy)]
pub(super) struct Which<'a> {
    pub(super) script: &'a Path,
    pub(super) worker: &'a Worker,
    /// The variables of the server's environment that it needs.
    pub(super) variables: &'a [String],
    /// Its sandbox, if one is declared.
    pub(super) sandbox: Option<&'a Declaration>,
    /// The secrets that it needs.
    pub(super) secrets: &'a Needs,
    /// The roots of its calls, if its sandbox depends on them.
    pub(super) roots: &'a [PathBuf],
    pub(super) paths: &'a Paths,
}
