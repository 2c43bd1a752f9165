//! Opaque tokens: the issuer is asked about them, and its good answers are kept for a while.

use super::issuer::{Issuer, Mood, RESOURCE, Signer, now};
use super::tokens::{call, text};
use crate::harness::http::HttpServer;
use crate::harness::{Project, wait_until};
use serde_json::json;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

// Shows: auth-validated, auth-audience
#[test]
fn the_issuer_is_asked_about_opaque_tokens() {
    let issuer = Issuer::start(&[&Signer::new("1")]);
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, "s3cret/\n").unwrap();
    fs::set_permissions(&secret, Permissions::from_mode(0o600)).unwrap();
    let (url, asked) = (issuer.url(), format!("{}/introspect", issuer.url()));
    let settings = [
        ("MCPBASH_HTTP_INTROSPECTION_URL", asked.as_str()),
        ("MCPBASH_HTTP_INTROSPECTION_CLIENT", "mcp"),
        ("MCPBASH_HTTP_INTROSPECTION_SECRET", secret.to_str().unwrap()),
    ];
    let project = Project::new().tool("who", "#!/bin/sh\nprintf %s \"$MCP_CALLER\"\n");
    let server =
        HttpServer::start_with(project.root(), &["--issuer", &url, "--resource", RESOURCE], &settings);
    let mut claims = issuer.claims();
    claims["active"] = json!(true);
    issuer.set_opaque("good", claims.clone());
    for _ in 0..3 {
        assert_eq!(text(&call(&server, "good", "who")), format!("{url} alice"));
    }
    assert_eq!(issuer.requests("/introspect"), 1);
    claims["aud"] = json!("https://other.example");
    issuer.set_opaque("foreign", claims.clone());
    claims["aud"] = json!(RESOURCE);
    claims["exp"] = json!(now() - 100);
    issuer.set_opaque("expired", claims);
    for (token, why) in
        [("unknown", "not active"), ("foreign", "issued for another server"), ("expired", "has expired")]
    {
        let refused = call(&server, token, "who");
        let challenge = refused.header("WWW-Authenticate").unwrap_or_default();
        assert!(refused.status == 401 && challenge.contains(why), "{token}: {challenge}");
    }
    // An issuer that is gone is not one that says no.
    issuer.set_mood(Mood::Gone);
    assert_eq!(call(&server, "another", "who").status, 503);
    assert_eq!(text(&call(&server, "good", "who")), format!("{url} alice"));
    wait_until("the log to say so", || server.log().contains("tokens cannot be checked with").then_some(()));
    assert!(!server.log().contains("s3cret"));
}
