//! Resources: what clients may read.

use crate::about::About;
use crate::entry::{Context, Entry, RegistryEntry, below, default_name, inside};
use crate::listing::Listing;
use crate::metadata::{Metadata, Uris};
use crate::resource_files::{content_of, described, mime_type_of, named_by, pick};
use crate::resource_provider::{self, OUR_PROVIDERS, provider_of};
use crate::sighting::{Candidate, Sighting};
use crate::{Diagnostic, Paths};
use mcp_bash_uri::FileUri;
use mcp_bash_wire::write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Something that can be read by its URI.
#[derive(Debug, Clone)]
pub struct Resource {
    pub about: About,
    pub uri: String,
    /// In bytes, where its author says so.
    pub size: Option<u64>,
    /// The name of whoever reads it.
    pub provider: String,
    /// Where its file or its metadata stands below `resources/`; empty for what is only registered.
    pub path: String,
    registry_entry: RegistryEntry,
}

impl Resource {
    fn new(
        metadata: &Metadata,
        about: About,
        uri: String,
        path: String,
        paths: &Paths,
    ) -> Result<Self, String> {
        if mcp_bash_uri::scheme(&uri).is_none() {
            return Err(format!("`uri` must begin with a scheme, as `file:` is one, and is `{uri}`"));
        }
        let provider = provider_of(metadata.reader(), &uri).unwrap_or_default();
        resource_provider::find(paths, &provider)?;
        let size = metadata.size;
        Ok(Self { about, uri, size, provider, path, registry_entry: RegistryEntry::default() })
    }
}

fn uri_of(file: &Path) -> String {
    FileUri::of_unix(file.as_os_str().as_bytes())
}

impl Entry for Resource {
    const KIND: &'static str = "resources";

    type Written = Metadata;

    const REMEMBERS_OTHERS: bool = true;

    fn folder(paths: &Paths) -> &Path {
        &paths.resources
    }

    fn depends_on(paths: &Paths) -> Option<&Path> {
        Some(&paths.providers)
    }

    fn pick(listing: &Listing<'_>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Sighting> {
        pick(listing, diagnostics)
    }

    fn read(
        candidate: Candidate,
        context: &Context<'_>,
        problems: &mut Vec<String>,
    ) -> Result<Option<Self>, String> {
        let paths = context.paths;
        let metadata = described(&candidate)?;
        let file = content_of(&candidate);
        let Uris::One(given) = metadata.uris()? else { return Ok(None) };
        let uri = given
            .map(str::to_owned)
            .or_else(|| file.map(uri_of))
            .ok_or("it has neither `uri` nor `uriTemplate`, and there is no file of that name beside it")?;
        let name = || Some(default_name(&named_by(&candidate), "resource"));
        let folder = candidate.file.parent().unwrap_or(&paths.resources);
        let mut about = About::new(&metadata, name, folder, paths, problems)?;
        if about.mime_type.is_none() && given.is_none() {
            about.mime_type = file.and_then(mime_type_of).map(str::to_owned);
        }
        let path = below(&candidate.file, &paths.resources);
        Self::new(&metadata, about, uri, path, paths).map(Some)
    }

    fn registered(text: &str, paths: &Paths, problems: &mut Vec<String>) -> Result<Self, String> {
        let metadata = Metadata::from_json(text)?;
        let about = About::new(&metadata, || None, &paths.resources, paths, problems)?;
        let path = metadata.path.clone().unwrap_or_default();
        let file = paths.resources.join(inside(&path)?);
        let own = || file.is_file().then(|| uri_of(&file));
        let Uris::One(given) = metadata.uris()? else {
            return Err("`uriTemplate` belongs into `resourceTemplates`".to_owned());
        };
        let given = given.map(str::to_owned);
        let uri = given.or_else(own).ok_or("`uri` is missing, and `path` names no file")?;
        Self::new(&metadata, about, uri, path, paths)
    }

    fn remembered(metadata: Metadata, _paths: &Paths) -> Option<Self> {
        metadata.is_shallow().then_some(())?;
        Some(Self {
            about: About::written(&metadata).ok().filter(|about| !about.name.is_empty())?,
            provider: metadata.reader()?.to_owned(),
            uri: metadata.uri?,
            size: metadata.size,
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
        self.about.has_embedded_icons() || !OUR_PROVIDERS.contains(&&*self.provider)
    }

    fn write(&self) -> String {
        self.about.registry_text(vec![
            ("path", Some(write::string(&self.path))),
            ("uri", Some(write::string(&self.uri))),
            ("provider", Some(write::string(&self.provider))),
            ("size", self.size.map(|size| size.to_string())),
        ])
    }
}
