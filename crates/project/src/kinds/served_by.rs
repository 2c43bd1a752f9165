//! The worker that runs a function.

use crate::Worker;
use std::path::{Path, PathBuf};

/// What runs a function: the file that it stands in, and the process that stays alive for it.
#[derive(Debug, Clone)]
pub struct ServedBy {
    pub file: PathBuf,
    pub worker: Worker,
}

/// The path of what a function gives: that of its file, which stands in another folder, and so is whole.
pub(crate) fn path_of_functions(file: &Path) -> String {
    file.to_string_lossy().into_owned()
}
