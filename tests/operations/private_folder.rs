//! The private folder of a server: recreated when it is removed, locked, and removed by the next server if
//! its own was killed.

use crate::harness::metrics::{get, start_with};
use crate::harness::process_table::{self, Process};
use crate::harness::{Project, Server, wait_until};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Uses everything in the private folder: the SDK, its jq, a state folder, and the progress stream.
const USES_ALL: &str = r#"#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"
mcp_progress 50 half
printf x >"$MCPBASH_STATE_DIR/$$"
mcp_emit_text "$("$MCPBASH_JSON_TOOL_BIN" -nr '"whole"')"
"#;

/// A careless script.
const REMOVES: &str = "#!/bin/sh\nrm -rf \"$TMPDIR\"/* 2>/dev/null\necho removed\n";

/// The private folders of servers in the temporary folder.
fn private_folders(temporary: &Path) -> Vec<PathBuf> {
    let entries = temporary.read_dir().unwrap().flatten().map(|entry| entry.path());
    let is_private = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("mcpbash.run."))
    };
    entries.filter(is_private).collect()
}

fn temporary() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn ready(project: &Project, temporary: &Path) -> Server {
    let environment = [("TMPDIR", temporary.to_str().unwrap()), ("MCPBASH_LOG_LEVEL", "emergency")];
    Server::ready_with(project.root(), &environment, "2025-11-25")
}

/// The text of a result, and the number of progress notifications before it.
fn call(server: &mut Server, tool: &str) -> (Value, usize) {
    server.request("call", "tools/call", &json!({ "name": tool, "_meta": { "progressToken": 1 } }));
    let mut told = 0;
    loop {
        let message = server.receive();
        if message["id"] == "call" {
            return (message["result"]["content"][0]["text"].clone(), told);
        }
        told += usize::from(message["method"] == "notifications/progress");
    }
}

#[test]
fn a_private_folder_that_a_tool_removes_is_recreated_for_the_next_call() {
    let temporary = temporary();
    let project = Project::new().tool("uses_all", USES_ALL).tool("removes", REMOVES);
    let mut server = ready(&project, temporary.path());
    for _ in 0..3 {
        assert_eq!(call(&mut server, "uses_all"), (json!("whole"), 1));
        assert_eq!(call(&mut server, "removes").0, "removed");
    }
    assert_eq!(call(&mut server, "uses_all"), (json!("whole"), 1));
    server.finish();
    assert_eq!(temporary.path().read_dir().unwrap().count(), 0, "nothing is left");
}

#[test]
fn a_private_folder_that_a_cleaner_removes_is_recreated_for_the_next_call() {
    let temporary = temporary();
    let project = Project::new().tool("uses_all", USES_ALL).waiting_tool("wait");
    let mut server = ready(&project, temporary.path());
    assert_eq!(call(&mut server, "uses_all").0, "whole");
    server.call("waits", "wait");
    project.wait_for_started(1);
    let folder = private_folders(temporary.path()).remove(0);
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(call(&mut server, "uses_all"), (json!("whole"), 1));
    assert_eq!(private_folders(temporary.path()), [folder], "where scripts that run look for it");
    // A call that ran meanwhile does not need it.
    project.open_gate();
    assert_eq!(server.receive()["result"]["content"][0]["text"], "went");
    // A folder that was moved counts as removed.
    fs::rename(&private_folders(temporary.path())[0], temporary.path().join("elsewhere")).unwrap();
    assert_eq!(call(&mut server, "uses_all"), (json!("whole"), 1));
    server.finish();
    assert!(private_folders(temporary.path()).is_empty());
}

#[test]
fn a_private_folder_is_locked_as_long_as_its_server_lives() {
    let temporary = temporary();
    let project = Project::new().tool("uses_all", USES_ALL);
    let mut server = ready(&project, temporary.path());
    call(&mut server, "uses_all");
    let folder = private_folders(temporary.path()).remove(0);
    let is_locked = || {
        let folder = File::open(&folder).unwrap();
        flock(&folder, FlockOperation::NonBlockingLockExclusive).is_err()
    };
    assert!(is_locked(), "as `systemd-tmpfiles` looks at it");
    fs::remove_dir_all(&folder).unwrap();
    call(&mut server, "uses_all");
    assert!(is_locked());
}

