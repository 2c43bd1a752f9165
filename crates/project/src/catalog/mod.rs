//! Catalog: everything a project holds, as an immutable value.

pub(crate) mod hook;
pub(crate) mod merge;
pub(crate) mod origins;
pub(crate) mod overlooked;
pub(crate) mod reading;
pub(crate) mod register;
pub(crate) mod registrations;
pub(crate) mod registry;
pub(crate) mod secret_users;
pub(crate) mod sent_warnings;
pub(crate) mod skipped;
pub(crate) mod stamps_file;
pub(crate) mod task_tools;

use crate::catalog::merge::{joined, merge};
use crate::catalog::overlooked::overlooked;
use crate::catalog::reading::Reading;
use crate::catalog::register::{Registration, RegistrationError};
use crate::catalog::skipped::Skipped;
use crate::ground::optional::believed_text;
use crate::ground::shares::both;
use crate::walk::collection::Collection;
use crate::walk::entry::{Context, Entry};
use crate::walk::known::Known;
use crate::walk::listing::KnownFiles;
use crate::walk::scan::{Sighted, sight};
use crate::walk::search::search;
use crate::walk::sighting::Besides;
use crate::watch::Changes;
use crate::{
    Completion, Diagnostic, Duplicate, FunctionFile, Identity, Paths, PolicyFile, Prompt, Provider,
    RegistryError, Resource, ResourceTemplate, Tool, ground::location, kinds::templates,
};
use mcp_bash_files::shortage;
use std::collections::{BTreeSet, HashMap};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug)]
pub struct Catalog {
    pub paths: Paths,
    pub identity: Identity,
    /// The project's rules in CEL.
    pub policy: PolicyFile,
    /// What the model reads about the server as a whole.
    pub instructions: Option<String>,
    /// All callable tools.
    pub tools: Arc<Collection<Tool>>,
    pub resources: Arc<Collection<Resource>>,
    /// Families of resources: those that were found, overridden by those that are registered.
    pub templates: Arc<Collection<ResourceTemplate>>,
    pub prompts: Arc<Collection<Prompt>>,
    /// The scripts that complete arguments, by what they complete.
    pub completions: Collection<Completion>,
    /// Names that cannot be called, because several tools share them.
    pub duplicates: Vec<Duplicate>,
    /// What was skipped, and why.
    pub diagnostics: Vec<Diagnostic>,
    /// Why nothing can be served: we do not work around a wrong registration.
    pub failure: Option<String>,
    /// Why the tools cannot be listed, although they can be called.
    pub listing_failure: Option<String>,
    /// What the system was short of while the project was read: the project may hold more than was found.
    pub shortage: Option<String>,
    /// Whether some entry is as it was before, because its file is being written. Read again after [`crate::STILL`].
    pub is_unsettled: bool,
    /// The tools that skipped files may have.
    skipped: Skipped,
    scripts: Arc<Collection<Tool>>,
    /// The executables that were found to provide tools, or those registered as providers: one of the two is empty.
    providers: Collection<Provider>,
    registered_providers: Collection<Provider>,
    /// The files whose functions are tools, resources and prompts.
    functions: Collection<FunctionFile>,
    /// The templates, except those of functions.
    own_templates: Arc<Collection<ResourceTemplate>>,
    found_resources: Arc<Collection<Resource>>,
    found_templates: Arc<Collection<ResourceTemplate>>,
    found_prompts: Arc<Collection<Prompt>>,
}

/// Where the entries of a catalog come from: the registry, or the catalog before it.
enum Before<'a> {
    Registry,
    Catalog(&'a Catalog, &'a Changes),
}

