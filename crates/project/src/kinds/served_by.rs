//! Function worker: what runs a function.

use crate::Worker;
use mcp_bash_runner::Confinement;
use std::path::{Path, PathBuf};

/// What runs a function: its file, and the process that stays alive for it.
#[derive(Debug, Clone)]
pub struct ServedBy {
    pub file: PathBuf,
    pub worker: Worker,
    /// The restrictions that the process starts under.
    pub confinement: Confinement,
}

/// The path of an entry from a function: the whole path of its file, which is in another folder.
pub(crate) fn path_of_functions(file: &Path) -> String {
    file.to_string_lossy().into_owned()
}
