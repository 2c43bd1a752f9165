//! What a project holds: an immutable value.

use crate::collection::Collection;
use crate::entry::Entry;
use crate::register::Registration;
use crate::registry;
use crate::search::{Known, search};
use crate::watch::Changes;
use crate::{Diagnostic, Identity, Paths, RegistryError, Tool, hook};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

#[derive(Debug)]
pub struct Catalog {
    pub paths: Paths,
    pub identity: Identity,
    /// What the model is told about the server as a whole.
    pub instructions: Option<String>,
    pub tools: Collection<Tool>,
    /// What was skipped, and why.
    pub diagnostics: Vec<Diagnostic>,
    /// Why nothing can be served: a registration that is wrong is not worked around.
    pub failure: Option<String>,
}

/// How a project is read.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The longest `register.json`, in bytes.
    pub registration_limit: u64,
    /// The largest registry, in bytes.
    pub registry_limit: usize,
    /// Whether the registry is believed without looking at the project.
    pub static_registry: bool,
    /// Whether `server.d/register.sh` may run.
    pub hooks: bool,
    /// The only part of the project that is looked at; the rest is as the registry has it.
    pub only: Option<PathBuf>,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            registration_limit: 1024 * 1024,
            registry_limit: 100 * 1024 * 1024,
            static_registry: false,
            hooks: false,
            only: None,
        }
    }
}

/// Where the entries of a catalog come from: the registry, or the catalog before it.
enum Before<'a> {
    Registry,
    Catalog(&'a Catalog, &'a Changes),
}

impl Catalog {
    /// Reads the project in `paths`, starting from what its registry knows.
    pub fn read(paths: &Paths, reading: &Reading) -> Self {
        Self::assemble(paths, reading, &Before::Registry)
    }

    /// Reads the project again, as far as it changed.
    #[must_use]
    pub fn read_again(&self, reading: &Reading, changes: &Changes) -> Self {
        Self::assemble(&self.paths, reading, &Before::Catalog(self, changes))
    }

    fn assemble(paths: &Paths, reading: &Reading, before: &Before<'_>) -> Self {
        let mut diagnostics = Vec::new();
        let identity = Identity::read(paths, &mut diagnostics);
        let instructions = std::fs::read_to_string(paths.server.join("server.instructions.md"))
            .ok()
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty());
        let mut source =
            Source { paths, reading, before, registration: Registration::default(), diagnostics };
        let read = register(paths, reading).and_then(|(file, registration)| {
            source.registration = registration;
            source.collections().map_err(|problem| (file, problem))
        });
        let (tools, failure) = match read {
            Ok(tools) => (tools, None),
            Err((file, problem)) => {
                let remedy = format!("{problem}; nothing is served until it is mended");
                source.diagnostics.push(Diagnostic::new(paths.server.join(file), remedy));
                (Collection::default(), Some(format!("server.d/{file} {problem}")))
            }
        };
        let diagnostics = source.diagnostics;
        Self { paths: paths.clone(), identity, instructions, tools, diagnostics, failure }
    }

    /// Whether clients would be told the same of both.
    pub fn tells_the_same_tools_as(&self, other: &Self) -> bool {
        self.tools.hash() == other.tools.hash() && self.failure.is_some() == other.failure.is_some()
    }

    /// Changes when the tools do.
    pub fn hash(&self) -> &str {
        self.tools.hash()
    }

    /// Writes the registries to the disk, unless they are there already.
    pub fn store(&self, reading: &Reading) -> Result<(), RegistryError> {
        registry::store(&self.paths, &self.tools, reading.registry_limit)
    }
}

/// What a catalog is made of while it is being made.
struct Source<'a> {
    paths: &'a Paths,
    reading: &'a Reading,
    before: &'a Before<'a>,
    registration: Registration,
    diagnostics: Vec<Diagnostic>,
}

impl Source<'_> {
    fn collections(&mut self) -> Result<Collection<Tool>, String> {
        self.collection::<Tool>(|catalog| &catalog.tools)
    }

    /// The entries of one kind: as they are registered, else as they are found.
    fn collection<T: Entry>(
        &mut self,
        of: impl Fn(&Catalog) -> &Collection<T>,
    ) -> Result<Collection<T>, String> {
        let registered = self.registration.entries::<T>(self.paths, &mut self.diagnostics);
        if let Some(entries) = registered.map_err(|error| error.to_string())? {
            let folder = T::folder(self.paths);
            return Ok(Collection::new(entries, HashMap::new(), folder, &mut self.diagnostics));
        }
        Ok(match self.before {
            Before::Registry => self.from_registry(),
            Before::Catalog(catalog, changes) => self.from_catalog(catalog, of(catalog), changes),
        })
    }

    fn from_registry<T: Entry>(&mut self) -> Collection<T> {
        let known = registry::load::<T>(self.paths, self.reading.registry_limit);
        if let Some(known) = &known
            && self.reading.static_registry
        {
            let items = known.entries.values().map(|(item, _)| item.clone()).collect();
            let folder = T::folder(self.paths);
            return Collection::new(items, HashMap::new(), folder, &mut self.diagnostics).stored(true);
        }
        let only = self.reading.only.as_ref().map(std::slice::from_ref);
        search(self.paths, known.unwrap_or_default(), only, &mut self.diagnostics)
    }

    fn from_catalog<T: Entry>(
        &mut self,
        catalog: &Catalog,
        before: &Collection<T>,
        changes: &Changes,
    ) -> Collection<T> {
        let folder = T::folder(self.paths);
        // What lost its name to another may have won it now.
        let only = changes.folders().filter(|_| !before.has_clashes);
        let only = only.map(|changed| {
            let inside: BTreeSet<&PathBuf> = changed.iter().filter(|part| part.starts_with(folder)).collect();
            // What stands inside of another part is looked at with that.
            let is_covered =
                |part: &PathBuf| inside.iter().any(|other| *other != part && part.starts_with(other));
            inside.iter().filter(|part| !is_covered(part)).map(|part| (*part).clone()).collect::<Vec<_>>()
        });
        if let Some(only) = &only {
            // What is wrong elsewhere is still wrong.
            let is_elsewhere =
                |path: &PathBuf| path.starts_with(folder) && !only.iter().any(|part| path.starts_with(part));
            let still_wrong = catalog.diagnostics.iter().filter(|diagnostic| is_elsewhere(&diagnostic.path));
            self.diagnostics.extend(still_wrong.cloned());
        }
        let found = search(self.paths, Known::of(before), only.as_deref(), &mut self.diagnostics);
        let is_stored = found.is_stored && before.is_stored;
        found.stored(is_stored)
    }
}

/// What the project registers itself, and in which file: in `register.json`, else in `register.sh` where that is
/// allowed. A file that is wrong is named with what is wrong about it, and is no reason to look at the other.
fn register(
    paths: &Paths,
    reading: &Reading,
) -> Result<(&'static str, Registration), (&'static str, String)> {
    const JSON: &str = "register.json";
    const HOOK: &str = "register.sh";
    let limit = reading.registration_limit;
    let written = Registration::read(paths, limit).map_err(|error| (JSON, error.to_string()))?;
    if let Some(registration) = written {
        return Ok((JSON, registration));
    }
    if !reading.hooks || reading.static_registry {
        return Ok((HOOK, Registration::default()));
    }
    let registered = hook::run(paths, limit).map_err(|error| (HOOK, error.to_string()))?;
    Ok((HOOK, registered.map(Registration::hooked).unwrap_or_default()))
}
