//! Protected resource metadata (RFC 9728): what a client reads to find the issuer of tokens for this server.

use serde_json::{Value, json};

/// Asks for a token that outlives the user's presence: a matter between client and issuer, which a server does not name.
const OFFLINE: &str = "offline_access";

/// The document of the server at `resource`.
pub fn resource_metadata(resource: &str, issuers: &[&str], scopes: &[&str], name: Option<&str>) -> Value {
    let mut document = json!({
        "resource": resource,
        "authorization_servers": issuers,
        "bearer_methods_supported": ["header"],
    });
    let scopes: Vec<&str> = scopes.iter().copied().filter(|scope| *scope != OFFLINE).collect();
    if !scopes.is_empty() {
        document["scopes_supported"] = json!(scopes);
    }
    if let Some(name) = name {
        document["resource_name"] = json!(name);
    }
    document
}
