//! Resources: from a URI to what it names.
//!
//! [`read()`] finds out what a URI is (kept by us, listed, found by a template, or only spelt so that one of our providers
//! understands it) and who reads it: an executable of the project, else one of our own providers.

mod failure;
mod find;
mod kept;
mod read;
mod sources;

pub(crate) use failure::Failure;
pub(crate) use find::{Found, find};
pub(crate) use kept::Kept;
pub(crate) use read::read;

use mcp_bash_project::Paths;
use mcp_bash_runner::StateDir;
use mcp_bash_settings::Settings;
use sources::Sources;
use std::sync::Arc;

/// What reading takes, and what is kept for later.
pub(crate) struct Resources {
    sources: Sources,
    kept: Kept,
}

impl Resources {
    pub(crate) fn new(settings: &Settings, paths: &Paths, state_dir: Arc<StateDir>) -> Self {
        Self { sources: Sources::new(&settings.resources, paths), kept: Kept::new(state_dir) }
    }

    /// Texts that were too long for an answer and can be read for a while.
    pub(crate) fn kept(&self) -> &Kept {
        &self.kept
    }
}
