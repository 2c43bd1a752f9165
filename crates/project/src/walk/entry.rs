//! Entry: what all kinds of entries in a catalog have in common.

use crate::declarations::error::EntryError;
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
    /// Their name in registrations and in the file name of their registry.
    const KIND: &'static str;

    /// The file name of their registry, without extension.
    const REGISTRY: &'static str = Self::KIND;

    /// Whether a candidate that turned out not to be an entry is remembered until its files look different. Only if nothing
    /// but these files decides.
    const REMEMBERS_OTHERS: bool = false;

    /// Their form in the registry.
    type Written: DeserializeOwned;

    /// How deep below their folder they may be.
    const DEPTH: usize = limits::DEPTH;

    /// Their folder in a project.
    fn folder(paths: &Paths) -> &Path;

    /// Another folder whose changes can affect each of them.
    fn depends_on(_paths: &Paths) -> Option<&Path> {
        None
    }

    /// The files of one folder that may be entries, at first sight. `diagnostics` receives files that surely are none, but
    /// look as if they were meant to be.
    fn pick(listing: &Listing<'_>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Sighting>;

    /// Picks candidates of another kind from the same folder, so that it need not be walked again.
    fn pick_besides(_listing: &Listing<'_>, _besides: &mut Besides) {}

    /// Makes an entry of a candidate, or nothing. `problems` receives harmless mistakes.
    fn read(
        candidate: Candidate,
        context: &Context<'_>,
        problems: &mut Vec<String>,
    ) -> Result<Option<Self>, Unread>;

    /// Makes an entry of a registered one, the text of a JSON object.
    fn registered(text: &str, paths: &Paths, problems: &mut Vec<String>) -> Result<Self, EntryError>;

    /// Takes an entry from our own registry, where it was checked before it was written.
    fn remembered(written: Self::Written, paths: &Paths) -> Option<Self>;

    fn name(&self) -> &str;

    /// The path below the folder of its kind.
    fn path(&self) -> &str;

    /// The text of the entry in the registry.
    fn registry_entry(&self) -> &RegistryEntry;

    /// Writes the text of the entry in the registry: a JSON object.
    fn write(&self) -> String;

    /// Whether files other than the candidate's own are part of it, so that the stamps of its files do not reveal all
    /// changes.
    fn has_parts_elsewhere(&self) -> bool;

    /// Whether the other files that are part of it look unchanged.
    fn is_current(&self, _paths: &Paths) -> bool {
        true
    }

    /// The other files that are part of it.
    fn parts(&self, _paths: &Paths) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Whether its author has described it, so that a truncated file cannot be mistaken for it.
    fn is_described(&self) -> bool {
        true
    }

    fn registry_text(&self) -> &str {
        self.registry_entry().text.get_or_init(|| self.write().into())
    }

    /// The canonical form of the entry, from which the hash of the registry is computed.
    fn canonical(&self) -> &[u8] {
        self.registry_entry().canonical.get_or_init(|| canonical(self.registry_text()).into())
    }
}

/// Why a candidate was not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It cannot be used, for this reason.
    Unusable(EntryError),
    /// It is being asked for its definitions.
    Awaited,
    /// It could not report its definitions, for a reason that will pass.
    NotNow(EntryError),
}

impl Unread {
    /// The error of a candidate that breaks a rule.
    pub(crate) fn because<T>(rule: &'static str) -> Result<T, Self> {
        Err(EntryError::Rule(rule).into())
    }

    /// The error of a file that has not reported its definitions, for a reason that may pass.
    pub(crate) fn unanswered(passes: bool, error: EntryError) -> Self {
        if passes { Self::NotNow(error) } else { Self::Unusable(error) }
    }
}

impl<E: Into<EntryError>> From<E> for Unread {
    fn from(error: E) -> Self {
        Self::Unusable(error.into())
    }
}

/// What reading entries needs.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) paths: &'a Paths,
    /// Runs the files that report their own definitions, if any may run.
    pub(crate) run: Option<&'a dyn Run>,
    pub(crate) asks: Asks,
    /// Whether the candidates are registered, and need no sign.
    pub(crate) are_registered: bool,
    /// Whether the project is read again soon, so that good entries can stay until then.
    pub(crate) is_followed: bool,
}

/// An entry in its registry form, written when it is first needed.
#[derive(Debug, Clone, Default)]
pub(crate) struct RegistryEntry {
    text: OnceLock<Box<str>>,
    canonical: OnceLock<Box<[u8]>>,
}

/// The name without its extension, or the name of the folder for files named like their kind.
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
