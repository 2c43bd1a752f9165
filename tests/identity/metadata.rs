//! Protected resource metadata: how a client without a token finds the issuer.

use super::issuer::{Issuer, RESOURCE, Signer};
use super::tokens::serve;
use crate::harness::Project;
use crate::harness::http::{HttpServer, request, stateless};
use serde_json::json;

// Shows: auth-metadata, auth-challenge, auth-no-offline-access
#[test]
fn a_client_without_a_token_is_led_to_the_issuer() {
    let issuer = Issuer::start(&[&Signer::new("1")]);
    let project = Project::new()
        .file("tools/w/tool.meta.json", r#"{"name":"w","scopes":["files:write","offline_access"]}"#)
        .script("tools/w/tool.sh", "#!/bin/sh\necho written\n");
    let server = serve(&project, &issuer, &[("MCPBASH_HTTP_REQUIRED_SCOPES", "mcp")]);
    let refused = server.send(&stateless(1, "tools/list", &json!({})));
    assert_eq!(refused.status, 401);
    assert_eq!(
        refused.header("WWW-Authenticate").unwrap(),
        "Bearer realm=\"mcp-bash\", scope=\"mcp\", \
         resource_metadata=\"https://mcp.example.com/.well-known/oauth-protected-resource/mcp\""
    );
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        // From every page, and under every name: a proxy may ask for it.
        let origin = [("Origin", "https://inspector.example")];
        let found = server.send(&request("GET", path, &origin, b""));
        assert_eq!((found.status, found.header("Access-Control-Allow-Origin")), (200, Some("*")));
        let document = found.json();
        assert_eq!(document["resource"], RESOURCE);
        assert_eq!(document["authorization_servers"], json!([issuer.url()]));
        assert_eq!(document["scopes_supported"], json!(["mcp", "files:write"]));
        assert_eq!(document["bearer_methods_supported"], json!(["header"]));
        let asked = [("Access-Control-Request-Headers", "mcp-protocol-version")];
        let asked = server.send(&request("OPTIONS", path, &[&origin[..], &asked].concat(), b""));
        assert_eq!(asked.status, 204);
        assert!(asked.header("Access-Control-Allow-Headers").unwrap().contains("MCP-Protocol-Version"));
        assert_eq!(server.send(&request("POST", path, &[], b"{}")).status, 405);
    }
    // The public name of the server is one of its own.
    let public = request("GET", "/mcp", &[("Host", "mcp.example.com")], b"");
    assert_eq!(server.send(&public).status, 401);
    assert_eq!(server.send(&request("GET", "/mcp", &[("Host", "evil.example")], b"")).status, 421);
}

#[test]
fn without_an_issuer_there_is_no_such_document() {
    let server = HttpServer::start(Project::with_hi().root());
    assert_eq!(server.send(&request("GET", "/.well-known/oauth-protected-resource", &[], b"")).status, 404);
}