impl Catalog {
    /// The spelling in which the policy judges a URI: a template of the project, and a resource of it that is no `file:` URI,
    /// as they were declared, and any other in its canonical form.
    pub fn judged_uri(&self, uri: &str) -> String {
        let canonical = mcp_bash_uri::canonical(uri, self.paths.root.as_os_str().as_bytes());
        let is_resource = || self.resources.items().iter().any(|resource| *resource.uri == *uri);
        let is_template = || self.templates.items().iter().any(|template| template.template.as_str() == uri);
        let is_declared = is_template() || !canonical.starts_with("file:") && is_resource();
        if is_declared { uri.to_owned() } else { canonical }
    }

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
        let (catalog, shortage) = shortage::during(|| Self::assembled(paths, reading, before));
        catalog.note_secrets(reading);
        Self { shortage, ..catalog }
    }

    fn assembled(paths: &Paths, reading: &Reading, before: &Before<'_>) -> Self {
        let mut diagnostics = Vec::new();
        let identity = Identity::read(paths, &mut diagnostics);
        let policy = PolicyFile::read(paths, &mut diagnostics);
        let mut source = EntrySource {
            paths,
            reading,
            before,
            registration: Registration::default(),
            has_registry: false,
            known_functions: None,
            walked: Walked::default(),
            diagnostics,
        };
        if matches!(before, Before::Registry) {
            match registry::judge(paths) {
                Ok(is_there) => source.has_registry = is_there,
                Err(diagnostic) => source.diagnostics.push(diagnostic),
            }
        }
        let read = register(paths, reading, &mut source.diagnostics).and_then(|(file, registration)| {
            source.registration = registration;
            source.collections().map_err(|error| (file, error.to_string()))
        });
        let (found, failure) = match read {
            Ok(found) => (found, None),
            Err((file, problem)) => {
                let words = format!("keeps everything from being served: it {problem}");
                source.diagnostics.push(Diagnostic::new(paths.server.join(file), words));
                (Found::default(), Some(format!("server.d/{file} {problem}")))
            }
        };
        let are_registered = source.registration.has(Tool::KIND);
        let is_unsettled = found.is_unsettled();
        let mut diagnostics = source.diagnostics;
        diagnostics.extend(found.diagnostics().cloned());
        diagnostics.extend(overlooked(&found.scripts, paths));
        diagnostics.extend(location::misplaced(paths));
        let Found { scripts, providers, registered_providers, functions, completions, .. } = found;
        let (scripts, found_resources) = (Arc::new(scripts), Arc::new(found.resources));
        let (found_templates, found_prompts) = (Arc::new(found.templates), Arc::new(found.prompts));
        let told = &mut diagnostics;
        let resources = joined(&found_resources, &functions, |file| &file.resources, paths, told);
        let prompts = joined(&found_prompts, &functions, |file| &file.prompts, paths, told);
        let registered = &found.registered_templates;
        let own_templates = templates::merge(&found_templates, registered, &resources, paths, told);
        let templates = joined(&own_templates, &functions, |file| &file.templates, paths, told);
        let asked = if are_registered { &registered_providers } else { &providers };
        let named = joined(&scripts, &functions, |file| &file.tools, paths, told);
        let (tools, duplicates) = merge(&named, asked, paths, told);
        let instructions = instructions(paths, asked, &functions, told);
        let known = match before {
            Before::Registry => None,
            Before::Catalog(catalog, _) => Some((&*catalog.tools, &catalog.skipped)),
        };
        Self {
            skipped: Skipped::of(&diagnostics, known, paths),
            instructions,
            listing_failure: listing_failure(asked, &duplicates, reading),
            paths: paths.clone(),
            identity,
            policy,
            tools,
            resources,
            templates,
            prompts,
            completions,
            duplicates,
            diagnostics,
            failure,
            shortage: None,
            is_unsettled,
            scripts,
            providers,
            registered_providers,
            functions,
            own_templates,
            found_resources,
            found_templates,
            found_prompts,
        }
    }

    /// The files whose functions are tools, resources and prompts.
    pub fn function_files(&self) -> &[Arc<FunctionFile>] {
        self.functions.items()
    }

    /// The problem of a skipped file that could hold a tool: one with its name, else one that had it when it was last served
    /// or names it in its text.
    pub fn skipped_tool(&self, name: &str) -> Option<&Diagnostic> {
        self.skipped.suspect(&self.diagnostics, name, &self.paths.tools)
    }

    /// Whether clients would see the same tools in both.
    pub fn tells_the_same_tools_as(&self, other: &Self) -> bool {
        self.tools.hash() == other.tools.hash()
            && self.failure.is_some() == other.failure.is_some()
            && self.listing_failure == other.listing_failure
    }

    /// Whether clients would see the same resources and templates in both.
    pub fn tells_the_same_resources_as(&self, other: &Self) -> bool {
        self.resources.hash() == other.resources.hash()
            && self.templates.hash() == other.templates.hash()
            && self.failure.is_some() == other.failure.is_some()
    }

    /// Whether clients would see the same prompts in both.
    pub fn tells_the_same_prompts_as(&self, other: &Self) -> bool {
        self.prompts.hash() == other.prompts.hash() && self.failure.is_some() == other.failure.is_some()
    }

    /// Stores the definitions that function files and providers reported, unless they are stored already: finding them out
    /// takes a process. In a read-only project the files are asked each time.
    pub fn store_definitions(&self, reading: &Reading) {
        if !self.functions.is_empty() {
            let _ = registry::store(&self.paths, &self.functions, reading);
        }
        if !self.providers.is_empty() {
            let _ = registry::store(&self.paths, &self.providers, reading);
        }
    }

    /// Writes the registries to disk, unless they are there already.
    pub fn store(&self, reading: &Reading) -> Result<(), RegistryError> {
        registry::store(&self.paths, &self.scripts, reading)?;
        if self.failure.is_none() {
            registry::store(&self.paths, &*self.found_resources, reading)?;
            registry::store(&self.paths, &*self.own_templates, reading)?;
            registry::store(&self.paths, &*self.found_prompts, reading)?;
        }
        registry::store(&self.paths, &self.functions, reading)?;
        registry::store(&self.paths, &self.providers, reading)
    }
}

