//! URI lookup: what a URI is to this project, a resource, one of a family, or only a URI.

use crate::offered::listing::Snapshot;
use mcp_bash_project::{OUR_PROVIDERS, ServedBy, provider_by_scheme};
use mcp_bash_uri::Values;

/// Who reads a URI, and what is known about it.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) provider: String,
    /// The function that reads it in their place, with the name of the resource or of the template.
    pub(crate) function: Option<(ServedBy, String)>,
    /// The `file:` URI that is read in its place.
    file_uri: Option<String>,
    /// The type that its author gives it.
    pub(crate) mime_type: Option<String>,
    /// The variables of the template that found it.
    pub(crate) variables: Values,
}

impl Found {
    /// The URI that our own providers read when `uri` is asked for.
    pub(crate) fn read_as<'a>(&'a self, uri: &'a str) -> &'a str {
        self.file_uri.as_deref().unwrap_or(uri)
    }
}

/// Finds a URI in the catalog: among the resources, then among the templates in the order of their names. What is in
/// neither can still be read by the providers that everybody knows, which have limits of their own; the schemes of a
/// project are read only where the project says so.
pub(crate) fn find(snapshot: &Snapshot, uri: &str) -> Option<Found> {
    if let Some(resource) = snapshot.resource(uri) {
        let mime_type = resource.about.mime_type.clone();
        let (provider, file_uri) = (resource.provider.clone(), resource.file_uri(&snapshot.catalog.paths));
        let function = resource.function.clone().map(|function| (function, resource.about.name.clone()));
        return Some(Found { provider, function, file_uri, mime_type, variables: Values::new() });
    }
    for template in snapshot.catalog.templates.items() {
        let Some(variables) = template.template.matches(uri) else { continue };
        let provider = template.provider.clone().or_else(|| provider_by_scheme(uri))?;
        let mime_type = template.about.mime_type.clone();
        let function = template.function.clone().map(|function| (function, template.about.name.clone()));
        return Some(Found { provider, function, file_uri: None, mime_type, variables });
    }
    let provider = provider_by_scheme(uri).filter(|name| OUR_PROVIDERS.contains(&&**name))?;
    Some(Found { provider, function: None, file_uri: None, mime_type: None, variables: Values::new() })
}
