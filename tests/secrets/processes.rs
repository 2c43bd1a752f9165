//! Secrets in running processes: what other users see of a server and of a tool, and what a crash leaves.

use super::{SECRET, called, home, project, serve, text, with_tool};
use crate::harness::{Project, Server, wait_until};
use serde_json::json;
use std::fs;
use std::os::unix::process::CommandExt;
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
    for part in ["environ", "fd", "maps"] {
        let seen = read_as_another(&format!("/proc/{of_server}/{part}"));
        assert!(seen.is_err_and(|why| why.contains("denied")), "{part} of the server");
    }
    for pid in [&of_server, &of_script] {
        let seen = read_as_another(&format!("/proc/{pid}/cmdline")).expect("everybody reads it");
        assert!(!String::from_utf8_lossy(&seen).contains(SECRET), "the command line of {pid}");
    }
    if rustix::process::geteuid().is_root() {
        let seen = read_as_another(&format!("/proc/{of_script}/environ"));
        assert!(seen.is_err_and(|why| why.contains("denied")), "the environment of the tool");
    }
    project.write("go", "");
    let answer = server.receive();
    assert_eq!(text(&answer), "***", "{answer}");
    server.finish();
}

#[test]
fn a_tool_that_crashes_leaves_no_core_file() {
    let project = project("#!/bin/sh\nulimit -c\n");
    let home = home();
    let start = |project: &Project| {
        // With the highest limit that this system allows.
        let mut command = Server::command_of("sh");
        command.args(["-c", "ulimit -S -c \"$(ulimit -H -c)\" && exec \"$0\" --project-root \"$1\""]);
        command.arg(env!("CARGO_BIN_EXE_mcp-bash")).arg(project.root());
        command.env("TOKEN", SECRET).env("HOME", home.path());
        let mut server = Server::spawn(command);
        server.initialize("2025-11-25");
        server
    };
    let mut server = start(&project);
    assert_eq!(text(&called(&mut server, "uses")), "0");
    server.finish();
    // Without secrets the limit stays as it was.
    let plain =
        Project::new().tool("plain", "#!/bin/sh\n[ \"$(ulimit -c)\" = \"$(ulimit -H -c)\" ] && echo same\n");
    let mut server = start(&plain);
    assert_eq!(text(&called(&mut server, "plain")), "same");
    server.finish();
}
