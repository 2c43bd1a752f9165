//! Issuer metadata (RFC 8414, and the discovery of `OpenID` Connect): where it is, and what it says.

use crate::error::MetadataError;
use serde_json::{Map, Value};

/// What an issuer says about itself, as far as a resource server needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerMetadata {
    pub key_set_url: Option<String>,
    pub introspection_url: Option<String>,
}

impl IssuerMetadata {
    /// Reads the document of that issuer. The name in it must be the same to the letter: otherwise one issuer could speak for
    /// another.
    pub fn parse(text: &[u8], issuer: &str) -> Result<Self, MetadataError> {
        let document: Map<String, Value> =
            serde_json::from_slice(text).map_err(|_| MetadataError::NotAnObject)?;
        let text = |name: &str| document.get(name).and_then(Value::as_str).map(str::to_owned);
        let named = text("issuer").ok_or(MetadataError::NoIssuer)?;
        if named != issuer {
            return Err(MetadataError::OtherIssuer(named));
        }
        Ok(Self { key_set_url: text("jwks_uri"), introspection_url: text("introspection_endpoint") })
    }
}

/// The places of an issuer's metadata, in the order in which they are tried.
pub fn metadata_urls(issuer: &str) -> Vec<String> {
    let issuer = issuer.strip_suffix('/').unwrap_or(issuer);
    let host_at = issuer.find("://").map_or(0, |at| at + 3);
    let path_at = issuer[host_at..].find('/').map_or(issuer.len(), |at| host_at + at);
    let (origin, path) = issuer.split_at(path_at);
    let mut urls = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        urls.push(format!("{issuer}/.well-known/openid-configuration"));
    }
    urls
}
