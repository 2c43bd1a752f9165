//! Resources: what clients may read.

use crate::declarations::about::About;
use crate::declarations::error::EntryError;
use crate::declarations::metadata::{Metadata, Uris};
use crate::declarations::values::relative;
use crate::kinds::prompt_files::is_metadata;
use crate::kinds::resource_files::{content_of, described, mime_type_of, named_by, pick};
use crate::kinds::resource_provider::{self, OUR_PROVIDERS, provider_of};
use crate::kinds::served_by::{ServedBy, path_of_functions};
use crate::walk::entry::{Context, Entry, RegistryEntry, Unread, below, default_name};
use crate::walk::listing::Listing;
use crate::walk::sighting::{Candidate, Sighting};
use crate::{Diagnostic, Paths};
use mcp_bash_files::look;
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
    /// The name of the provider that reads it.
    pub provider: String,
    /// The function that reads it instead.
    pub function: Option<ServedBy>,
    /// The path of its file or its metadata below `resources/`; empty if it is only registered, the whole path for a
    /// function.
    pub path: String,
    registry_entry: RegistryEntry,
}

impl Resource {
    /// The `file:` URI of its file, if its own URI has a scheme without a provider.
    pub fn file_uri(&self, paths: &Paths) -> Option<String> {
        let is_of_a_file =
            mcp_bash_uri::scheme(&self.uri).is_some_and(|scheme| scheme.eq_ignore_ascii_case(FILE));
        if self.provider != FILE || is_of_a_file {
            return None;
        }
        let file =
            Some(Path::new(&self.path)).filter(|path| !path.as_os_str().is_empty() && !is_metadata(path));
        file.map(|path| uri_of(&paths.resources.join(path)))
    }

    /// Makes a resource from the definition of a function.
    pub(crate) fn of_function(
        definition: &str,
        served_by: &ServedBy,
        paths: &Paths,
        problems: &mut Vec<String>,
    ) -> Result<Self, EntryError> {
        let metadata = Metadata::from_json(definition)?;
        let folder = served_by.file.parent().unwrap_or(&paths.tools);
        let about = About::new(&metadata, || None, folder, paths, problems)?;
        let Uris::One(Some(uri)) = metadata.uris()? else { return Err(EntryError::Missing("uri")) };
        require_scheme(uri)?;
        Ok(Self {
            uri: uri.to_owned(),
            size: metadata.size,
            provider: FUNCTION.to_owned(),
            function: Some(served_by.for_function(about.sandbox.as_ref(), &about.secrets)),
            about,
            path: path_of_functions(&served_by.file),
            registry_entry: RegistryEntry::default(),
        })
    }

    /// Makes a resource from its description, and from its file if it has one.
    fn new(
        metadata: &Metadata,
        about: About,
        uri: String,
        path: String,
        has_file: bool,
        paths: &Paths,
    ) -> Result<Self, EntryError> {
        require_scheme(&uri)?;
        let mut provider = provider_of(metadata.reader(), &uri).unwrap_or_default();
        if let Err(error) = resource_provider::find(paths, &provider) {
            // If no provider is named and none knows the scheme, the file itself is meant.
            if !has_file || metadata.reader().is_some() {
                return Err(error);
            }
            FILE.clone_into(&mut provider);
        }
        let size = metadata.size;
        let registry_entry = RegistryEntry::default();
        Ok(Self { about, uri, size, provider, function: None, path, registry_entry })
    }
}

/// The provider that reads files.
const FILE: &str = "file";

/// The provider of a resource that a function returns.
pub(crate) const FUNCTION: &str = "function";

fn require_scheme(uri: &str) -> Result<(), EntryError> {
    mcp_bash_uri::scheme(uri).map(drop).ok_or_else(|| EntryError::NoScheme(uri.to_owned()))
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
    ) -> Result<Option<Self>, Unread> {
        let paths = context.paths;
        let metadata = described(&candidate)?;
        let file = content_of(&candidate);
        let Uris::One(given) = metadata.uris()? else { return Ok(None) };
        let Some(uri) = given.map(str::to_owned).or_else(|| file.map(uri_of)) else {
            return Unread::because(
                "it has neither `uri` nor `uriTemplate`, and there is no file of that name beside it",
            );
        };
        let name = || Some(default_name(&named_by(&candidate), "resource"));
        let folder = candidate.file.parent().unwrap_or(&paths.resources);
        let about = About::new(&metadata, name, folder, paths, problems)?;
        let path = below(&candidate.file, &paths.resources);
        let mut resource = Self::new(&metadata, about, uri, path, file.is_some(), paths)?;
        if resource.about.mime_type.is_none() && (given.is_none() || resource.file_uri(paths).is_some()) {
            resource.about.mime_type = file.and_then(mime_type_of).map(str::to_owned);
        }
        Ok(Some(resource))
    }

    fn registered(text: &str, paths: &Paths, problems: &mut Vec<String>) -> Result<Self, EntryError> {
        let metadata = Metadata::from_json(text)?;
        let about = About::new(&metadata, || None, &paths.resources, paths, problems)?;
        let path = metadata.path.clone().unwrap_or_default();
        let file = paths.resources.join(relative(Some(&path), "resources folder")?);
        let own = || look::is_file(&file).then(|| uri_of(&file));
        let Uris::One(given) = metadata.uris()? else {
            return Err("`uriTemplate` belongs into `resourceTemplates`".into());
        };
        let given = given.map(str::to_owned);
        let uri = given.or_else(own).ok_or("`uri` is missing, and `path` names no file")?;
        Self::new(&metadata, about, uri, path, look::is_file(&file), paths)
    }

    fn remembered(metadata: Metadata, _paths: &Paths) -> Option<Self> {
        metadata.is_shallow().then_some(())?;
        Some(Self {
            about: About::written(&metadata).ok().filter(|about| !about.name.is_empty())?,
            provider: metadata.reader()?.to_owned(),
            uri: metadata.uri?,
            size: metadata.size,
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
        // A provider for its scheme may be added later.
        let could_be_read_by_others = self.provider == FILE && !self.uri.starts_with("file:");
        let is_ours = OUR_PROVIDERS.contains(&&*self.provider);
        self.about.has_embedded_icons() || !is_ours || could_be_read_by_others
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
