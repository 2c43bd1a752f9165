//! Confined script: what determines its sandbox, and why it cannot have one.

use mcp_bash_project::Paths;
use mcp_bash_sandbox::{Declaration, PlaceError, Unenforceable};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A script of the project that is about to run.
#[derive(Clone, Copy)]
pub(crate) struct Confined<'a> {
    /// Its own `sandbox`, if it declares one.
    pub(crate) declaration: Option<&'a Declaration>,
    /// The roots of the client.
    pub(crate) roots: &'a [PathBuf],
    pub(crate) paths: &'a Paths,
    /// The file of the script.
    pub(crate) script: &'a Path,
}

/// Why a script is not run. It must not run with fewer restrictions than were declared.
#[derive(Debug, Error)]
pub(crate) enum NotConfined {
    /// The default of the project cannot be used.
    #[error("`sandbox` in server.d/server.meta.json cannot be used: {0}")]
    Default(String),
    #[error(
        "its sandbox allows `{place}`{}, which does not exist: create it, or correct `sandbox` in its metadata",
        path.as_ref().map(|path| format!(" ({})", path.display())).unwrap_or_default()
    )]
    Missing { place: String, path: Option<PathBuf> },
    #[error("its sandbox allows `~`, and the server has no home folder: set HOME where the server runs")]
    NoHome,
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error(transparent)]
    Unenforceable(#[from] Unenforceable),
    #[error("its sandbox could not be set up: {0}")]
    Setup(#[from] io::Error),
}