/// The entries of a project, by their kind.
#[derive(Default)]
struct Found {
    scripts: Collection<Tool>,
    providers: Collection<Provider>,
    registered_providers: Collection<Provider>,
    functions: Collection<FunctionFile>,
    resources: Collection<Resource>,
    templates: Collection<ResourceTemplate>,
    /// Registered templates, which override the ones that were found.
    registered_templates: Vec<Arc<ResourceTemplate>>,
    prompts: Collection<Prompt>,
    completions: Collection<Completion>,
}

impl Found {
    /// What was skipped of each kind, and why.
    fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        let providers = self.providers.diagnostics.iter().chain(&self.registered_providers.diagnostics);
        let tools = self.scripts.diagnostics.iter().chain(providers).chain(&self.functions.diagnostics);
        let resources = self.resources.diagnostics.iter().chain(&self.templates.diagnostics);
        let prompts = self.prompts.diagnostics.iter().chain(&self.completions.diagnostics);
        tools.chain(resources).chain(prompts)
    }

    fn is_unsettled(&self) -> bool {
        let tools = self.scripts.is_unsettled || self.functions.is_unsettled;
        let providers = self.providers.is_unsettled || self.registered_providers.is_unsettled;
        let resources = self.resources.is_unsettled || self.templates.is_unsettled;
        tools || providers || resources || self.prompts.is_unsettled
    }
}

/// The parts of a catalog while it is being built.
struct EntrySource<'a> {
    paths: &'a Paths,
    reading: &'a Reading,
    before: &'a Before<'a>,
    registration: Registration,
    /// Whether a trusted folder on disk holds registries.
    has_registry: bool,
    /// The function files in the registry, once it was read.
    known_functions: Option<Known<FunctionFile>>,
    walked: Walked,
    diagnostics: Vec<Diagnostic>,
}

/// Other candidates seen by the walk through the folder of tools.
#[derive(Default)]
struct Walked {
    /// The only parts of the folder that were walked.
    only: Option<Vec<PathBuf>>,
    besides: Besides,
}

