//! Documents and headers: metadata, challenges, scopes.

use crate::{
    Challenge, ChallengeError, Hierarchy, IssuerMetadata, MetadataError, ScopeError, is_scope, metadata_urls,
    read_scopes, resource_metadata,
};
use serde_json::json;

fn boxed(names: &[&str]) -> Vec<Box<str>> {
    names.iter().map(|name| (*name).into()).collect()
}

#[test]
fn a_challenge_cannot_be_broken_out_of() {
    let bare = Challenge { error: None, description: None, scopes: &[], resource_metadata: None };
    assert_eq!(bare.to_string(), r#"Bearer realm="mcp-bash""#);
    let scopes = boxed(&["files:read", "files:write"]);
    let whole = Challenge {
        error: Some(ChallengeError::InsufficientScope),
        description: Some("no \"quotes\"\r\nSet-Cookie: \\ \u{e4}"),
        scopes: &scopes,
        resource_metadata: Some("https://h/.well-known/oauth-protected-resource/mcp"),
    };
    assert_eq!(
        whole.to_string(),
        "Bearer realm=\"mcp-bash\", error=\"insufficient_scope\", error_description=\"no quotesSet-Cookie:  \", \
         scope=\"files:read files:write\", resource_metadata=\"https://h/.well-known/oauth-protected-resource/mcp\""
    );
}

#[test]
fn scopes_are_read_from_both_claims() {
    let read = |claims: serde_json::Value| read_scopes(claims.as_object().unwrap());
    assert_eq!(read(json!({ "scope": "a b  a" })), boxed(&["a", "b"]));
    assert_eq!(read(json!({ "scp": ["a", "b c", 1, "d"] })), boxed(&["a", "d"]));
    assert_eq!(read(json!({ "scp": "a b", "scope": "c" })), boxed(&["c", "a", "b"]));
    assert_eq!(read(json!({ "scope": 1 })), boxed(&[]));
    let many: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
    assert_eq!(read(json!({ "scp": many })).len(), 256);
    assert!(is_scope("files:read") && is_scope("https://graph.example/.default"));
    for text in ["", "a b", "a\"", "a\\b", "\u{e4}", "a\n"] {
        assert!(!is_scope(text), "{text:?}");
    }
}

#[test]
fn a_wider_scope_includes_the_narrower_ones() {
    let hierarchy = Hierarchy::parse(["admin>write>read", "write>list", "a>b", "b>a"]).unwrap();
    assert_eq!(hierarchy.expand(boxed(&["admin"])), boxed(&["admin", "write", "read", "list"]));
    assert_eq!(hierarchy.expand(boxed(&["read"])), boxed(&["read"]));
    assert_eq!(hierarchy.expand(boxed(&["a"])), boxed(&["a", "b"]));
    assert_eq!(Hierarchy::parse(["admin"]), Err(ScopeError::NoChain("admin".to_owned())));
    for chain in ["a>", ">a", "a>>b", "a>b\u{1b}"] {
        assert!(matches!(Hierarchy::parse([chain]), Err(ScopeError::NotAScope(_))), "{chain:?}");
    }
}

#[test]
fn metadata_of_an_issuer_is_looked_for_in_the_standard_places() {
    assert_eq!(
        metadata_urls("https://as.example/"),
        [
            "https://as.example/.well-known/oauth-authorization-server",
            "https://as.example/.well-known/openid-configuration"
        ]
    );
    assert_eq!(
        metadata_urls("https://as.example:8443/realms/acme"),
        [
            "https://as.example:8443/.well-known/oauth-authorization-server/realms/acme",
            "https://as.example:8443/.well-known/openid-configuration/realms/acme",
            "https://as.example:8443/realms/acme/.well-known/openid-configuration"
        ]
    );
}

#[test]
fn metadata_must_be_that_of_the_issuer() {
    let text = json!({ "issuer": "https://as.example", "jwks_uri": "https://as.example/keys" }).to_string();
    let parse = |issuer: &str| IssuerMetadata::parse(text.as_bytes(), issuer);
    assert_eq!(parse("https://as.example").unwrap().key_set_url.as_deref(), Some("https://as.example/keys"));
    for other in ["https://as.example/", "https://AS.example", "https://evil.example"] {
        assert!(matches!(parse(other), Err(MetadataError::OtherIssuer(_))), "{other}");
    }
    assert_eq!(IssuerMetadata::parse(b"{}", "x"), Err(MetadataError::NoIssuer));
    assert_eq!(IssuerMetadata::parse(b"<html>", "x"), Err(MetadataError::NotAnObject));
}

#[test]
fn metadata_of_the_server_names_issuers_and_scopes() {
    let document =
        resource_metadata("https://h/mcp", &["https://as"], &["files:read", "offline_access"], Some("notes"));
    assert_eq!(
        document,
        json!({
            "resource": "https://h/mcp", "authorization_servers": ["https://as"],
            "bearer_methods_supported": ["header"], "scopes_supported": ["files:read"], "resource_name": "notes",
        })
    );
    assert!(resource_metadata("r", &["i"], &[], None).get("scopes_supported").is_none());
}
