//! Tokens that may call only some tools, over real HTTP and in both eras.

use crate::harness::http::{HttpServer, initialize, post, stateless_with};
use crate::harness::{Project, wait_until};
use mcp_bash_transport::http::TokenLine;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A project with five tools and a file of tokens beside it.
struct Scene {
    project: Project,
    tokens: PathBuf,
    outside: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let names = ["a1", "a2", "b1", "b2", "c1"];
        let project = names.iter().fold(Project::new(), |project, name| {
            project.tool(name, "#!/bin/sh\necho \"$MCP_TOOL_NAME\" >>ran\necho ran\n")
        });
        let outside = tempfile::tempdir().expect("a folder");
        let tokens = outside.path().join("tokens");
        Self { project, tokens, outside }
    }

    /// Writes the token file atomically.
    fn write(&self, lines: &[String]) {
        let draft = self.outside.path().join("draft");
        fs::write(&draft, lines.join("\n")).expect("a file");
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o600)).expect("permissions");
        fs::rename(draft, &self.tokens).expect("the file of tokens");
    }

    fn start(&self) -> HttpServer {
        let tokens = self.tokens.to_str().expect("a path");
        HttpServer::start_with(self.project.root(), &["--tokens", tokens], &[])
    }

    fn ran(&self) -> String {
        fs::read_to_string(self.project.path("ran")).unwrap_or_default()
    }
}

/// The line of a token, and the value of its header.
fn token(name: &str, tools: Option<&str>) -> (String, String) {
    let (line, token) = TokenLine::generate(name, tools, None).expect("a token");
    (line.to_string(), format!("Bearer {token}"))
}

fn ask(server: &HttpServer, token: &str, method: &str, params: &Value) -> Value {
    server.send(&stateless_with(&[("Authorization", token)], 1, method, params)).json()
}

/// The names of all tools that a token sees, in pages of two.
fn seen(server: &HttpServer, token: &str) -> Vec<String> {
    let (mut names, mut params) = (Vec::new(), json!({ "limit": 2 }));
    loop {
        let answer = ask(server, token, "tools/list", &params);
        let result = &answer["result"];
        assert_eq!(result["cacheScope"], "private", "{answer}");
        let tools = result["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        names.extend(tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()));
        let Some(cursor) = result["nextCursor"].as_str() else { return names };
        params["cursor"] = cursor.into();
    }
}

#[test]
fn a_token_sees_and_calls_only_its_tools() {
    let scene = Scene::new();
    let (some_line, some) = token("some", Some("a2,c1"));
    let (all_line, all) = token("all", None);
    scene.write(&[some_line, all_line]);
    let server = scene.start();
    assert_eq!(seen(&server, &some), ["a2", "c1"]);
    assert_eq!(seen(&server, &all), ["a1", "a2", "b1", "b2", "c1"]);
    for hidden in ["b1", "made-up"] {
        let refused = ask(&server, &some, "tools/call", &json!({ "name": hidden }));
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let words =
            format!("Tool '{hidden}' is not allowed: it is not in the list of tools of the caller `some`");
        assert_eq!(refused["error"]["message"].as_str(), Some(&*words));
    }
    assert_eq!(scene.ran(), "");
    for (token, tool) in [(&some, "c1"), (&all, "b1")] {
        let answer = ask(&server, token, "tools/call", &json!({ "name": tool }));
        assert_eq!(answer["result"]["content"][0]["text"], "ran", "{answer}");
    }
    assert_eq!(scene.ran(), "c1\nb1\n");
    server.finish();
}

#[test]
fn changes_of_the_token_file_apply_to_open_sessions() {
    let scene = Scene::new();
    let (line, token) = token("some", Some("a1,b1"));
    scene.write(std::slice::from_ref(&line));
    let server = scene.start();
    let hello = initialize("2025-11-25", &json!({})).to_string();
    let greeted = server.send(&post(&[("Authorization", &token)], &hello));
    let id = greeted.header("mcp-session-id").expect("a session").to_owned();
    let headers =
        [("Authorization", &*token), ("MCP-Session-Id", &*id), ("MCP-Protocol-Version", "2025-11-25")];
    let send = |message: &Value| server.send(&post(&headers, &message.to_string()));
    send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let call = |tool: &str| {
        let params = json!({ "name": tool, "arguments": {} });
        send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })).json()
    };
    assert_eq!(call("b1")["result"]["content"][0]["text"], "ran");
    assert_eq!(call("b2")["error"]["code"], -32602);
    scene.write(&[line.replace("tools=a1,b1", "tools=a1,b2")]);
    wait_until("the new list to count", || {
        (call("b2")["result"]["content"][0]["text"] == "ran").then_some(())
    });
    assert_eq!(call("b1")["error"]["code"], -32602, "what was taken away is gone at once");
    server.finish();
}
