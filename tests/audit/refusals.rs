//! Refusals over HTTP: whatever somebody tries that may not be done is in the log as refused, with its kind.

use super::{Audited, audit};
use crate::harness::Project;
use crate::harness::http::{HttpServer, initialize, post, stateless_with};
use mcp_bash_transport::http::{Grant, TokenLine};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

struct Scene {
    audited: Audited,
    server: HttpServer,
    bearers: [String; 2],
}

impl Scene {
    fn new() -> Self {
        let project = Project::with_hi()
            .script("tools/wipe/tool.sh", "#!/bin/sh\necho wiped\n")
            .file("tools/wipe/tool.meta.json", r#"{"name": "wipe", "description": "Wipes", "confirm": true}"#)
            .file("resources/open.meta.json", r#"{"uri": "mine://open", "provider": "mine"}"#)
            .file("resources/closed.meta.json", r#"{"uri": "mine://closed", "provider": "mine"}"#)
            .script("providers/mine.sh", "#!/bin/sh\nprintf text\n")
            .file(
                "server.d/roles.yaml",
                "roles:\n  some:\n    resources: [\"mine://open\"]\n    given: {tokens: [one, other]}\n",
            );
        let audited = Audited::new(project);
        let made = ["one", "other"].map(|name| TokenLine::generate(name, Grant::default()).unwrap());
        let lines: Vec<String> = made.iter().map(|(line, _)| line.to_string()).collect();
        let tokens = audited.folder.path().join("tokens");
        fs::write(&tokens, lines.join("\n")).unwrap();
        fs::set_permissions(&tokens, fs::Permissions::from_mode(0o600)).unwrap();
        let log = audited.log();
        let arguments = ["--tokens", tokens.to_str().unwrap(), "--audit", log.to_str().unwrap()];
        let server = HttpServer::start_with(audited.project.root(), &arguments, &[]);
        Self { audited, server, bearers: made.map(|(_, token)| format!("Bearer {token}")) }
    }

    fn ask(&self, caller: usize, method: &str, params: &Value) -> Value {
        let headers = [("Authorization", &*self.bearers[caller])];
        self.server.send(&stateless_with(&headers, 1, method, params)).json()
    }

    /// The kinds of all refusals, as the command shows them.
    fn refused(self) -> Vec<String> {
        let Self { audited, server, .. } = self;
        server.finish();
        let log = audited.log();
        let shown = audit(&["show", log.to_str().unwrap(), "--outcome", "refused", "--json"]);
        let records = shown.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.map(|record| record["error.type"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn hidden_resources_are_refusals() {
    let scene = Scene::new();
    for uri in ["mine://open", "mine://closed", "mine://missing"] {
        scene.ask(0, "resources/read", &json!({ "uri": uri }));
    }
    assert_eq!(scene.refused(), ["rights"], "one that does not exist is an error");
}

#[test]
fn completions_for_what_is_hidden_are_refusals() {
    let scene = Scene::new();
    for uri in ["mine://open", "mine://closed", "mine://missing"] {
        let of = json!({ "type": "ref/resource", "uri": uri });
        let argument = json!({ "name": "x", "value": "" });
        scene.ask(0, "completion/complete", &json!({ "ref": of, "argument": argument }));
    }
    assert_eq!(scene.refused(), ["rights"]);
}

#[test]
fn a_state_that_is_stolen_replayed_or_altered_is_told_from_a_typo() {
    let scene = Scene::new();
    let call = |caller: usize, arguments: Value, state: Option<&str>| {
        let meta = json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } });
        let mut params = json!({ "name": "wipe", "arguments": arguments, "_meta": meta });
        if let Some(state) = state {
            params["requestState"] = state.into();
            let answer = json!({ "action": "accept", "content": { "consent": "once" } });
            params["inputResponses"] = json!({ "consent": answer });
        }
        scene.ask(caller, "tools/call", &params)
    };
    let asked = call(0, json!({}), None);
    let state = asked["result"]["requestState"].as_str().unwrap();
    let stolen = call(1, json!({}), Some(state));
    assert_eq!(
        call(0, json!({ "all": true }), Some(state))["error"],
        stolen["error"],
        "the client is not told why"
    );
    call(0, json!({}), Some("typo"));
    assert!(call(0, json!({}), Some(state))["result"].is_object());
    call(0, json!({}), Some(state));
    let expected = ["state_of_another_caller", "state_of_another_call", "state_altered", "state_gone"];
    assert_eq!(scene.refused(), expected);
}

#[test]
fn the_session_of_another_caller_is_a_refusal() {
    let scene = Scene::new();
    let hello = initialize("2025-11-25", &json!({})).to_string();
    let begun = scene.server.send(&post(&[("Authorization", &scene.bearers[0])], &hello));
    let id = begun.header("mcp-session-id").unwrap().to_owned();
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    let status = |caller: usize| {
        let headers = [("Authorization", &*scene.bearers[caller]), ("Mcp-Session-Id", &id)];
        scene.server.send(&post(&headers, &ping)).status
    };
    assert_eq!((status(0), status(1)), (200, 404));
    assert_eq!(scene.refused(), ["session"]);
}
