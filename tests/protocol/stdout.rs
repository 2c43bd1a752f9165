//! Standard output carries only the protocol, and only the server reads standard input.

use crate::harness::{Project, Server};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};

// Shows: stdout-only-messages
#[test]
fn a_tool_cannot_reach_the_protocol() {
    // It writes to every descriptor it can find, including the server's through /proc, and reads what it can.
    let project = Project::new().tool(
        "vandal",
        "#!/bin/sh\ncat >/dev/null\nfor fd in 3 4 5 6 7 8 9; do (echo vandalised >&$fd) 2>/dev/null; done\necho loud >&2\ncat\necho done\n",
    );
    let mut server = Server::ready(project.root());
    server.call(1, "vandal");
    server.request(2, "ping", &json!({}));
    let mut seen = [server.receive(), server.receive()];
    seen.sort_by_key(|answer| answer["id"].as_i64());
    assert_eq!(seen[0]["result"]["content"][0]["text"], "done");
    assert_eq!(seen[0]["result"].get("_meta"), None);
    assert_eq!(seen[1]["result"], json!({}));
    server.expect_silence();
}

// Shows: stdout-only-messages
#[test]
fn the_protocol_does_not_use_the_standard_descriptors() {
    let project = Project::with_hi();
    let server = Server::ready(project.root());
    let link = |fd: u32| std::fs::read_link(format!("/proc/{}/fd/{fd}", server.child.id())).unwrap();
    assert_eq!(link(0).to_str(), Some("/dev/null"));
    assert_eq!(link(1), link(2), "descriptor 1 is standard error");
}

// Shows: one-line
#[test]
fn tool_output_cannot_break_a_line() {
    let project =
        Project::new().tool("odd", "#!/bin/sh\nprintf 'a\\nb\\r\\nc\\000d\\377e\\033[0m\\342\\200\\250'\n");
    let mut server = Server::ready(project.root());
    server.call(1, "odd");
    let text = server.receive()["result"]["content"][0]["text"].clone();
    assert_eq!(text, "a\nb\r\nc\u{0}d\u{fffd}e\u{1b}[0m\u{2028}");
}

#[test]
fn a_client_that_never_reads_standard_error_cannot_stop_the_server() {
    let project = Project::with_hi();
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root()).env("MCPBASH_LOG_LEVEL", "debug");
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let unread = child.stderr.take();
    let mut input = child.stdin.take().unwrap();
    let output = child.stdout.take().unwrap();
    std::thread::spawn(move || {
        for _ in 0..5000 {
            writeln!(input, "this is refused and logged").unwrap();
        }
    });
    assert_eq!(BufReader::new(output).lines().count(), 5000);
    assert!(child.wait().unwrap().success());
    drop(unread);
}

#[test]
fn a_standard_output_that_cannot_be_written_is_an_error() {
    let project = Project::with_hi();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    for (redirection, told) in [
        (">&-", "standard output cannot be written: it is closed"),
        ("1</dev/null", "standard output cannot be written: it is open only for reading"),
        (">/dev/full", "an answer could not be written"),
    ] {
        let mut command = Server::command_of("sh");
        command.arg("-c").arg(format!(r#"echo "$HELLO" | "$BINARY" --project-root "$ROOT" {redirection}"#));
        command.env("HELLO", hello).env("BINARY", env!("CARGO_BIN_EXE_mcp-bash")).env("ROOT", project.root());
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{redirection}: {stderr}");
        assert!(stderr.contains(told), "{redirection}: {stderr}");
    }
}

#[test]
fn a_user_may_throw_the_answers_away() {
    let project = Project::with_hi();
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root());
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
    assert!(command.status().unwrap().success());
}
