//! URI lookup: finds the resource or template of a URI, or treats it as a plain URI.

use crate::callers::Rights;
use crate::offered::listing::Snapshot;
use mcp_bash_project::{OUR_PROVIDERS, ServedBy, provider_by_scheme};
use mcp_bash_sandbox::Declaration;
use mcp_bash_secrets::Needs;
use mcp_bash_uri::Values;

/// The provider that reads a URI, and its options.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) provider: String,
    /// The function that reads it instead, with the name of the resource or template.
    pub(crate) function: Option<(ServedBy, String)>,
    /// The `file:` URI that is read instead.
    file_uri: Option<String>,
    /// The MIME type from its author.
    pub(crate) mime_type: Option<String>,
    /// The declared sandbox of an executable that reads it, if there is one.
    pub(crate) sandbox: Option<Declaration>,
    /// The secrets that it needs.
    pub(crate) secrets: Needs,
    /// The variables of the matched template.
    pub(crate) variables: Values,
}

impl Found {
    /// The URI that the built-in providers read when `uri` is requested.
    pub(crate) fn read_as<'a>(&'a self, uri: &'a str) -> &'a str {
        self.file_uri.as_deref().unwrap_or(uri)
    }
}

/// Finds a URI in the catalog: among the resources, then among the templates in the order of their names. A URI that is in
/// neither can still be read by the built-in providers, which have limits of their own. The schemes of a project are read only
/// if the project declares them. A resource that `rights` do not allow is not found.
pub(crate) fn find(snapshot: &Snapshot, uri: &str, rights: Option<&Rights>) -> Option<Found> {
    if let Some(resource) = snapshot.resource(uri) {
        if rights.is_some_and(|rights| !rights.may_read(resource)) {
            return None;
        }
        let mime_type = resource.about.mime_type.clone();
        let (provider, file_uri) = (resource.provider.clone(), resource.file_uri(&snapshot.catalog.paths));
        let function = resource.function.clone().map(|function| (function, resource.about.name.clone()));
        let (sandbox, secrets) = (resource.about.sandbox.clone(), resource.about.secrets.clone());
        let variables = Values::new();
        return Some(Found { provider, function, file_uri, mime_type, sandbox, secrets, variables });
    }
    for template in snapshot.catalog.templates.items() {
        let Some(variables) = template.template.matches(uri) else { continue };
        if rights.is_some_and(|rights| !rights.may_read_template(template)) {
            return None;
        }
        let provider = template.provider.clone().or_else(|| provider_by_scheme(uri))?;
        let mime_type = template.about.mime_type.clone();
        let function = template.function.clone().map(|function| (function, template.about.name.clone()));
        let (sandbox, secrets) = (template.about.sandbox.clone(), template.about.secrets.clone());
        return Some(Found { provider, function, file_uri: None, mime_type, sandbox, secrets, variables });
    }
    if rights.is_some_and(|rights| !rights.may_read_others()) {
        return None;
    }
    let provider = provider_by_scheme(uri).filter(|name| OUR_PROVIDERS.contains(&&**name))?;
    let (function, file_uri, mime_type, sandbox) = (None, None, None, None);
    let (secrets, variables) = (Needs::default(), Values::new());
    Some(Found { provider, function, file_uri, mime_type, sandbox, secrets, variables })
}
