//! Resources: reads the content of a URI.
//!
//! `Resources::read` determines the kind of a URI (a kept text, a listed resource, a matching template, or a plain URI of a
//! built-in provider) and its reader: an executable of the project, or else a built-in provider.

mod failure;
mod find;
mod kept;
mod read;
mod sources;

pub(crate) use failure::Failure;
pub(crate) use find::{Found, find};
pub(crate) use kept::Kept;
pub(crate) use read::ResourceContent;

use super::served::Served;
use crate::callers::Principal;
use crate::stores::Store;
use mcp_bash_scripts::Scripts;
use mcp_bash_settings::Settings;
use sources::Sources;
use std::sync::Arc;

/// The providers, and the kept texts.
pub(crate) struct Resources {
    served: Arc<Served>,
    scripts: Arc<Scripts>,
    sources: Sources,
    kept: Kept,
}

impl Resources {
    pub(crate) fn new(served: Arc<Served>, scripts: Arc<Scripts>, store: Arc<Store>) -> Self {
        let sources = Sources::new(Arc::clone(&scripts), &served.paths());
        let kept = Kept::new(Arc::clone(scripts.state_dir()), store);
        Self { served, scripts, sources, kept }
    }

    pub(crate) fn served(&self) -> &Served {
        &self.served
    }

    pub(crate) fn settings(&self) -> &Settings {
        self.scripts.settings()
    }

    /// Whether the resource exists, but this caller may not read it.
    pub(crate) fn hides(&self, uri: &str, principal: &Principal) -> bool {
        let Some(rights) = principal.rights.as_deref() else { return false };
        let snapshot = self.served.snapshot();
        find(&snapshot, uri, Some(rights)).is_none() && find(&snapshot, uri, None).is_some()
    }

    /// Texts that were too long for a result, available for a limited time.
    pub(crate) fn kept(&self) -> &Kept {
        &self.kept
    }
}