/// Kills a server together with its warden, as clients do that kill a whole process tree.
fn kill_with_warden(server: &mut Server) {
    let server_id = server.child.id();
    let warden = wait_until("the warden", || {
        let is_ours = |process: &Process| process.parent == server_id && process.is_warden();
        process_table::all().into_iter().find(is_ours).map(|process| process.pid)
    });
    for pid in [warden, server_id] {
        kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL).unwrap();
    }
    server.child.wait().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn the_folder_of_a_server_that_was_killed_with_its_warden_is_removed_by_the_next_server() {
    let (temporary, precious) = (temporary(), Project::new().file("file", "x"));
    let project = Project::new().tool("uses_all", USES_ALL);
    let mut lives = ready(&project, temporary.path());
    call(&mut lives, "uses_all");
    let used = private_folders(temporary.path());
    let mut killed = ready(&project, temporary.path());
    call(&mut killed, "uses_all");
    kill_with_warden(&mut killed);
    assert_eq!(private_folders(temporary.path()).len(), 2, "nobody was left to remove it");
    // Folders that only have a similar name are never removed.
    let link = temporary.path().join("mcpbash.run.1.2.0123456789abcdef");
    std::os::unix::fs::symlink(precious.root(), &link).unwrap();

    let next = ready(&project, temporary.path());
    wait_until("the folder to be removed", || {
        let left = private_folders(temporary.path());
        (left.len() == used.len() + 1).then_some(())
    });
    assert!(used[0].is_dir() && link.is_symlink());
    assert_eq!(precious.read("file"), "x");
    assert_eq!(call(&mut lives, "uses_all"), (json!("whole"), 1));
    next.finish();
    lives.finish();
}

/// Some clients start a server for each call.
#[cfg(target_os = "linux")]
#[test]
fn a_command_that_ends_at_once_removes_the_folder_of_a_killed_server_too() {
    let temporary = temporary();
    let project = Project::new().tool("uses_all", USES_ALL);
    let mut killed = ready(&project, temporary.path());
    call(&mut killed, "uses_all");
    kill_with_warden(&mut killed);
    assert_eq!(private_folders(temporary.path()).len(), 1);
    let mut command = Server::command();
    command.args(["--project-root", project.root().to_str().unwrap(), "call", "uses_all"]);
    let done = command.env("TMPDIR", temporary.path()).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    assert_eq!(private_folders(temporary.path()), Vec::<PathBuf>::new());
}

fn readiness(address: SocketAddr) -> (u16, String) {
    let answer = get(address, "/readyz", "*/*");
    (answer.status, answer.text())
}

#[test]
fn readiness_reports_whether_the_private_folder_is_usable() {
    let (outer, project) = (temporary(), Project::new().tool("uses_all", USES_ALL));
    let temporary = outer.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let (server, address) = start_with(&project, &[("TMPDIR", temporary.to_str().unwrap())]);
    let text =
        || server.ask("tools/call", &json!({ "name": "uses_all" }))["result"]["content"][0]["text"].clone();
    assert_eq!(text(), "whole");
    assert_eq!(readiness(address), (200, "ready\n".to_owned()));
    // A removed folder is recreated, and the server stays ready.
    fs::remove_dir_all(&private_folders(&temporary)[0]).unwrap();
    assert_eq!(readiness(address).0, 200);
    assert_eq!(text(), "whole");
    // The server is not ready while the folder cannot be created.
    fs::rename(&temporary, outer.path().join("aside")).unwrap();
    let (status, why) = readiness(address);
    assert_eq!(status, 503);
    assert!(why.contains("set TMPDIR to a folder that you may write to"), "{why}");
    let refused = server.ask("tools/call", &json!({ "name": "uses_all" }))["error"]["message"].to_string();
    assert!(refused.contains("No such file"), "a call says why as well: {refused}");
    fs::create_dir(&temporary).unwrap();
    assert_eq!(readiness(address).0, 200);
    assert_eq!(text(), "whole");
    server.finish();
}

#[test]
fn a_missing_project_makes_the_server_unready_and_is_not_recreated() {
    let outer = Project::new();
    let project = Project::with_hi();
    let (server, address) = start_with(&project, &[]);
    assert_eq!(readiness(address).0, 200);
    project.wait_for_file(".registry/tools.json");
    fs::rename(project.root(), outer.path("aside")).unwrap();
    let (status, why) = readiness(address);
    assert_eq!(status, 503);
    assert!(why.contains("is not there"), "{why}");
    // A change detected now creates nothing either.
    server.ask("tools/list", &json!({}));
    assert!(!project.root().exists());
    fs::rename(outer.path("aside"), project.root()).unwrap();
    assert_eq!(readiness(address).0, 200);
    server.finish();
}
