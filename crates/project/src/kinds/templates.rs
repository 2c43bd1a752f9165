//! Resource templates: families of resources, by the form of their URIs.

use crate::declarations::about::About;
use crate::declarations::error::{EntryError, within};
use crate::declarations::metadata::{Metadata, Uris};
use crate::kinds::resource_files::{described, named_by, pick};
use crate::kinds::resource_provider::{self, OUR_PROVIDERS, provider_of};
use crate::kinds::resources::FUNCTION;
use crate::kinds::served_by::{ServedBy, path_of_functions};
use crate::walk::collection::Collection;
use crate::walk::entry::{Context, Entry, RegistryEntry, Unread, below, default_name};
use crate::walk::listing::Listing;
use crate::walk::sighting::{Candidate, Sighting};
use crate::{Diagnostic, Paths, Resource};
use mcp_bash_uri::Template;
use mcp_bash_wire::write;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

/// Resources that clients find by filling in the variables of a URI.
#[derive(Debug, Clone)]
pub struct ResourceTemplate {
    pub about: About,
    pub template: Template,
    /// The name of the provider that reads them; absent if none is known.
    pub provider: Option<String>,
    /// The function that reads them instead.
    pub function: Option<ServedBy>,
    /// The path of its metadata below `resources/`; empty if it is only registered, the whole path for a function.
    pub path: String,
    registry_entry: RegistryEntry,
}

impl ResourceTemplate {
    /// Makes a template from the definition of a function.
    pub(crate) fn of_function(
        definition: &str,
        served_by: &ServedBy,
        paths: &Paths,
        problems: &mut Vec<String>,
    ) -> Result<Self, EntryError> {
        let metadata = Metadata::from_json(definition)?;
        let folder = served_by.file.parent().unwrap_or(&paths.tools);
        let about = About::new(&metadata, || None, folder, paths, problems)?;
        Ok(Self {
            template: template(&metadata)?,
            provider: Some(FUNCTION.to_owned()),
            function: Some(served_by.for_function(about.sandbox.as_ref(), &about.secrets)),
            about,
            path: path_of_functions(&served_by.file),
            registry_entry: RegistryEntry::default(),
        })
    }

    fn new(
        metadata: &Metadata,
        about: About,
        path: String,
        paths: &Paths,
        problems: &mut Vec<String>,
    ) -> Result<Self, EntryError> {
        let template = template(metadata)?;
        let provider = provider_of(metadata.reader(), template.as_str());
        match &provider {
            None => {
                problems.push(
                    "names no scheme in `uriTemplate` and no `provider`; no provider can read it".into(),
                );
            }
            Some(name) => problems.extend(
                resource_provider::find(paths, name)
                    .err()
                    .map(|problem| format!("cannot be read: {problem}")),
            ),
        }
        Ok(Self { about, template, provider, function: None, path, registry_entry: RegistryEntry::default() })
    }
}

/// The template in metadata, which has at least one variable.
fn template(metadata: &Metadata) -> Result<Template, EntryError> {
    let Uris::Family(text) = metadata.uris()? else {
        return Err(EntryError::Missing("uriTemplate"));
    };
    let template = Template::parse(text).map_err(within("uriTemplate"))?;
    if template.variables().is_empty() {
        return Err(EntryError::NoVariable(text.to_owned()));
    }
    Ok(template)
}

impl Entry for ResourceTemplate {
    const KIND: &'static str = "resourceTemplates";

    const REGISTRY: &'static str = "resource-templates";

    type Written = Metadata;

    const REMEMBERS_OTHERS: bool = true;

    fn folder(paths: &Paths) -> &Path {
        &paths.resources
    }

    fn depends_on(paths: &Paths) -> Option<&Path> {
        Some(&paths.providers)
    }

    fn pick(listing: &Listing<'_>, _diagnostics: &mut Vec<Diagnostic>) -> Vec<Sighting> {
        // Only metadata can describe a family; the search for resources reports problems of files.
        let sightings = pick(listing, &mut Vec::new()).into_iter();
        let is_described = |sighting: &Sighting| {
            sighting.metadata.is_some() && sighting.stamps.file.require_regular().is_ok()
        };
        sightings.filter(is_described).collect()
    }

    fn read(
        candidate: Candidate,
        context: &Context<'_>,
        problems: &mut Vec<String>,
    ) -> Result<Option<Self>, Unread> {
        let Ok(metadata) = described(&candidate) else { return Ok(None) };
        let Ok(Uris::Family(_)) = metadata.uris() else { return Ok(None) };
        let paths = context.paths;
        let name = || Some(default_name(&named_by(&candidate), "resource"));
        let folder = candidate.file.parent().unwrap_or(&paths.resources);
        let about = About::new(&metadata, name, folder, paths, problems)?;
        let path = below(&candidate.file, &paths.resources);
        Ok(Some(Self::new(&metadata, about, path, paths, problems)?))
    }

    fn registered(text: &str, paths: &Paths, problems: &mut Vec<String>) -> Result<Self, EntryError> {
        let metadata = Metadata::from_json(text)?;
        let about = About::new(&metadata, || None, &paths.resources, paths, problems)?;
        Self::new(&metadata, about, String::new(), paths, problems)
    }

    fn remembered(metadata: Metadata, _paths: &Paths) -> Option<Self> {
        metadata.is_shallow().then_some(())?;
        Some(Self {
            about: About::written(&metadata).ok().filter(|about| !about.name.is_empty())?,
            template: Template::parse(metadata.uri_template.as_deref()?).ok()?,
            provider: metadata.reader().map(str::to_owned),
            function: None,
            path: metadata.path?,
            registry_entry: RegistryEntry::default(),
        })
    }

    fn name(&self) -> &str {
        &self.about.name
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn registry_entry(&self) -> &RegistryEntry {
        &self.registry_entry
    }

    fn has_parts_elsewhere(&self) -> bool {
        let is_ours = self.provider.as_deref().is_some_and(|name| OUR_PROVIDERS.contains(&name));
        self.about.has_embedded_icons() || !is_ours
    }

    fn write(&self) -> String {
        self.about.registry_text(vec![
            ("path", Some(write::string(&self.path))),
            ("uriTemplate", Some(write::string(self.template.as_str()))),
            ("provider", self.provider.as_deref().map(write::string)),
        ])
    }
}

/// Overrides found templates with registered ones, and leaves out those that share a name with a resource.
pub(crate) fn merge(
    found: &Arc<Collection<ResourceTemplate>>,
    registered: &[Arc<ResourceTemplate>],
    resources: &Collection<Resource>,
    paths: &Paths,
    diagnostics: &mut Vec<Diagnostic>,
) -> Arc<Collection<ResourceTemplate>> {
    let clashes = |template: &Arc<ResourceTemplate>| resources.get(&template.about.name).is_some();
    if registered.is_empty() && !found.items().iter().any(clashes) {
        return Arc::clone(found);
    }
    let mut by_name = BTreeMap::new();
    // Of several registered under one name, the first counts.
    for template in found.items().iter().chain(registered.iter().rev()) {
        by_name.insert(&*template.about.name, template);
    }
    let mut merged = Vec::new();
    for template in by_name.into_values() {
        if clashes(template) {
            let name = &template.about.name;
            let problem = format!("is skipped: a resource is called `{name}` too; rename the template");
            let place = match &*template.path {
                "" => paths.server.clone(),
                path => paths.resources.join(path),
            };
            diagnostics.push(Diagnostic::new(place, problem));
        } else {
            merged.push(Arc::clone(template));
        }
    }
    Arc::new(Collection::new(merged, HashMap::new(), &paths.resources, Vec::new()))
}
