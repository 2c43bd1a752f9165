//! Container images: what they start serves, as process 1 of a container.

use crate::harness::{Project, Server};
use serde_json::json;
use std::process::Command;

/// The command line of our images, from their Containerfile.
fn command_line() -> Vec<String> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/image/Containerfile");
    let file = std::fs::read_to_string(file).unwrap();
    let words = |instruction: &str| -> Vec<String> {
        let line = file.lines().find_map(|line| line.strip_prefix(instruction));
        serde_json::from_str(line.unwrap_or_else(|| panic!("no {instruction}"))).unwrap()
    };
    [words("ENTRYPOINT "), words("CMD ")].concat()
}

/// Whether this machine lets us make a process 1.
fn can_unshare() -> bool {
    Command::new("unshare")
        .args(["--fork", "--pid", "--mount-proc", "true"])
        .status()
        .is_ok_and(|done| done.success())
}

#[test]
fn as_process_1_it_ends_and_collects_what_calls_leave_behind() {
    if !can_unshare() {
        eprintln!("skipped: no process 1 can be made here");
        return;
    }
    let project = Project::new()
        .tool("leaves", "#!/bin/sh\n(sleep 1000 &) </dev/null >/dev/null 2>&1\nsetsid sleep 1000 </dev/null >/dev/null 2>&1 &\necho done\n")
        .tool(
            "processes",
            "#!/bin/sh\nfor state in /proc/[0-9]*/stat; do sed 's/^[0-9]* (\\(.*\\)) \\(.\\).*/\\1 \\2/' \"$state\" 2>/dev/null; done\n",
        );
    let words = command_line();
    assert_eq!(words[0], "/usr/bin/mcp-bash");
    let root = project.root().to_str().unwrap();
    let mut command = Server::command_of("unshare");
    command.args(["--fork", "--pid", "--mount-proc", env!("CARGO_BIN_EXE_mcp-bash")]);
    command.args(words[1..].iter().map(|word| if word == "/project" { root } else { word }));
    command.env("MCPBASH_LOG_LEVEL", "error");
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    server.notify("notifications/initialized", &json!({}));
    for round in 0..3 {
        let left = server.ask_past_news(round, "tools/call", &json!({ "name": "leaves" }));
        assert_eq!(left["result"]["content"][0]["text"], "done", "{left}");
    }
    let listed = server.ask_past_news(9, "tools/call", &json!({ "name": "processes" }));
    let text = listed["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("mcp-bash"), "{text}");
    assert!(!text.contains("sleep"), "nothing of an earlier call is left, not even a zombie: {text}");
    assert!(!text.lines().any(|process| process.ends_with(" Z")), "{text}");
}
