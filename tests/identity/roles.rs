//! Roles of callers that an issuer or an authority of certificates vouches for.

use super::certificates::Stage;
use super::issuer::{Issuer, RESOURCE, Signer};
use super::tokens::call;
use crate::harness::Project;
use crate::harness::http::{HttpServer, stateless_with};
use serde_json::json;
use std::fs;

const ROLES: &str = r#"
roles:
  of_group: {tools: [group], given: {groups: [ops]}}
  of_scope: {tools: [scope], given: {scopes: ["tools:deploy"]}}
  of_certificate: {tools: [certificate], given: {certificates: [alice]}}
  of_token: {tools: [token], given: {tokens: [alice]}}
  of_name: {tools: [name], given: {callers: ["http://127.0.0.1:* bob"]}}
"#;

const TOOLS: [&str; 5] = ["group", "scope", "certificate", "token", "name"];

fn project() -> Project {
    TOOLS.into_iter().fold(Project::new(), |project, tool| project.tool(tool, "#!/bin/sh\necho ran\n"))
}

#[test]
fn groups_scopes_and_names_of_an_issuer_give_roles() {
    let key = Signer::new("1");
    let issuer = Issuer::start(&[&key]);
    let url = issuer.url();
    let project = project().file("server.d/roles.yaml", ROLES);
    let settings =
        [("MCPBASH_HTTP_GROUPS_CLAIM", "groups"), ("MCPBASH_HTTP_SCOPE_HIERARCHY", "admin>tools:deploy")];
    let server =
        HttpServer::start_with(project.root(), &["--issuer", &url, "--resource", RESOURCE], &settings);
    for (sub, groups, scope, expected) in [
        ("alice", &["ops"][..], "", &["group"][..]),
        ("alice", &["dev", "ops"], "tools:deploy", &["group", "scope"]),
        ("alice", &[], "admin", &["scope"]),
        ("bob", &["dev"], "tools:deploy2", &["name"]),
        // Groups and scopes are whole words, and no name of another kind counts.
        ("alice", &["ops2", "tools:deploy"], "ops", &[]),
    ] {
        let mut claims = issuer.claims_with("sub", sub);
        (claims["groups"], claims["scope"]) = (json!(groups), json!(scope));
        let token = key.token(&claims);
        let bearer = format!("Bearer {token}");
        let list = stateless_with(&[("Authorization", &bearer)], 1, "tools/list", &json!({}));
        let answer = server.send(&list).json();
        let listed = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        let mut listed: Vec<&str> = listed.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        listed.sort_unstable();
        assert_eq!(listed, expected, "{claims}");
        for tool in TOOLS {
            let is_refused = call(&server, &token, tool).json()["error"].is_object();
            assert_eq!(is_refused, !expected.contains(&tool), "{tool}: {claims}");
        }
    }
}

#[test]
fn certificates_and_their_units_give_roles() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("roles.yaml");
    fs::write(&file, ROLES).unwrap();
    let stage = Stage::of(project(), &[("MCPBASH_HTTP_ROLES", file.to_str().unwrap())]);
    // The unit of all certificates is `ops`.
    for (name, serial, expected) in [("alice", 2, &["group", "certificate"][..]), ("bob", 3, &["group"])] {
        let shown = stage.authority.issue(name, serial, |_| {});
        for tool in TOOLS {
            let (status, text) = stage.call(tool, Some(&shown), &[]).unwrap();
            let is_right = if expected.contains(&tool) {
                status == 200 && text.contains("ran")
            } else {
                text.contains("is not allowed")
            };
            assert!(is_right, "{name} {tool}: {text}");
        }
    }
}
