//! `mcp-bash debug`: an ordinary server that keeps a record of all messages.

use crate::harness::{Project, Server};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

fn debug(project: &Project, temporary: &Path) -> Server {
    let mut command = Server::command();
    command.arg("debug").arg(project.root()).env("TMPDIR", temporary);
    Server::spawn(command)
}

fn only_entry(folder: &Path, beginning: &str) -> PathBuf {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> =
        entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(beginning)).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

#[test]
fn messages_and_logs_are_kept_in_a_folder_that_is_printed() {
    let (project, temporary) = (Project::with_hi(), Project::new());
    let mut server = debug(&project, temporary.root());
    server.initialize("2025-11-25");
    server.call(7, "hi");
    while server.receive()["id"] != json!(7) {}
    let stderr = server.finish();

    let folder = only_entry(temporary.root(), "mcpbash.debug.");
    let told = format!("mcp-bash debug: messages and logs are kept in {}\n", folder.display());
    assert!(stderr.starts_with(&told), "{stderr}");
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    let payloads = only_entry(&folder, "mcpbash.state.").join("payloads.log");
    let record = fs::read_to_string(payloads).unwrap();
    assert!(record.starts_with(r#"< {"jsonrpc":"2.0","id":"init","method":"initialize""#), "{record}");
    assert!(record.contains(r#"> {"jsonrpc":"2.0","id":7,"result""#), "{record}");
    let log = fs::read_to_string(folder.join("mcp-bash.log")).unwrap();
    assert!(log.contains(r#""level":"debug""#), "{log}");
}

#[test]
fn an_explicit_log_level_is_kept() {
    let (project, temporary) = (Project::with_hi(), Project::new());
    let mut command = Server::command();
    command.arg("debug").arg("--project-root").arg(project.root());
    command.env("TMPDIR", temporary.root()).env("MCPBASH_LOG_LEVEL", "error");
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    assert_eq!(server.finish().lines().count(), 1, "only where the record is");
}

#[test]
fn a_folder_that_cannot_be_created_is_an_error_with_a_fix() {
    let project = Project::with_hi();
    let mut command = Server::command();
    command.arg("debug").arg(project.root()).env("TMPDIR", project.path("nowhere"));
    let output = command.output().unwrap();
    let expected = format!(
        "mcp-bash: failed to make a folder for the record in {}: No such file or directory (os error 2); \
         set TMPDIR to a folder that you may write to\n",
        project.path("nowhere").display()
    );
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
        (Some(1), &*expected)
    );
}
