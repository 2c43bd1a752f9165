//! Refusals: why a configuration file is left unchanged.

use crate::content::FileError;
use crate::edit::EditError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a file is left unchanged.
#[derive(Debug, Error)]
pub enum Refusal {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{}: {error}; nothing was changed", path.display())]
    Edit { path: PathBuf, error: EditError },
    #[error("{} has a server called `{name}` that is not this project: {found}", path.display())]
    Taken { path: PathBuf, name: String, found: String },
}