impl<'a> EntrySource<'a> {
    fn collections(&mut self) -> Result<Found, RegistrationError> {
        let (templates, registered_templates) = self.templates()?;
        let mut found = Found {
            scripts: self.collection::<Tool>(|catalog| &catalog.scripts)?,
            resources: self.collection::<Resource>(|catalog| &catalog.found_resources)?,
            templates,
            registered_templates,
            prompts: self.collection::<Prompt>(|catalog| &catalog.found_prompts)?,
            completions: self.registered::<Completion>()?.unwrap_or_default(),
            ..Found::default()
        };
        // A project that registers tools has no others.
        if self.registration.has(Tool::KIND) {
            found.registered_providers = self.registered_providers()?;
        } else {
            found.providers = self.providers();
            found.functions = self.functions();
        }
        Ok(found)
    }

    /// The templates that are found, and those that are registered as well. An empty registration switches both off.
    fn templates(
        &mut self,
    ) -> Result<(Collection<ResourceTemplate>, Vec<Arc<ResourceTemplate>>), RegistrationError> {
        let registered = self.registration.entries::<ResourceTemplate>(self.paths, &mut self.diagnostics);
        match registered? {
            Some(registered) if registered.is_empty() => Ok((Collection::default(), registered)),
            registered => {
                let found = self.found::<ResourceTemplate>(|catalog| &catalog.found_templates);
                Ok((found, registered.unwrap_or_default()))
            }
        }
    }

    /// The registered entries of one kind, if that kind is registered.
    fn registered<T: Entry>(&mut self) -> Result<Option<Collection<T>>, RegistrationError> {
        let registered = self.registration.entries::<T>(self.paths, &mut self.diagnostics)?;
        let folder = T::folder(self.paths);
        Ok(registered.map(|entries| Collection::new(entries, HashMap::new(), folder, Vec::new())))
    }

    /// The entries of one kind: the registered ones, otherwise those that are found.
    fn collection<T: Entry>(
        &mut self,
        of: impl Fn(&Catalog) -> &Collection<T>,
    ) -> Result<Collection<T>, RegistrationError> {
        if let Some(registered) = self.registered()? {
            return Ok(registered);
        }
        Ok(self.found(of))
    }

    /// The entries of one kind that are found.
    fn found<T: Entry>(&mut self, of: impl Fn(&Catalog) -> &Collection<T>) -> Collection<T> {
        match self.before {
            Before::Registry => self.search_from_registry(),
            Before::Catalog(catalog, changes) => self.search_from(of(catalog), changes),
        }
    }

