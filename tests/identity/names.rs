//! Names of callers: two sources never have the same caller.

use super::issuer::{Issuer, RESOURCE, Signer};
use super::tokens::{call, text};
use crate::harness::Project;
use crate::harness::http::{HttpServer, initialize, post};
use mcp_bash_transport::http::{Grant, TokenLine};
use serde_json::json;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

// Shows: auth-validated, auth-sessions
#[test]
fn alice_of_one_issuer_is_not_alice_of_another_or_of_the_file() {
    let (one, other) = (Signer::new("1"), Signer::new("1"));
    let (issuer, elsewhere) = (Issuer::start(&[&one]), Issuer::start(&[&other]));
    let folder = tempfile::tempdir().unwrap();
    let (line, token) = TokenLine::generate("alice", Grant::default()).unwrap();
    let file = folder.path().join("tokens");
    fs::write(&file, line.to_string()).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let (first, second, file) = (issuer.url(), elsewhere.url(), file.to_str().unwrap().to_owned());
    let arguments = ["--issuer", &first, "--issuer", &second, "--resource", RESOURCE, "--tokens", &file];
    let project = Project::new().tool("who", "#!/bin/sh\nprintf %s \"$MCP_CALLER\"\n");
    let server = HttpServer::start_with(project.root(), &arguments, &[]);
    let tokens = [token, one.token(&issuer.claims()), other.token(&elsewhere.claims())];
    let names = tokens.each_ref().map(|token| text(&call(&server, token, "who")));
    assert_eq!(names, ["alice".to_owned(), format!("{first} alice"), format!("{second} alice")]);
    // An issuer cannot speak for another, whatever its keys are called.
    assert_eq!(call(&server, &other.token(&issuer.claims()), "who").status, 401);

    // The session of one is unknown to the others.
    let begin = |token: &str| {
        let bearer = format!("Bearer {token}");
        let begun = server
            .send(&post(&[("Authorization", &bearer)], &initialize("2025-11-25", &json!({})).to_string()));
        begun.header("Mcp-Session-Id").unwrap().to_owned()
    };
    let session = begin(&tokens[1]);
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }).to_string();
    let statuses = tokens.each_ref().map(|token| {
        let bearer = format!("Bearer {token}");
        server.send(&post(&[("Authorization", &bearer), ("Mcp-Session-Id", &session)], &ping)).status
    });
    assert_eq!(statuses, [404, 200, 404]);
}
