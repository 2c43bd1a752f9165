//! Secrets in running processes: what other users see of a server and of a tool, and what a crash leaves.

use super::{SECRET, called, home, project, serve, text, with_tool};
use crate::harness::{Project, Server, wait_until};
use rustix::process::Signal;
use serde_json::json;
use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::Command;

/// What another user reads in a file or a folder of `/proc`. As root that is the user 65534; anyone else reads as themselves,
/// which the server does not allow either.
fn read_as_another(path: &str) -> Result<Vec<u8>, String> {
    let mut command = Command::new("sh");
    command.args(["-c", "if [ -d \"$0\" ]; then ls -l \"$0\"; else cat \"$0\"; fi", path]);
    if rustix::process::geteuid().is_root() {
        command.uid(65534).gid(65534).current_dir("/");
    }
    let output = command.output().expect("a shell");
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into())
    }
}

#[cfg(target_os = "linux")]
#[test]
fn other_users_see_nothing_of_it_in_the_processes() {
    let script = "#!/bin/sh\necho $$ >pid.new; mv pid.new pid; while [ ! -e go ]; do sleep 0.1; done; echo \"$TOKEN\"\n";
    let project = with_tool(Project::with_hi(), "waits", script);
    let home = home();
    let mut server = serve(&project, &home, &[]);
    server.request(1, "tools/call", &json!({ "name": "waits" }));
    let script = wait_until("the tool to run", || fs::read_to_string(project.path("pid")).ok());
    let (of_server, of_script) = (server.child.id().to_string(), script.trim().to_owned());
    for part in ["environ", "fd", "maps", "mem", "auxv"] {
        let seen = read_as_another(&format!("/proc/{of_server}/{part}"));
        assert!(seen.is_err_and(|why| why.contains("denied")), "{part} of the server");
    }
    for pid in [&of_server, &of_script] {
        let seen = read_as_another(&format!("/proc/{pid}/cmdline")).expect("everybody reads it");
        assert!(!String::from_utf8_lossy(&seen).contains(SECRET), "the command line of {pid}");
    }
    if rustix::process::geteuid().is_root() {
        for part in ["environ", "fd", "mem"] {
            let seen = read_as_another(&format!("/proc/{of_script}/{part}"));
            assert!(seen.is_err_and(|why| why.contains("denied")), "{part} of the tool");
        }
    }
    project.write("go", "");
    let answer = server.receive();
    assert_eq!(text(&answer), "***", "{answer}");
    server.finish();
}

#[test]
fn a_tool_that_crashes_leaves_no_core_file() {
    let project = project("#!/bin/sh\nulimit -c\ngrep 'core file' /proc/self/limits\n");
    let home = home();
    let start = |project: &Project| {
        let mut command = with_core_files(home.path(), env!("CARGO_BIN_EXE_mcp-bash"));
        command.arg("--project-root").arg(project.root()).env("TOKEN", SECRET).env("HOME", home.path());
        let mut server = Server::spawn(command);
        server.initialize("2025-11-25");
        server
    };
    let mut server = start(&project);
    // A program that collects the memory of crashed processes receives none if the limit is 1; with 0 it would.
    let said = text(&called(&mut server, "uses")).to_owned();
    let words: Vec<&str> = said.split_whitespace().collect();
    assert_eq!(words[..6], ["0", "Max", "core", "file", "size", "1"], "{said}");
    server.finish();
    // Without secrets the limit stays as it was.
    let plain =
        Project::new().tool("plain", "#!/bin/sh\n[ \"$(ulimit -c)\" = \"$(ulimit -H -c)\" ] && echo same\n");
    let mut server = start(&plain);
    assert_eq!(text(&called(&mut server, "plain")), "same");
    server.finish();
}

/// Runs a program with the highest limit for core files that this system allows, in that folder.
fn with_core_files(folder: &Path, program: &str) -> Command {
    let mut command = Server::command_of("sh");
    command.args(["-c", "ulimit -S -c \"$(ulimit -H -c)\" && exec \"$0\" \"$@\"", program]);
    command.current_dir(folder);
    command
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_that_crashes_leaves_no_core_file() {
    let project = project("#!/bin/sh\necho \"$TOKEN\"\n");
    let (home, folder) = (home(), home());
    let mut command = with_core_files(folder.path(), env!("CARGO_BIN_EXE_mcp-bash"));
    command.arg("--project-root").arg(project.root()).env("TOKEN", SECRET).env("HOME", home.path());
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    assert_eq!(text(&called(&mut server, "uses")), "***");
    server.signal(Signal::ABORT);
    let status = server.wait();
    assert_eq!((status.signal(), status.core_dumped()), (Some(6), false));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
