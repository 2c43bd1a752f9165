//! Consent over HTTP: it belongs to the caller that was asked, even if another caller learns of it.

use crate::harness::http::{HttpServer, initialize, post, stateless_with};
use crate::harness::{Project, wait_until};
use mcp_bash_transport::http::{Grant, TokenLine};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_consent_is_of_no_use_to_another_caller() {
    let project = Project::new()
        .script("tools/wipe/tool.sh", "#!/bin/sh\necho run >>runs\necho wiped\n")
        .file("tools/wipe/tool.meta.json", r#"{"name": "wipe", "description": "Wipes", "confirm": true}"#);
    let outside = tempfile::tempdir().expect("a folder");
    let made = ["one", "other"].map(|name| TokenLine::generate(name, Grant::default()).expect("a token"));
    let lines = made.iter().map(|(line, _)| line.to_string()).collect::<Vec<_>>().join("\n");
    let tokens = made.map(|(_, token)| format!("Bearer {token}"));
    let file = outside.path().join("tokens");
    fs::write(&file, lines).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("permissions");
    let server = HttpServer::start_with(project.root(), &["--tokens", file.to_str().expect("a path")], &[]);
    let call = |caller: usize, arguments: &Value, asked: Option<&Value>, choice: &str| -> Value {
        let meta = json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } });
        let mut params = json!({ "name": "wipe", "arguments": arguments, "_meta": meta });
        if let Some(asked) = asked {
            params["requestState"] = asked["result"]["requestState"].clone();
            let answer = json!({ "action": "accept", "content": { "consent": choice } });
            params["inputResponses"] = json!({ "consent": answer });
        }
        server.send(&stateless_with(&[("Authorization", &tokens[caller])], 1, "tools/call", &params)).json()
    };
    let runs = || fs::read_to_string(project.path("runs")).unwrap_or_default().lines().count();
    let is_asked = |answer: &Value| answer["result"]["resultType"] == "input_required";
    let (none, some) = (json!({}), json!({ "all": true }));

    let asked = call(0, &none, None, "");
    assert!(is_asked(&asked), "{asked}");
    let stolen = call(1, &none, Some(&asked), "session");
    let altered = call(0, &some, Some(&asked), "session");
    assert_eq!(stolen["error"]["code"], -32602, "{stolen}");
    assert_eq!(stolen["error"], altered["error"], "refused in the same words");
    assert_eq!(runs(), 0);
    let done = call(0, &none, Some(&asked), "session");
    assert_eq!(done["result"]["content"][0]["text"].as_str().map(str::trim_end), Some("wiped"), "{done}");
    assert_eq!(call(0, &none, Some(&asked), "session")["error"], stolen["error"], "replayed");
    // Remembered for this caller and this call alone.
    assert!(!is_asked(&call(0, &none, None, "")));
    assert!(is_asked(&call(0, &some, None, "")) && is_asked(&call(1, &none, None, "")));
    assert_eq!(runs(), 2);
    server.finish();
}

#[test]
fn rights_that_are_lost_while_the_user_is_asked_count() {
    const ROLES: &str = "roles: {all: {given: {tokens: [one]}}, none: {tools: [], given: {tokens: [two]}}}\n";
    let project = Project::new()
        .script("tools/wipe/tool.sh", "#!/bin/sh\necho run >>runs\necho wiped\n")
        .file("tools/wipe/tool.meta.json", r#"{"name": "wipe", "description": "Wipes", "confirm": true}"#)
        .file("server.d/roles.yaml", ROLES);
    let outside = tempfile::tempdir().expect("a folder");
    let (file, roles) = (outside.path().join("tokens"), project.path("server.d/roles.yaml"));
    let (line, token) = TokenLine::generate("one", Grant::default()).expect("a token");
    fs::write(&file, line.to_string()).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("permissions");
    let server = HttpServer::start_with(project.root(), &["--tokens", file.to_str().expect("a path")], &[]);
    let bearer = format!("Bearer {token}");
    let hello = initialize("2025-11-25", &json!({ "elicitation": {} })).to_string();
    let greeted = server.send(&post(&[("Authorization", &bearer)], &hello));
    let session = greeted.header("mcp-session-id").expect("a session").to_owned();
    let headers = [("Authorization", &*bearer), ("Mcp-Session-Id", &*session)];
    let send = |message: Value| {
        let mut http = server.connect();
        http.send(&post(&headers, &message.to_string()));
        http
    };
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(send(ready).response().status, 202);
    let is_listed = || {
        let asked = stateless_with(&headers[..1], 1, "tools/list", &json!({}));
        server.send(&asked).json()["result"]["tools"].as_array().is_some_and(|tools| !tools.is_empty())
    };
    let no_roles = ROLES.replace("tokens: [one]", "tokens: []");
    for (id, changed) in [(2, ROLES), (3, &no_roles)] {
        let params = json!({ "name": "wipe", "arguments": {} });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        let mut messages = send(call).incoming();
        let asked = messages.next().expect("a question");
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        fs::write(&roles, changed).expect("a file");
        let may_call = changed == ROLES;
        wait_until("the change to count", || (is_listed() == may_call).then_some(()));
        let consent = json!({ "action": "accept", "content": { "consent": "once" } });
        let reply = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": consent });
        assert_eq!(send(reply).response().status, 202);
        let answer = messages.next().expect("an answer");
        if may_call {
            assert_eq!(answer["result"]["content"][0]["text"].as_str().map(str::trim_end), Some("wiped"));
        } else {
            let words = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
            assert!(words.contains("is not allowed"), "{words}");
        }
    }
    let runs = fs::read_to_string(project.path("runs")).expect("a run");
    assert_eq!(runs.lines().count(), 1, "only with its rights");
    server.finish();
}
