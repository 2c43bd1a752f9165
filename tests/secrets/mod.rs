//! Secrets by reference: who receives them, where they come from, and that nothing else ever shows them.

mod commands;
mod functions;
mod giving;
mod hunt;
mod processes;
mod said;
mod sources;

use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

/// The planted secret. It has characters that every notation escapes.
const SECRET: &str = r#"plant&ed/"S3cr3t"\<va lue>+42"#;

/// A project with a tool that needs the secret `planted` in `TOKEN`.
fn with_tool(project: Project, name: &str, script: &str) -> Project {
    let metadata = json!({ "name": name, "description": "Uses a secret", "secrets": { "TOKEN": "planted" } });
    project.tool(name, script).file(&format!("tools/{name}/tool.meta.json"), &metadata.to_string())
}

fn project(script: &str) -> Project {
    with_tool(Project::new(), "uses", script)
}

/// A server whose environment has the secret, and whose operator keeps no file of secrets.
fn serve(project: &Project, home: &TempDir, more: &[(&str, &str)]) -> Server {
    let file = home.path().join("secrets.json");
    let mut environment = vec![
        ("TOKEN", SECRET),
        ("MCPBASH_SECRETS_FILE", file.to_str().unwrap()),
        ("HOME", home.path().to_str().unwrap()),
    ];
    environment.extend(more);
    Server::ready_with(project.root(), &environment, "2025-11-25")
}

fn home() -> TempDir {
    TempDir::new().unwrap()
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).trim_end()
}

fn called(server: &mut Server, tool: &str) -> Value {
    server.ask_past_news("call", "tools/call", &json!({ "name": tool, "arguments": {} }))
}

fn write_private(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
}
