//! Disks that are full for a while: a small file system mounted in the server's own mount namespace.

use super::Subject;
use crate::harness::http::HttpServer;
use crate::harness::metrics::metrics_address;
use crate::harness::{Project, Server, wait_until};
use rustix::process::getuid;
use serde_json::json;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// The server in a mount namespace in which `folder` is a disk of so many kilobytes.
fn command_on_small_disk(folder: &Path, kilobytes: u32) -> Command {
    let mut command = Server::command_of("unshare");
    // An ordinary user may mount inside a user namespace.
    command.args(if getuid().is_root() { &["--mount"][..] } else { &["--map-root-user", "--mount"] });
    let mount = format!("mount -t tmpfs -o size={kilobytes}k,mode=700 disk \"$0\" && exec \"$@\"");
    command.args(["sh", "-c", &mount]).arg(folder).arg(env!("CARGO_BIN_EXE_mcp-bash"));
    command
}

/// The folder as the server sees it.
fn seen_by(server: &Child, folder: &Path) -> PathBuf {
    let root = PathBuf::from(format!("/proc/{}/root", server.id()));
    root.join(folder.strip_prefix("/").expect("an absolute path"))
}

/// Fills a disk.
fn fill(disk: &Path) {
    let full = fs::write(disk.join("filler"), vec![0; 16 * 1024 * 1024]);
    assert_eq!(full.map_err(|error| error.kind()), Err(ErrorKind::StorageFull));
}

fn make_room(disk: &Path) {
    fs::remove_file(disk.join("filler")).expect("the filler");
}

const USES_SDK: &str = "#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\nmcp_emit_text sound\n";

#[test]
fn a_first_call_on_a_full_disk_is_refused_with_the_reason_and_the_next_is_served() {
    let (project, outer) = (Project::new().tool("sound", USES_SDK), Project::new().file("disk/.keep", ""));
    let disk = outer.path("disk");
    let mut command = command_on_small_disk(&disk, 2048);
    command.arg("--project-root").arg(project.root());
    command
        .env("TMPDIR", &disk)
        .env("XDG_CACHE_HOME", disk.join("none"))
        .env("MCPBASH_LOG_LEVEL", "emergency");
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    let seen = seen_by(&server.child, &disk);
    fill(&seen);
    let call = |server: &mut Server| server.ask_past_news("call", "tools/call", &json!({ "name": "sound" }));
    for _ in 0..2 {
        let refused = call(&mut server).to_string();
        assert!(refused.contains("No space left on device"), "{refused}");
    }
    make_room(&seen);
    let answer = call(&mut server);
    assert_eq!(answer["result"]["content"][0]["text"], "sound", "{answer}");
    server.finish();
}

#[test]
fn a_log_on_a_full_disk_has_no_merged_lines() {
    let (project, outer) = (Project::with_hi(), Project::new().file("disk/.keep", ""));
    let disk = outer.path("disk");
    let mut command = command_on_small_disk(&disk, 64);
    command.arg("serve").arg(project.root()).arg("--log-file").arg(disk.join("log"));
    command.env("MCPBASH_LOG_LEVEL", "debug");
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    let seen = seen_by(&server.child, &disk);
    fs::write(seen.join("filler"), vec![0; 32 * 1024]).expect("half of the disk");
    // Until no whole line fits any more.
    wait_until("the disk to be full", || {
        server.ask_past_news("call", "tools/call", &json!({ "name": "hi" }));
        let log = fs::read(seen.join("log")).unwrap_or_default();
        (log.len() > 16 * 1024 && !log.ends_with(b"\n")).then_some(())
    });
    make_room(&seen);
    server.ask_past_news("call", "tools/call", &json!({ "name": "hi" }));
    let log = wait_until("lines after the half one", || {
        let log = fs::read_to_string(seen.join("log")).expect("a log");
        log.ends_with('\n').then_some(log)
    });
    let torn = log.lines().filter(|line| serde_json::from_str::<serde_json::Value>(line).is_err()).count();
    assert_eq!(torn, 1, "only the line that was cut off is no JSON");
    server.finish();
}

#[test]
fn a_server_whose_log_cannot_be_written_is_not_ready_until_it_can() {
    let (project, outer) = (Project::with_hi(), Project::new().file("disk/.keep", ""));
    let disk = outer.path("disk");
    let log = disk.join("log");
    let arguments = ["--metrics", "127.0.0.1:0", "--log-file", &*log.to_string_lossy()];
    let command = command_on_small_disk(&disk, 64);
    let server = HttpServer::start_by(command, project.root(), &arguments, &[("MCPBASH_LOG_LEVEL", "debug")]);
    let (seen, metrics) = (seen_by(&server.child, &disk), metrics_address(&server));
    let mut subject = Subject::of(server, metrics);
    assert_eq!(subject.readiness(), (200, "ready\n".to_owned()));
    fill(&seen);
    let why = wait_until("a line that cannot be written", || {
        assert_eq!(subject.call("hi"), "hi", "calls are served meanwhile");
        let (status, why) = subject.readiness();
        (status == 503).then_some(why)
    });
    assert!(why.contains("the log cannot be written") && why.contains("No space left on device"), "{why}");
    make_room(&seen);
    assert_eq!(subject.readiness(), (200, "ready\n".to_owned()));
    let text = fs::read_to_string(seen.join("log")).expect("a log");
    assert!(text.ends_with('\n'), "the log says how much it lacks");
    subject.server.finish();
}
