//! `mcp-bash validate`: errors in a project, problems with clients, unreachable files, and safe fixes. Paths
//! are relative to the project, which is `…` here.

mod clients;
mod common_mistakes;
mod consent;
mod evaluated;
mod excess;
mod findings;
mod output;
mod repairs;

use crate::harness::{Project, Server};
use serde_json::{Value, json};

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Server::command();
    command.arg("validate").args(arguments).current_dir(folder);
    command.output().expect("the binary runs")
}

/// The exit code, and the standard output.
fn validate(project: &Project, arguments: &[&str]) -> (i32, String) {
    let output = run(project.root(), arguments);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let root = project.root().canonicalize().expect("a folder");
    (output.status.code().expect("an exit code"), text.replace(root.to_str().expect("a name"), "…"))
}

/// All findings, each with its fix on a separate line, without the header, the valid entries and the summary.
fn findings(project: &Project) -> String {
    let (_, text) = validate(project, &["--quiet"]);
    let body = text
        .strip_prefix("Validating project at ……\n\n")
        .or(text.strip_prefix("Validating project at …...\n\n"));
    let body = body.unwrap_or_else(|| panic!("{text}"));
    let end = body.rfind("\n\n").map_or(0, |end| end + 1);
    body[..end].to_owned()
}

fn report(project: &Project, arguments: &[&str]) -> (i32, Value) {
    let (code, text) = validate(project, &[&["--json"], arguments].concat());
    (code, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

fn mode(project: &Project, path: &str) -> u32 {
    fs::metadata(project.path(path)).expect("a file").permissions().mode() & 0o777
}

fn set_mode(project: &Project, path: &str, mode: u32) {
    fs::set_permissions(project.path(path), Permissions::from_mode(mode)).expect("permissions");
}

/// A project with one tool that all clients accept.
fn with_hi() -> Project {
    let metadata = r#"{"name": "hi", "description": "The tool hi", "annotations": {"readOnlyHint": true}}"#;
    Project::with_hi().file("tools/hi/tool.meta.json", metadata)
}

/// A project whose tool `x` has this input schema, from line 5 on.
fn with_schema(schema: &str) -> Project {
    let metadata = format!(
        "{{\n  \"name\": \"x\",\n  \"description\": \"X\",\n  \"inputSchema\":\n{schema},\n\
         \"annotations\": {{\"readOnlyHint\": true}} }}\n"
    );
    Project::new().script("tools/x/tool.sh", "#!/bin/sh\n").file("tools/x/tool.meta.json", &metadata)
}

fn with_name(name: &str) -> Project {
    let metadata =
        json!({ "description": "X", "name": name, "annotations": { "readOnlyHint": true } }).to_string();
    Project::new().script("tools/x/tool.sh", "#!/bin/sh\n").file("tools/x/tool.meta.json", &metadata)
}

fn rich() -> Project {
    with_hi()
        .file("server.d/server.meta.json", r#"{"name": "rich", "version": "2.0.0"}"#)
        .file(
            "server.d/register.json",
            r#"{"version": 1, "completions": [{"name": "letter", "path": "completions/l.sh"}]}"#,
        )
        .script("completions/l.sh", "#!/bin/sh\necho '[]'\n")
        .file("prompts/letter.txt", "Write to {{name}}.")
        .file("prompts/README.md", "Prompts.")
        .file("resources/note.txt", "A note")
        .file("resources/day.meta.json", r#"{"name": "day", "uriTemplate": "day://{date}"}"#)
        .script("providers/day.sh", "#!/bin/sh\necho day\n")
        .file("tools/hi/README.md", "How to say hi")
        .file("tools/hi/tests/hi.yaml", "- arguments: {}\n")
        .file("tools/hi/tests/check.py", "print(1)\n")
        .file("tools/hi/node_modules/x/index.js", "x")
        .file("tools/hi/__pycache__/x.py", "x")
        .file("LICENSE", "MIT")
}
