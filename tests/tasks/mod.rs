//! Tasks: calls that outlive their requests, their connections and their servers.

mod callers;
mod commands;
mod listening;
mod questions;
mod restarts;
mod sessions;
mod stateless;
mod store;
mod turns;

use crate::harness::{Project, Server, stateless_meta, wait_until};
use serde_json::{Value, json};
use std::path::PathBuf;
use tempfile::TempDir;

/// Folders outside the project for the store.
pub(super) struct Stores(TempDir);

impl Stores {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(super) fn path(&self) -> PathBuf {
        self.0.path().join("tasks")
    }

    /// A server of the project with this store.
    pub(super) fn start(&self, project: &Project) -> Server {
        self.start_with(project, &[])
    }

    pub(super) fn start_with(&self, project: &Project, more: &[(&str, &str)]) -> Server {
        let path = self.path();
        let store = [("MCPBASH_STORE", path.to_str().expect("a path"))];
        Server::start_with(project.root(), &[&store, more].concat())
    }
}

/// Metadata of a tool whose calls can be tasks.
pub(super) fn metadata(name: &str, support: &str, more: &Value) -> String {
    let mut metadata = json!({ "name": name, "description": name, "execution": { "taskSupport": support } });
    for (key, value) in more.as_object().into_iter().flatten() {
        metadata[key] = value.clone();
    }
    metadata.to_string()
}

/// A project with a tool `waits` that waits at the gate, and can be a task.
pub(super) fn waiting(more: &Value) -> Project {
    let project = Project::new().waiting_tool("waits");
    project.write("tools/waits/tool.meta.json", &metadata("waits", "optional", more));
    project
}

/// The `_meta` of a client that declares tasks, and these capabilities.
pub(super) fn declaring(capabilities: &Value) -> Value {
    let mut meta = stateless_meta();
    let mut declared = capabilities.clone();
    declared["extensions"] = json!({ "io.modelcontextprotocol/tasks": {} });
    meta["io.modelcontextprotocol/clientCapabilities"] = declared;
    meta
}

/// Asks as a client that declares tasks.
pub(super) fn ask(server: &mut Server, method: &str, mut params: Value) -> Value {
    if params.get("_meta").is_none() {
        params["_meta"] = declaring(&json!({ "elicitation": {}, "sampling": {}, "roots": {} }));
    }
    server.ask(method, method, &params)
}

/// Calls a tool, and returns the id of its task.
pub(super) fn call(server: &mut Server, tool: &str) -> String {
    let answer = ask(server, "tools/call", json!({ "name": tool, "arguments": {} }));
    assert_eq!(answer["result"]["resultType"], "task", "{answer}");
    assert_eq!(answer["result"]["status"], "working", "{answer}");
    answer["result"]["taskId"].as_str().expect("an id").to_owned()
}

pub(super) fn get(server: &mut Server, id: &str) -> Value {
    let answer = ask(server, "tasks/get", json!({ "taskId": id }));
    assert!(answer.get("result").is_some(), "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    assert_eq!(answer["result"]["taskId"], id, "{answer}");
    answer["result"].clone()
}

/// The task, as soon as it has this status.
pub(super) fn wait_for(server: &mut Server, id: &str, status: &str) -> Value {
    wait_until(&format!("the task to be {status}"), || {
        let task = get(server, id);
        let is_final =
            ["completed", "failed", "cancelled"].contains(&task["status"].as_str().unwrap_or_default());
        assert!(task["status"] == status || !is_final, "not {status}: {task}");
        (task["status"] == status).then_some(task)
    })
}

/// The text of a task that is completed.
pub(super) fn text(task: &Value) -> &str {
    task["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{task}")).trim_end()
}
