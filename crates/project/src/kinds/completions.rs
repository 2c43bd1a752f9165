//! Completions: scripts that a project registers to complete what the user types.

use crate::declarations::error::EntryError;
use crate::declarations::metadata::Metadata;
use crate::declarations::values::positive;
use crate::declarations::{sandbox, secrets};
use crate::walk::entry::{Context, Entry, RegistryEntry, Unread};
use crate::walk::listing::Listing;
use crate::walk::sighting::{Candidate, Sighting};
use crate::{Diagnostic, Paths};
use mcp_bash_files::look;
use mcp_bash_sandbox::Declaration;
use mcp_bash_secrets::Needs;
use mcp_bash_wire::write;
use serde::de::IgnoredAny;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A script and the name it completes for: that of a prompt, or the URI or the name of a resource.
#[derive(Debug, Clone)]
pub struct Completion {
    pub name: String,
    pub script: PathBuf,
    /// The path of the script below the project.
    pub path: String,
    pub timeout: Option<Duration>,
    /// What its script may do.
    pub sandbox: Option<Declaration>,
    /// The secrets that its script needs.
    pub secrets: Needs,
    registry_entry: RegistryEntry,
}

impl Entry for Completion {
    const KIND: &'static str = "completions";

    type Written = IgnoredAny;

    fn folder(paths: &Paths) -> &Path {
        &paths.root
    }

    /// Completions are never searched for: a script does not say by itself what it completes.
    fn pick(_listing: &Listing<'_>, _diagnostics: &mut Vec<Diagnostic>) -> Vec<Sighting> {
        Vec::new()
    }

    fn read(
        _candidate: Candidate,
        _context: &Context<'_>,
        _problems: &mut Vec<String>,
    ) -> Result<Option<Self>, Unread> {
        Ok(None)
    }

    fn registered(text: &str, paths: &Paths, _problems: &mut Vec<String>) -> Result<Self, EntryError> {
        let metadata = Metadata::from_json(text)?;
        let name = metadata.name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        let name = name.ok_or(EntryError::Missing("name"))?;
        let path = metadata.path.filter(|path| !path.is_empty()).ok_or(EntryError::Missing("path"))?;
        let (script, root) = (paths.root.join(&path), look::canonical(&paths.root));
        let whole = look::canonical(&script).map_err(|_| EntryError::NoFile(script.clone()))?;
        let inside = root.ok().and_then(|root| whole.strip_prefix(root).ok().map(Path::to_owned));
        let inside = inside.ok_or(EntryError::Outside { folder: "project", path })?;
        if !look::is_file(&whole) {
            return Err(EntryError::NoFile(script));
        }
        Ok(Self {
            name,
            script,
            path: inside.to_string_lossy().into_owned(),
            timeout: positive(metadata.timeout_secs, "timeoutSecs")?,
            sandbox: sandbox::read(metadata.sandbox.as_deref())?,
            secrets: secrets::read(metadata.secrets.as_deref())?,
            registry_entry: RegistryEntry::default(),
        })
    }

    fn remembered(_written: IgnoredAny, _paths: &Paths) -> Option<Self> {
        None
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn registry_entry(&self) -> &RegistryEntry {
        &self.registry_entry
    }

    fn write(&self) -> String {
        format!("{{\"name\":{},\"path\":{}}}", write::string(&self.name), write::string(&self.path))
    }

    fn has_parts_elsewhere(&self) -> bool {
        false
    }
}
