//! What all kinds of entries of a catalog have in common.

use crate::ground::canonical::canonical;
use crate::walk::limits;
use crate::walk::listing::Listing;
use crate::walk::run::Run;
use crate::walk::sighting::{Besides, Candidate, Sighting};
use crate::walk::sign::Asks;
use crate::{Diagnostic, Paths};
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// One kind of entry: a tool, a resource, a prompt.
pub(crate) trait Entry: Sized + Send + Sync {
    /// What they are called in registrations and in the name of their registry.
    const KIND: &'static str;

    /// The name of their registry, without its ending.
    const REGISTRY: &'static str = Self::KIND;

    /// Whether a candidate that turned out to be none is known as such until its files look different. Only where
    /// nothing but these files decides about it.
    const REMEMBERS_OTHERS: bool = false;

    /// What the registry says of each of them.
    type Written: DeserializeOwned;

    /// How deep below their folder they may stand.
    const DEPTH: usize = limits::DEPTH;

    /// Where they stand in a project.
    fn folder(paths: &Paths) -> &Path;

    /// Another folder whose changes can make a difference to each of them.
    fn depends_on(_paths: &Paths) -> Option<&Path> {
        None
    }

    /// What in one folder may be an entry, at first sight. `diagnostics` gets what surely is none, but looks as if it was meant to be.
    fn pick(listing: &Listing<'_>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Sighting>;

    /// Picks what in the same folder may be an entry of another kind, so that nobody need walk it for that.
    fn pick_besides(_listing: &Listing<'_>, _besides: &mut Besides) {}

    /// Makes an entry of a candidate, or nothing. `problems` gets what is wrong and does no harm.
    fn read(
        candidate: Candidate,
        context: &Context<'_>,
        problems: &mut Vec<String>,
    ) -> Result<Option<Self>, Unread>;

    /// Makes an entry of what a registration says, which is the text of a JSON object.
    fn registered(text: &str, paths: &Paths, problems: &mut Vec<String>) -> Result<Self, String>;

    /// Takes an entry from our own registry, where it was looked at before it was written.
    fn remembered(written: Self::Written, paths: &Paths) -> Option<Self>;

    fn name(&self) -> &str;

    /// Where it stands below the folder of its kind.
    fn path(&self) -> &str;

    /// The text of the entry in the registry.
    fn registry_entry(&self) -> &RegistryEntry;

    /// Writes the text of the entry in the registry: a JSON object.
    fn write(&self) -> String;

    /// Whether other files than those of its candidate are part of it, so that their looks do not tell of changes.
    fn has_parts_elsewhere(&self) -> bool;

    /// Whether the other files that are part of it look as they did.
    fn is_current(&self, _paths: &Paths) -> bool {
        true
    }

    /// The other files that are part of it.
    fn parts(&self, _paths: &Paths) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Whether its author says what it is, so that a file that was cut short cannot be mistaken for it.
    fn is_described(&self) -> bool {
        true
    }

    fn registry_text(&self) -> &str {
        self.registry_entry().text.get_or_init(|| self.write().into())
    }

    /// The canonical form of the entry, of which the hash of the registry is made.
    fn canonical(&self) -> &[u8] {
        self.registry_entry().canonical.get_or_init(|| canonical(self.registry_text()).into())
    }
}

/// Why a candidate was not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It cannot be used, for this reason.
    Unusable(String),
    /// It is being asked what it has.
    Awaited,
    /// It could not say what it has, for a reason that passes.
    NotNow(String),
}

impl<S: Into<String>> From<S> for Unread {
    fn from(problem: S) -> Self {
        Self::Unusable(problem.into())
    }
}

/// What is at hand while entries are read.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) paths: &'a Paths,
    /// Who runs what says itself what it has, if anybody does.
    pub(crate) run: Option<&'a dyn Run>,
    pub(crate) asks: Asks,
    /// Whether the candidates are registered as what they are, and need no sign.
    pub(crate) are_registered: bool,
    /// Whether the project is read again soon, so that what was good before can stay until then.
    pub(crate) is_followed: bool,
}

/// An entry as the registry has it, written when it is first needed.
#[derive(Debug, Clone, Default)]
pub(crate) struct RegistryEntry {
    text: OnceLock<Box<str>>,
    canonical: OnceLock<Box<[u8]>>,
}

/// The name without its ending, or the name of the folder for files that are called as their kind is.
pub(crate) fn default_name(file: &Path, kind: &str) -> String {
    let stem = file.file_stem().unwrap_or_default();
    let folder = file.parent().and_then(Path::file_name);
    let name = if stem == kind { folder.unwrap_or(stem) } else { stem };
    name.to_string_lossy().into_owned()
}

/// The path of a file below `folder`.
pub(crate) fn below(file: &Path, folder: &Path) -> String {
    file.strip_prefix(folder).unwrap_or(file).to_string_lossy().into_owned()
}
