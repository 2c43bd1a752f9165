//! Calls that wait for an answer, over HTTP: requests on separate connections, several callers, several
//! servers.

use crate::harness::http::{HttpServer, stateless_with};
use crate::harness::{Project, exists, wait_until_gone};
use mcp_bash_transport::http::{Grant, TokenLine};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

const ASKS: &str = r#"#!/usr/bin/env bash
. "${MCP_SDK:?}/tool-sdk.sh"
echo $$ >>started
name=$(MCP_ASK_NAME=who mcp_elicit_string "Who?" name | jq -r .content.name)
echo "$name by $$"
"#;

/// A project with a tool that asks, and files with tokens and keys.
struct Scene {
    project: Project,
    outside: tempfile::TempDir,
    /// The tokens of two callers.
    tokens: [String; 2],
}

impl Scene {
    fn new() -> Self {
        let project = Project::with_hi().tool("asks", ASKS);
        project.write("tools/asks/tool.meta.json", r#"{"name":"asks","description":"Asks","replay":true}"#);
        let outside = tempfile::tempdir().expect("a folder");
        let made = ["one", "other"].map(|name| TokenLine::generate(name, Grant::default()).expect("a token"));
        let lines = made.iter().map(|(line, _)| line.to_string()).collect::<Vec<_>>().join("\n");
        let tokens = made.map(|(_, token)| format!("Bearer {token}"));
        let scene = Self { project, outside, tokens };
        scene.write("tokens", &lines);
        scene.write("keys", "k:b2xkIG9sZCBvbGQgb2xkIG9sZCBvbGQgb2xkIG9sZCA=\n");
        scene
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file");
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o600)).expect("permissions");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.outside.path().join(name)
    }

    fn start(&self, more: &[(&str, &str)]) -> HttpServer {
        let (tokens, keys) = (self.path("tokens"), self.path("keys"));
        let settings = [("MCPBASH_STATE_KEYS_FILE", keys.to_str().expect("a path"))];
        let arguments = ["--tokens", tokens.to_str().expect("a path")];
        HttpServer::start_with(self.project.root(), &arguments, &[&settings, more].concat())
    }

    /// A call by one of the callers, with an answer if there is a state.
    fn message(&self, caller: usize, tool: &str, state: Option<&Value>) -> Vec<u8> {
        let meta = json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } });
        let mut params = json!({ "name": tool, "arguments": {}, "_meta": meta });
        if let Some(state) = state {
            params["requestState"] = state.clone();
            let answer = json!({ "action": "accept", "content": { "name": "Zoë" } });
            params["inputResponses"] = json!({ "who": answer });
        }
        stateless_with(&[("Authorization", &self.tokens[caller])], 1, "tools/call", &params)
    }

    fn call(&self, server: &HttpServer, caller: usize, tool: &str, state: Option<&Value>) -> Value {
        server.send(&self.message(caller, tool, state)).json()
    }

    fn asked(&self, server: &HttpServer, caller: usize) -> Value {
        let answer = self.call(server, caller, "asks", None);
        assert_eq!(answer["result"]["inputRequests"]["who"]["method"], "elicitation/create", "{answer}");
        answer["result"]["requestState"].clone()
    }
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

// Shows: input-required
#[test]
fn the_same_process_continues_with_the_answer_of_another_post() {
    let scene = Scene::new();
    let server = scene.start(&[]);
    let state = scene.asked(&server, 0);
    let pid = scene.project.wait_for_started(1)[0];
    assert_eq!(text(&scene.call(&server, 0, "asks", Some(&state))).trim_end(), format!("Zoë by {pid}"));
    server.finish();
}

// Shows: state-hostile
#[test]
fn no_other_caller_can_continue_it() {
    let scene = Scene::new();
    let server = scene.start(&[]);
    let state = scene.asked(&server, 0);
    let forged = json!(format!("{}x", state.as_str().expect("a state")));
    let refusals = [
        scene.call(&server, 1, "asks", Some(&state)),
        scene.call(&server, 0, "hi", Some(&state)),
        scene.call(&server, 0, "asks", Some(&forged)),
    ];
    for refused in &refusals {
        assert_eq!(refused["error"], refusals[0]["error"], "{refused}");
        assert_eq!(refused["error"]["code"], -32602);
    }
    let done = scene.call(&server, 0, "asks", Some(&state));
    assert!(text(&done).starts_with("Zoë by "), "{done}");
    assert_eq!(scene.call(&server, 0, "asks", Some(&state))["error"], refusals[0]["error"]);
    assert_eq!(scene.project.wait_for_started(1).len(), 1);
    let log = server.finish();
    assert!(log.contains("belongs to another caller") && !log.contains(state.as_str().expect("a state")));
}

#[test]
fn another_server_with_the_same_keys_runs_the_script_again() {
    let scene = Scene::new();
    let (first, second) = (scene.start(&[]), scene.start(&[]));
    let state = scene.asked(&first, 0);
    assert_eq!(scene.call(&second, 1, "asks", Some(&state))["error"]["code"], -32602, "not its caller");
    let done = scene.call(&second, 0, "asks", Some(&state));
    let pids = scene.project.wait_for_started(2);
    assert_eq!(text(&done).trim_end(), format!("Zoë by {}", pids[1]));
    second.finish();
    first.finish();
    wait_until_gone(pids[0]);
}

#[test]
fn parked_calls_block_no_other_and_the_limit_is_per_caller() {
    let scene = Scene::new();
    let server = scene.start(&[
        ("MCPBASH_MAX_CONCURRENT_REQUESTS", "1"),
        ("MCPBASH_MAX_PARKED_CALLS_PER_CALLER", "2"),
        ("MCPBASH_MAX_PARKED_CALLS", "3"),
    ]);
    let modest = scene.asked(&server, 0);
    for _ in 0..4 {
        scene.asked(&server, 1);
        assert_eq!(text(&scene.call(&server, 0, "hi", None)).trim_end(), "hi");
    }
    let pids = scene.project.wait_for_started(5);
    for pid in &pids[1..3] {
        wait_until_gone(*pid);
    }
    assert!([0, 3, 4].iter().all(|index| exists(pids[*index])));
    let done = scene.call(&server, 0, "asks", Some(&modest));
    assert_eq!(text(&done).trim_end(), format!("Zoë by {}", pids[0]));
    server.finish();
}
