//! Every snippet of the README can be pasted, and its example works, even with a wrong argument.

use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The snippets of a language, in order.
fn snippets(language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(repository().join("README.md")).expect("README.md");
    let mut parts = text.split("```");
    let mut found = Vec::new();
    parts.next();
    while let (Some(snippet), Some(_)) = (parts.next(), parts.next()) {
        let (named, snippet) = snippet.split_once('\n').expect("a snippet has lines");
        let is_known = ["sh", "json", "text", "python", "js"].contains(&named);
        assert!(is_known, "a snippet says what it is, not `{named}`");
        if named == language {
            found.push(snippet.to_owned());
        }
    }
    assert!(!found.is_empty(), "{language}");
    found
}

/// A folder in which all commands of the README were run, by a user who has installed mcp-bash.
fn after_all_commands() -> TempDir {
    let here = tempfile::tempdir().expect("a temporary folder");
    let bin = here.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_mcp-bash"), bin.join("mcp-bash")).unwrap();
    let path = std::env::join_paths(
        [bin].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let path = path.expect("a search path");
    assert!(repository().join("scripts/test").is_file());
    // All in one shell, as a user pastes them. `scripts/test` is left out, because it runs this test, and the
    // built binary replaces `cargo run`.
    let pasted: Vec<String> =
        snippets("sh").into_iter().filter(|snippet| snippet.trim() != "scripts/test").collect();
    let pasted = pasted.join("\n").replace("cargo run --", "mcp-bash");
    let mut command = Command::new("bash");
    command.args(["-ec", &format!("umask 002\n{pasted}")]).current_dir(here.path()).env("PATH", &path);
    let output = command.output().expect("bash");
    assert!(output.status.success(), "{pasted}\n{output:?}");
    here
}

#[test]
fn the_example_is_served_by_the_command_for_clients_and_fails_properly() {
    let here = after_all_commands();
    let configuration: Value = serde_json::from_str(&snippets("json")[0]).expect("JSON");
    let entry = &configuration["mcpServers"]["my-project"];
    assert!(entry["command"].as_str().unwrap().ends_with("/mcp-bash"));
    let mut command = Server::command();
    for argument in entry["args"].as_array().unwrap() {
        let argument = argument.as_str().unwrap();
        command.arg(argument.replace("/path/to", here.path().to_str().unwrap()));
    }
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    let mut call = |arguments: Value| {
        server.ask("call", "tools/call", &json!({ "name": "disk_usage", "arguments": arguments }))["result"]
            .clone()
    };
    let good = call(json!({ "path": "tools" }));
    assert_eq!(good["isError"], false, "{good}");
    assert!(good["structuredContent"]["result"]["size"].is_string(), "{good}");

    let wrong = call(json!({ "path": "no/such/folder" }));
    assert_eq!(wrong["isError"], true, "{wrong}");
    let text = wrong["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("no/such/folder") && text.contains("tools/disk-usage/tool.sh: line "), "{text}");
    assert_eq!(call(json!({ "path": "--help" }))["isError"], true);
    assert_eq!(call(json!({}))["isError"], true);
}

#[test]
fn the_functions_are_tools() {
    let mut project = Project::new();
    for (file, language) in [("tools/sums.py", "python"), ("tools/sums.mjs", "js")] {
        project = project.file(file, &snippets(language)[0]);
    }
    let mut server = Server::ready(project.root());
    for (name, answer) in [("add", "8"), ("multiply", "15")] {
        let params = json!({ "name": name, "arguments": { "a": 3, "b": 5 } });
        let result = server.ask_past_news(name, "tools/call", &params)["result"].clone();
        assert_eq!(result["content"][0]["text"], answer, "{result}");
    }
}

#[test]
fn the_example_passes_all_checks() {
    let here = after_all_commands();
    let mut command = Server::command();
    command.args(["validate", "--strict", "--project-root", "my-project"]).current_dir(here.path());
    let output = command.output().expect("the binary runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
