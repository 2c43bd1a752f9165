//! Opaque tokens: the issuer is asked about them, and its good answers are kept for a while.

use super::issuer::{Issuer, Mood, RESOURCE, Signer, now};
use super::tokens::{call, text};
use crate::harness::http::{HttpServer, stateless_with};
use crate::harness::{Project, wait_until};
use serde_json::json;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The file of the secret with which the server asks the issuer.
pub(super) fn secret_in(folder: &Path) -> String {
    let secret = folder.join("secret");
    fs::write(&secret, "s3cret/\n").unwrap();
    fs::set_permissions(&secret, Permissions::from_mode(0o600)).unwrap();
    secret.to_str().unwrap().to_owned()
}

// Shows: auth-validated, auth-audience
#[test]
fn the_issuer_is_asked_about_opaque_tokens() {
    let issuer = Issuer::start(&[&Signer::new("1")]);
    let folder = tempfile::tempdir().unwrap();
    let secret = secret_in(folder.path());
    let (url, asked) = (issuer.url(), format!("{}/introspect", issuer.url()));
    let settings = [
        ("MCPBASH_HTTP_INTROSPECTION_URL", asked.as_str()),
        ("MCPBASH_HTTP_INTROSPECTION_CLIENT", "mcp"),
        ("MCPBASH_HTTP_INTROSPECTION_SECRET", secret.as_str()),
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

#[test]
fn a_revoked_token_is_refused_when_the_answer_about_it_is_no_longer_kept() {
    let issuer = Issuer::start(&[&Signer::new("1")]);
    let folder = tempfile::tempdir().unwrap();
    let secret = secret_in(folder.path());
    let (url, asked) = (issuer.url(), format!("{}/introspect", issuer.url()));
    let settings = [
        ("MCPBASH_HTTP_INTROSPECTION_URL", asked.as_str()),
        ("MCPBASH_HTTP_INTROSPECTION_CLIENT", "mcp"),
        ("MCPBASH_HTTP_INTROSPECTION_SECRET", secret.as_str()),
    ];
    let project = Project::with_hi();
    let server =
        HttpServer::start_with(project.root(), &["--issuer", &url, "--resource", RESOURCE], &settings);
    // The answer is kept until then at most, and the clock of the issuer may be a minute late. So it is asked again while
    // the token could still be good.
    let mut claims = issuer.claims_with("exp", now() + 2);
    claims["active"] = json!(true);
    issuer.set_opaque("short", claims);
    let list =
        || server.send(&stateless_with(&[("Authorization", "Bearer short")], 1, "tools/list", &json!({})));
    assert_eq!(list().status, 200);
    issuer.set_opaque("short", json!({ "active": false }));
    let refused = wait_until("the refusal", || Some(list()).filter(|response| response.status != 200));
    let challenge = refused.header("WWW-Authenticate").unwrap_or_default();
    assert!(refused.status == 401 && challenge.contains("not active"), "{challenge}");
    assert_eq!(issuer.requests("/introspect"), 2, "once before it was revoked, and once after");
}
