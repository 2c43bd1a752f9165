//! Scopes: what a token must have for a tool, and how a client learns which to get.

use super::issuer::{Issuer, Signer};
use super::tokens::{call, serve, text};
use crate::harness::http::{HttpServer, Response, initialize, post, stateless_with};
use crate::harness::{Project, wait_until};
use mcp_bash_transport::http::{Grant, TokenLine};
use serde_json::json;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

fn project() -> Project {
    Project::new()
        .file("tools/save/tool.meta.json", r#"{"name":"save","scopes":["files:read","files:write"]}"#)
        .script("tools/save/tool.sh", "#!/bin/sh\necho saved | tee -a \"$MCPBASH_PROJECT_ROOT/runs\"\n")
        .tool("look", "#!/bin/sh\necho looked\n")
}

fn challenge(response: &Response) -> &str {
    response.header("WWW-Authenticate").unwrap_or_default()
}

// Shows: auth-scopes, auth-step-up
#[test]
fn a_call_without_its_scopes_is_refused_before_it_runs_and_names_them() {
    let key = Signer::new("1");
    let (issuer, project) = (Issuer::start(&[&key]), project());
    let server = serve(&project, &issuer, &[]);
    let token = |scope: &str| key.token(&issuer.claims_with("scope", scope));
    let refused = call(&server, &token("files:read"), "save");
    assert_eq!(refused.status, 403);
    assert!(
        challenge(&refused).starts_with("Bearer realm=\"mcp-bash\", error=\"insufficient_scope\"")
            && challenge(&refused)
                .contains(", scope=\"files:read files:write\", resource_metadata=\"https://"),
        "{}",
        challenge(&refused)
    );
    let error = &refused.json()["error"];
    assert_eq!(error["data"], json!({ "requiredScopes": ["files:read", "files:write"] }));
    assert!(!project.path("runs").exists());
    // A client asks for exactly the scopes of the challenge, and would lose those that it has.
    let refused = call(&server, &token("mail files:read"), "save");
    assert!(
        challenge(&refused).contains(", scope=\"mail files:read files:write\""),
        "{}",
        challenge(&refused)
    );
    assert_eq!(text(&call(&server, &token("files:read"), "look")), "looked");
    assert_eq!(text(&call(&server, &token("files:write files:read"), "save")), "saved");
    let listed = key.token(&{
        let mut claims = issuer.claims();
        claims.as_object_mut().unwrap().remove("scope");
        claims["scp"] = json!(["files:write", "files:read"]);
        claims
    });
    assert_eq!(text(&call(&server, &listed, "save")), "saved");
}

#[test]
fn functions_name_their_scopes_as_an_option() {
    let python = "from mcp_bash import tool\n\n@tool(scopes=[\"files:write\"])\ndef py_save() -> str:\n    return \"saved\"\n";
    let node = "import { tool } from 'mcp-bash'\n\nexport const node_save = tool({ scopes: ['files:write'] }, () => 'saved')\n";
    let key = Signer::new("1");
    let issuer = Issuer::start(&[&key]);
    let project = Project::new().file("tools/of_python.py", python).file("tools/of_node.mjs", node);
    let server = serve(&project, &issuer, &[]);
    let token = |scope: &str| key.token(&issuer.claims_with("scope", scope));
    for tool in ["py_save", "node_save"] {
        assert_eq!(text(&call(&server, &token("files:write"), tool)), "saved");
        let refused = call(&server, &token("files:read"), tool);
        assert!(
            refused.status == 403 && challenge(&refused).contains("scope=\"files:read files:write\""),
            "{tool}"
        );
    }
}

// Shows: auth-each-request, auth-step-up
#[test]
fn in_a_session_the_scopes_are_those_of_each_request() {
    let key = Signer::new("1");
    let (issuer, project) = (Issuer::start(&[&key]), project());
    let server = serve(&project, &issuer, &[]);
    let bearer = |scope: &str| format!("Bearer {}", key.token(&issuer.claims_with("scope", scope)));
    let (few, all) = (bearer("files:read"), bearer("files:read files:write"));
    let begun =
        server.send(&post(&[("Authorization", &few)], &initialize("2025-11-25", &json!({})).to_string()));
    let session = begun.header("Mcp-Session-Id").unwrap().to_owned();
    let send = |bearer: &str, message: serde_json::Value| {
        let headers = [("Authorization", bearer), ("Mcp-Session-Id", &session)];
        server.send(&post(&headers, &message.to_string()))
    };
    send(&few, json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "save", "arguments": {} } });
    let refused = send(&few, call.clone());
    assert!(
        refused.status == 403 && challenge(&refused).contains("insufficient_scope"),
        "{}",
        refused.status
    );
    // The same caller comes back with a better token.
    assert_eq!(text(&send(&all, call.clone())), "saved");
    assert_eq!(send(&few, call).status, 403);
}

// Shows: auth-scopes, auth-scope-hierarchy
#[test]
fn a_wider_scope_includes_narrower_ones_and_the_server_may_need_some() {
    let key = Signer::new("1");
    let issuer = Issuer::start(&[&key]);
    let settings = [
        ("MCPBASH_HTTP_REQUIRED_SCOPES", "mcp"),
        ("MCPBASH_HTTP_SCOPE_HIERARCHY", "admin>files:write>files:read, admin>mcp"),
    ];
    let project = project();
    let server = serve(&project, &issuer, &settings);
    let token = |scope: &str| key.token(&issuer.claims_with("scope", scope));
    assert_eq!(text(&call(&server, &token("admin"), "save")), "saved");
    assert_eq!(text(&call(&server, &token("mcp files:write"), "save")), "saved");
    let refused = call(&server, &token("files:write"), "look");
    assert!(
        refused.status == 403 && challenge(&refused).contains(", scope=\"mcp\""),
        "{}",
        challenge(&refused)
    );
    let refused = call(&server, &token("mcp"), "save");
    assert!(
        challenge(&refused).contains(", scope=\"mcp files:read files:write\""),
        "{}",
        challenge(&refused)
    );
}

#[test]
fn scopes_are_not_asked_of_tokens_of_the_file() {
    let key = Signer::new("1");
    let (issuer, project, folder) = (Issuer::start(&[&key]), project(), tempfile::tempdir().unwrap());
    let (line, token) = TokenLine::generate("bob", Grant::default()).unwrap();
    let file = folder.path().join("tokens");
    fs::write(&file, line.to_string()).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let (url, file) = (issuer.url(), file.to_str().unwrap().to_owned());
    let arguments = ["--issuer", &url, "--resource", "https://mcp.example.com/mcp", "--tokens", &file];
    let server = HttpServer::start_with(project.root(), &arguments, &[]);
    assert_eq!(text(&call(&server, &token, "save")), "saved");
    assert_eq!(call(&server, &key.token(&issuer.claims()), "save").status, 403);
    let nothing = server.send(&stateless_with(&[], 1, "tools/list", &json!({})));
    assert_eq!(nothing.status, 401);
}

#[test]
fn a_tool_whose_scopes_cannot_be_read_is_not_offered() {
    let project = project()
        .file("tools/wrong/tool.meta.json", r#"{"name":"wrong","scopes":["files:read files:write"]}"#)
        .script("tools/wrong/tool.sh", "#!/bin/sh\necho ran\n");
    let server = HttpServer::start(project.root());
    let called = server.ask("tools/call", &json!({ "name": "wrong", "arguments": {} }));
    assert!(called["error"].is_object(), "{called}");
    wait_until("the log to say so", || server.log().contains("`scopes` must list scopes").then_some(()));
}
