//! Protected resource metadata (RFC 9728): its document, its path, and the challenges that refer to it.

use super::error::IssuerError;
use crate::http::limits::identity_options::IssuerOptions;
use http::{HeaderValue, Uri};
use mcp_bash_fetch::OperatorUrl;
use mcp_bash_oauth::{Challenge, ChallengeError, resource_metadata};
use std::collections::HashSet;

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The document by which clients find the issuer.
#[derive(Debug)]
pub(in crate::http) struct ResourceMetadata {
    resource: String,
    /// The path of the resource, without a trailing slash.
    path: String,
    /// The public URL of the document.
    url: String,
    issuers: Vec<String>,
    required_scopes: Vec<Box<str>>,
}

impl ResourceMetadata {
    pub(in crate::http) fn new(options: &IssuerOptions) -> Result<Self, IssuerError> {
        let resource = options.resource.clone();
        let wrong = || IssuerError::Resource(resource.clone());
        OperatorUrl::parse(&resource).map_err(|_| wrong())?;
        let uri: Uri = resource.parse().map_err(|_| wrong())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(wrong());
        };
        if uri.query().is_some() || resource.contains('#') {
            return Err(wrong());
        }
        let path = uri.path().strip_suffix('/').unwrap_or(uri.path()).to_owned();
        let url = format!("{scheme}://{authority}{WELL_KNOWN}{path}");
        HeaderValue::from_str(&url).map_err(|_| wrong())?;
        let required_scopes = options.required_scopes.iter().map(|scope| scope.as_str().into()).collect();
        Ok(Self { path, url, issuers: options.issuers.clone(), required_scopes, resource })
    }

    /// Whether the document is served at that path: the well-known path, alone or followed by the path of the endpoint.
    pub(in crate::http) fn is_at(&self, path: &str) -> bool {
        let Some(rest) = path.strip_prefix(WELL_KNOWN) else { return false };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        rest.is_empty() || rest == "/mcp" || rest == self.path
    }

    /// The document of a server with that name, whose tools need these scopes.
    pub(in crate::http) fn document<'a>(
        &'a self,
        name: &str,
        scopes: impl Iterator<Item = &'a str>,
    ) -> String {
        let issuers: Vec<&str> = self.issuers.iter().map(String::as_str).collect();
        let mut all: Vec<&str> = self.required_scopes.iter().map(|scope| &**scope).chain(scopes).collect();
        let mut seen = HashSet::new();
        all.retain(|scope| seen.insert(*scope));
        resource_metadata(&self.resource, &issuers, &all, Some(name)).to_string()
    }

    /// The challenge for a request that needs these scopes besides those that every request needs.
    pub(in crate::http) fn challenge(
        &self,
        error: Option<ChallengeError>,
        description: Option<&str>,
        scopes: &[Box<str>],
    ) -> HeaderValue {
        let mut needed = self.required_scopes.clone();
        needed.extend(scopes.iter().filter(|scope| !self.required_scopes.contains(scope)).cloned());
        let challenge = Challenge { error, description, scopes: &needed, resource_metadata: Some(&self.url) };
        HeaderValue::from_str(&challenge.to_string()).unwrap_or(HeaderValue::from_static("Bearer"))
    }
}
