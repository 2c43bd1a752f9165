//! Tasks over HTTP: each belongs to its caller, and no other caller learns of it.

use super::{Stores, declaring, waiting};
use crate::harness::http::{HttpServer, Response, initialize, post, stateless_with};
use crate::harness::{Project, exists, wait_until, wait_until_gone};
use mcp_bash_transport::http::{Grant, TokenLine};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;

/// A server with two callers.
struct Scene {
    server: HttpServer,
    tokens: [String; 2],
    _outside: TempDir,
}

/// Serves the project to the callers whose tokens are in that folder.
fn serve(project: &Project, stores: &Stores, outside: &TempDir) -> HttpServer {
    let (tokens, store) = (outside.path().join("tokens"), stores.path());
    let arguments = ["--tokens", tokens.to_str().unwrap(), "--store", store.to_str().unwrap()];
    // One that is stopped does not wait until its tasks end.
    HttpServer::start_with(project.root(), &arguments, &[("MCPBASH_HTTP_DRAIN_TIMEOUT", "0")])
}

impl Scene {
    fn new(project: &Project, stores: &Stores) -> Self {
        let outside = tempfile::tempdir().expect("a folder");
        let made = ["one", "other"].map(|name| TokenLine::generate(name, Grant::default()).expect("a token"));
        let lines = made.iter().map(|(line, _)| line.to_string()).collect::<Vec<_>>().join("\n");
        let file = outside.path().join("tokens");
        fs::write(&file, lines).expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("permissions");
        Self {
            server: serve(project, stores, &outside),
            tokens: made.map(|(_, token)| format!("Bearer {token}")),
            _outside: outside,
        }
    }

    fn ask(&self, caller: usize, method: &str, params: &Value, headers: &[(&str, &str)]) -> Value {
        let mut params = params.clone();
        params["_meta"] = declaring(&json!({ "elicitation": {} }));
        let headers = [&[("Authorization", &*self.tokens[caller])], headers].concat();
        self.server.send(&stateless_with(&headers, 1, method, &params)).json()
    }

    fn call(&self, caller: usize, tool: &str) -> String {
        let answer = self.ask(caller, "tools/call", &json!({ "name": tool, "arguments": {} }), &[]);
        answer["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    fn status(&self, caller: usize, id: &str) -> Value {
        let answer = self.ask(caller, "tasks/get", &json!({ "taskId": id }), &[]);
        answer["result"]["status"].clone()
    }
}

// Shows: tasks-owner
#[test]
fn another_caller_can_neither_see_nor_cancel_nor_answer_a_task() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    let scene = Scene::new(&project, &stores);
    let id = scene.call(0, "waits");
    let [process] = project.wait_for_started(1)[..] else { panic!("one process") };
    let unknown = scene.ask(1, "tasks/get", &json!({ "taskId": "0".repeat(32) }), &[]);
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({ "taskId": id, "inputResponses": {} });
        let answer = scene.ask(1, method, &params, &[]);
        assert_eq!(answer["error"], unknown["error"], "as if there were none: {answer}");
    }
    assert_eq!(scene.status(0, &id), "working");
    assert!(exists(process), "the connection that made it is closed, and it goes on");
    project.open_gate();
    wait_until("its end", || (scene.status(0, &id) == "completed").then_some(()));
    assert_eq!(scene.status(1, &id), Value::Null);
}

// Shows: tasks-headers
#[test]
fn the_name_header_may_be_missing_but_not_wrong() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    let scene = Scene::new(&project, &stores);
    let id = scene.call(0, "waits");
    let params = json!({ "taskId": id });
    for headers in [&[][..], &[("Mcp-Name", &*id)][..]] {
        assert_eq!(scene.ask(0, "tasks/get", &params, headers)["result"]["taskId"], *id);
    }
    let wrong = scene.ask(0, "tasks/get", &params, &[("Mcp-Name", "another")]);
    assert_eq!(wrong["error"]["code"], -32020, "{wrong}");
}

/// The session of a caller.
struct Session<'a> {
    scene: &'a Scene,
    caller: usize,
    id: String,
}

impl<'a> Session<'a> {
    fn new(scene: &'a Scene, caller: usize) -> Self {
        let fresh = Self { scene, caller, id: String::new() };
        let greeted = fresh.send(&initialize("2025-11-25", &json!({})));
        let id = greeted.header("mcp-session-id").expect("a session").to_owned();
        let session = Self { id, ..fresh };
        session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        session
    }

    fn send(&self, message: &Value) -> Response {
        let mut headers = vec![("Authorization", &*self.scene.tokens[self.caller])];
        if !self.id.is_empty() {
            headers.extend([("Mcp-Session-Id", &*self.id), ("MCP-Protocol-Version", "2025-11-25")]);
        }
        self.scene.server.send(&post(&headers, &message.to_string()))
    }

    fn ask(&self, method: &str, params: &Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })).json()
    }
}

// Shows: tasks-owner
#[test]
fn another_caller_cannot_list_or_fetch_a_task_of_a_session() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    let scene = Scene::new(&project, &stores);
    let [one, other] = [0, 1].map(|caller| Session::new(&scene, caller));
    let made = one.ask("tools/call", &json!({ "name": "waits", "arguments": {}, "task": {} }));
    let id = &made["result"]["task"]["taskId"];
    project.wait_for_started(1);
    assert_eq!(one.ask("tasks/list", &json!({}))["result"]["tasks"][0]["taskId"], *id);
    let listed = other.ask("tasks/list", &json!({}));
    assert_eq!(listed["result"]["tasks"], json!([]), "{listed}");
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let answer = other.ask(method, &json!({ "taskId": id }));
        assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
    }
    // Another session of the same caller sees it.
    let again = Session::new(&scene, 0);
    assert_eq!(again.ask("tasks/get", &json!({ "taskId": id }))["result"]["status"], "working");
    project.open_gate();
    let result = again.ask("tasks/result", &json!({ "taskId": id }));
    assert_eq!(result["result"]["content"][0]["text"], "went", "{result}");
}

#[test]
fn a_task_of_a_caller_runs_again_with_the_next_request_of_that_caller() {
    let (project, stores) = (waiting(&json!({ "replay": true })), Stores::new());
    let scene = Scene::new(&project, &stores);
    let id = scene.call(0, "waits");
    project.wait_for_started(1).into_iter().for_each(|process| {
        scene.server.signal(Signal::TERM);
        wait_until_gone(process);
    });
    let Scene { mut server, tokens, _outside: outside } = scene;
    assert!(server.wait().success());
    let scene = Scene { server: serve(&project, &stores, &outside), tokens, _outside: outside };
    assert_eq!(scene.status(1, &id), Value::Null, "another caller begins nothing");
    assert_eq!(project.wait_for_started(1).len(), 1);
    assert_eq!(scene.status(0, &id), "working");
    project.wait_for_started(2);
    project.open_gate();
    wait_until("its end", || (scene.status(0, &id) == "completed").then_some(()));
}