    fn context(&self) -> Context<'a> {
        Context {
            paths: self.paths,
            run: self.reading.run.as_deref(),
            asks: self.reading.asks,
            are_registered: false,
            is_followed: self.reading.is_followed,
        }
    }

    /// The executables registered as providers. They are asked for their tools, unless their files look unchanged.
    fn registered_providers(&mut self) -> Result<Collection<Provider>, RegistrationError> {
        let sightings = self.registration.providers(self.paths)?;
        let known = match self.before {
            Before::Registry => Known::default(),
            Before::Catalog(catalog, _) => Known::of(&catalog.registered_providers),
        };
        let context = Context { are_registered: true, ..self.context() };
        let sighted = Sighted { sightings, ..Sighted::default() };
        Ok(search(&context, sighted, known, None, Vec::new()))
    }

    fn search_from_registry<T: Entry>(&mut self) -> Collection<T> {
        // Changes in other folders do not affect this kind.
        let folder = T::folder(self.paths);
        let only = self.reading.only.as_ref().map(|part| {
            let parts = std::slice::from_ref(part);
            if part.starts_with(folder) { parts } else { Default::default() }
        });
        if let Some(stored) = self.stored() {
            return stored;
        }
        let (paths, reading, has_registry) = (self.paths, self.reading, self.has_registry);
        let load = || if has_registry { registry::load::<T>(paths, reading) } else { Ok(None) };
        if T::KIND == Tool::KIND {
            self.known_functions = Some(self.load());
        }
        let functions = self.known_functions.as_ref().map(|known| known as &dyn KnownFiles);
        let (known, mut sighted) = if has_registry && registry::is_large::<T>(paths) {
            // Worth a thread: walking the project takes as long as reading the registry.
            both(load, || sight::<T>(paths, only, functions))
        } else {
            (load(), sight::<T>(paths, only, functions))
        };
        let known = known.unwrap_or_else(|diagnostic| {
            self.diagnostics.push(diagnostic);
            None
        });
        self.note_walk::<T>(&mut sighted, only);
        search(&self.context(), sighted, known.unwrap_or_default(), only, Vec::new())
    }

    /// The entries of one kind from the registry, if it is used without looking at the project.
    fn stored<T: Entry>(&self) -> Option<Collection<T>> {
        let is_believed = self.reading.static_registry && self.has_registry;
        let known = is_believed.then(|| registry::load::<T>(self.paths, self.reading))?.ok()??;
        let items = known.entries.into_values().map(|(item, _)| item).collect();
        Some(Collection::new(items, HashMap::new(), T::folder(self.paths), Vec::new()).stored(true))
    }

    fn note_walk<T: Entry>(&mut self, sighted: &mut Sighted, only: Option<&[PathBuf]>) {
        if T::KIND == Tool::KIND {
            let besides = std::mem::take(&mut sighted.besides);
            self.walked = Walked { only: only.map(<[PathBuf]>::to_vec), besides };
        }
    }

    /// The entries of one kind from the registry.
    fn load<T: Entry>(&mut self) -> Known<T> {
        if !self.has_registry {
            return Known::default();
        }
        registry::load(self.paths, self.reading)
            .unwrap_or_else(|diagnostic| {
                self.diagnostics.push(diagnostic);
                None
            })
            .unwrap_or_default()
    }

    /// The executables that list their own tools. At the start, the walk for tools has already seen every candidate.
    fn providers(&mut self) -> Collection<Provider> {
        match (self.before, self.walked.besides.providers.take()) {
            (Before::Registry, Some(sightings)) if !self.reading.static_registry => {
                let known = self.load();
                let sighted = Sighted { sightings, ..Sighted::default() };
                search(&self.context(), sighted, known, self.walked.only.as_deref(), Vec::new())
            }
            _ => self.found(|catalog| &catalog.providers),
        }
    }

    /// The function files among the candidates in the folder of tools.
    fn functions(&mut self) -> Collection<FunctionFile> {
        if let (Before::Registry, Some(stored)) = (self.before, self.stored()) {
            return stored;
        }
        let Walked { only, besides: Besides { functions: mut sightings, .. } } =
            std::mem::take(&mut self.walked);
        let (known, diagnostics) = match self.before {
            Before::Registry => {
                let known = self.known_functions.take();
                (known.unwrap_or_else(|| self.load()), Vec::new())
            }
            Before::Catalog(catalog, _) => {
                let before = &catalog.functions;
                // A function file that loads a changed file is read again, wherever it is itself.
                let stale = before.items().iter().filter(|file| !file.is_current(self.paths));
                let stale = stale.filter_map(|file| file.sighting());
                for sighting in stale.collect::<Vec<_>>() {
                    if !sightings.iter().any(|seen| seen.path == sighting.path) {
                        sightings.push(sighting);
                    }
                }
                (Known::of(before), still_wrong(before, only.as_deref()))
            }
        };
        let sighted = Sighted { sightings, ..Sighted::default() };
        let found = search(&self.context(), sighted, known, only.as_deref(), diagnostics);
        let were_stored = match self.before {
            Before::Registry => true,
            Before::Catalog(catalog, _) => catalog.functions.is_stored,
        };
        let is_stored = found.is_stored && were_stored;
        found.stored(is_stored)
    }

    fn search_from<T: Entry>(&mut self, before: &Collection<T>, changes: &Changes) -> Collection<T> {
        let folder = T::folder(self.paths);
        // An entry that lost its name to another may have won it now.
        let only = changes.folders().filter(|_| !before.has_clashes);
        let others = T::depends_on(self.paths);
        let only = only.filter(|changed| {
            !changed.iter().any(|part| others.is_some_and(|other| part.starts_with(other)))
        });
        let only = only.map(|changed| {
            let inside: BTreeSet<&PathBuf> = changed.iter().filter(|part| part.starts_with(folder)).collect();
            // A folder inside another part is covered by that part.
            let is_covered =
                |part: &PathBuf| inside.iter().any(|other| *other != part && part.starts_with(other));
            inside.iter().filter(|part| !is_covered(part)).map(|part| (*part).clone()).collect::<Vec<_>>()
        });
        let still_wrong = still_wrong(before, only.as_deref());
        let mut sighted = sight::<T>(self.paths, only.as_deref(), None);
        self.note_walk::<T>(&mut sighted, only.as_deref());
        let found = search(&self.context(), sighted, Known::of(before), only.as_deref(), still_wrong);
        let is_stored = found.is_stored && before.is_stored;
        found.stored(is_stored)
    }
}

