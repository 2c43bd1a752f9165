//! A link `bash_mcp.sh` beside `tools/` acts as the script of that name did.

use crate::harness::{Project, Server, code};
use serde_json::{Value, json};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

/// It says nowhere that it provides tools.
const QUIET: &str = r#"#!/bin/sh
case $1 in
list) echo '{"name":"add","description":"Adds"}' ;;
add) printf '{"content":[{"type":"text","text":"%s"}],"isError":false}' "$(echo "$2" | tr -dc 0-9)" ;;
*) exit 1 ;;
esac
"#;

fn project() -> Project {
    let project = Project::new().script("tools/quiet.sh", QUIET);
    symlink(env!("CARGO_BIN_EXE_mcp-bash"), project.path("bash_mcp.sh")).unwrap();
    project
}

/// Its answers to these messages, started from another folder.
fn answers(mut command: Command, messages: &[Value]) -> Vec<Value> {
    command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for message in messages {
        writeln!(input, "{message}").unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn link(project: &Project) -> Command {
    Server::command_of(project.path("bash_mcp.sh").to_str().unwrap())
}

#[test]
fn a_link_serves_its_folder_without_a_handshake_and_asks_every_executable() {
    let project = project();
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
        { "name": "add", "arguments": { "a": 4 } } });
    let called = answers(link(&project), std::slice::from_ref(&call));
    assert_eq!(called[0]["result"]["content"][0]["text"], "4", "{called:?}");

    // Words on the command line meant nothing, and a client that does begin with a handshake is welcome.
    let mut command = link(&project);
    command.args(["--health", "anything"]);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let begin = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-06-18" } });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let listed = answers(command, &[begin.clone(), ready, list.clone(), begin]);
    assert_eq!(listed[0]["result"]["protocolVersion"], "2025-06-18");
    let answer = |id: u64| listed.iter().rfind(|said| said["id"] == id).unwrap();
    assert_eq!(answer(2)["result"]["tools"][0]["name"], "add", "{listed:?}");
    assert_eq!(code(answer(0)), -32600, "a second handshake is refused");

    // Under its own name the program keeps to its rules.
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root());
    assert_eq!(code(&answers(command, &[call])[0]), -32000);
}

#[test]
fn a_link_in_the_search_path_serves_its_folder_too() {
    let project = project();
    let mut command = Server::command_of("sh");
    let path = format!("{}:/usr/bin:/bin", project.root().display());
    command.args(["-c", "exec bash_mcp.sh"]).env("PATH", path);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let listed = answers(command, &[list]);
    assert_eq!(listed[0]["result"]["tools"][0]["name"], "add", "{listed:?}");
}

#[test]
fn a_link_in_a_folder_without_tools_has_none() {
    let project = Project::new().file("notes.txt", "");
    symlink(env!("CARGO_BIN_EXE_mcp-bash"), project.path("bash_mcp.sh")).unwrap();
    assert!(!Path::new(&project.path("tools")).exists());
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert_eq!(answers(link(&project), &[list])[0]["result"]["tools"], json!([]));
}
