//! Sandbox key: everything that a prepared sandbox depends on. Calls with equal keys can use the same one, one after the other.

use mcp_bash_sandbox::Declaration;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// The declaration in force.
    pub(super) declaration: Declaration,
    pub(super) project: PathBuf,
    pub(super) roots: Vec<PathBuf>,
    /// The script, which may be outside the project.
    pub(super) script: PathBuf,
    /// The program that runs it.
    pub(super) program: PathBuf,
    pub(super) search_path: OsString,
    /// The folders and files of the SDK and the toolbox that it uses.
    pub(super) toolbox: Vec<PathBuf>,
}