/// Problems that remain in parts of the folder that are not walked again.
fn still_wrong<T>(before: &Collection<T>, only: Option<&[PathBuf]>) -> Vec<Diagnostic> {
    let is_elsewhere =
        |path: &PathBuf| only.is_some_and(|only| !only.iter().any(|part| path.starts_with(part)));
    before.diagnostics.iter().filter(|diagnostic| is_elsewhere(&diagnostic.path)).cloned().collect()
}

/// Instructions for the model: from the project, from each provider and from each function file.
fn instructions(
    paths: &Paths,
    providers: &Collection<Provider>,
    functions: &Collection<FunctionFile>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<String> {
    /// The longest instructions of a project, in bytes: more than any model can use.
    const LONGEST: u64 = 1024 * 1024;

    let own = believed_text(&paths.server.join("server.instructions.md"), &paths.root, LONGEST, diagnostics);
    let own = own.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let provided = providers.items().iter().filter_map(|provider| provider.instructions.as_deref());
    let by_functions = functions.items().iter().filter_map(|file| file.instructions.as_deref());
    let all: Vec<&str> = own.into_iter().chain(provided).chain(by_functions).collect();
    (!all.is_empty()).then(|| all.join("\n\n"))
}

fn listing_failure(
    providers: &Collection<Provider>,
    duplicates: &[Duplicate],
    reading: &Reading,
) -> Option<String> {
    let joined = |words: Vec<String>| words.join(" ");
    if reading.strict_providers && !providers.diagnostics.is_empty() {
        let failures = providers.diagnostics.iter().map(ToString::to_string).collect();
        return Some(format!("Tool listing failed: {}", joined(failures)));
    }
    let duplicates: Vec<String> = duplicates.iter().map(ToString::to_string).collect();
    (!duplicates.is_empty()).then(|| format!("Duplicate tool names: {}", joined(duplicates)))
}

/// The project's own registration, and its file: `register.json`, otherwise `register.sh` if that is allowed. A wrong file
/// is reported by name with its problem, and does not make us try the other. `diagnostics` receives the output of a hook
/// that is not a registration.
fn register(
    paths: &Paths,
    reading: &Reading,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<(&'static str, Registration), (&'static str, String)> {
    const JSON: &str = "register.json";
    const HOOK: &str = "register.sh";
    let limit = reading.registration_limit;
    let written = Registration::read(paths, limit).map_err(|error| (JSON, error.to_string()))?;
    if let Some(registration) = written {
        return Ok((JSON, registration));
    }
    let may_run = reading.hooks && !reading.static_registry;
    let Some(runner) = reading.run.as_deref().filter(|_| may_run) else {
        return Ok((HOOK, Registration::default()));
    };
    let hooked =
        hook::run(paths, limit, runner).map_err(|error| (HOOK, error.to_string()))?.unwrap_or_default();
    diagnostics.extend(hooked.problem.map(|problem| Diagnostic::new(paths.server.join(HOOK), problem)));
    Ok((HOOK, Registration::hooked(hooked.registered)))
}
