//! `new`, `init` and `scaffold`: their files work at once, and existing files are not touched.

mod entries;
mod init;
mod new_projects;
mod own_tests;
mod refusals;

use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The output and exit code of a command.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs the binary with a group-writable umask, as many users have.
fn run(folder: &Path, arguments: &[&str]) -> Said {
    let binary = Server::command();
    let mut command = Server::command_of("sh");
    command.args(["-c", "umask 002; exec \"$0\" \"$@\""]).arg(binary.get_program()).args(arguments);
    let output = command.current_dir(folder).output().expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    Said { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Runs the binary, which must succeed.
fn done(folder: &Path, arguments: &[&str]) -> String {
    let said = run(folder, arguments);
    assert_eq!((said.code, &*said.stderr), (Some(0), ""), "{arguments:?}: {}", said.stdout);
    said.stdout
}

/// Runs the binary, which must refuse. Returns its message.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let said = run(folder, arguments);
    assert_eq!((said.code, &*said.stdout), (Some(1), ""), "{arguments:?}: {}", said.stderr);
    said.stderr.strip_prefix("mcp-bash: ").expect("a message").trim_end().to_owned()
}

/// All files below a folder with their modes and texts; folders have no text.
fn tree(folder: &Path) -> BTreeMap<String, (u32, Option<String>)> {
    fn walk(folder: &Path, root: &Path, found: &mut BTreeMap<String, (u32, Option<String>)>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let seen = path.symlink_metadata().expect("a file");
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            let text = seen.is_file().then(|| fs::read_to_string(&path).expect("text"));
            found.insert(name, (seen.permissions().mode() & 0o777, text));
            if seen.is_dir() {
                walk(&path, root, found);
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}

fn names(folder: &Path) -> Vec<String> {
    tree(folder).into_keys().filter(|name| !name.starts_with(".schemas/")).collect()
}

fn health(root: &Path) -> Value {
    let output = Server::command().args(["--health", "--project-root"]).arg(root).output().unwrap();
    serde_json::from_slice(&output.stdout).expect("a report")
}

/// The answer to a request, skipping logs of scripts.
fn ask(server: &mut Server, method: &str, params: &Value) -> Value {
    server.request("asked", method, params);
    let mut messages = std::iter::from_fn(|| Some(server.receive()));
    messages.find(|message| message["id"] == "asked").expect("an answer")["result"].clone()
}

/// The answer of a project's tool.
fn call(server: &mut Server, name: &str, arguments: &Value) -> Value {
    ask(server, "tools/call", &json!({ "name": name, "arguments": arguments }))
}

/// A project made with `new`, in a folder with a space in its path.
fn new_project(project: &Project, flags: &[&str]) -> std::path::PathBuf {
    let here = project.path("my projects");
    fs::create_dir_all(&here).unwrap();
    done(&here, &[&["new", "demo"], flags].concat());
    here.join("demo")
}
