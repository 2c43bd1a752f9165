//! Sinks besides files: syslog, the journal and standard error.

use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

/// Calls a tool while a receiver listens, and returns the datagrams.
fn datagrams(name: &str) -> Vec<String> {
    let project = Project::with_hi().file("run/.keep", "");
    let path = project.path("run/socket");
    let receiver = UnixDatagram::bind(&path).expect("a socket");
    receiver.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let destination = format!("{name}:{}", path.display());
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_AUDIT", &destination)], "2025-11-25");
    server.ask_past_news(1, "tools/call", &json!({ "name": "hi" }));
    let mut bytes = vec![0; 1 << 16];
    let mut receive = || {
        let count = receiver.recv(&mut bytes).expect("a datagram");
        String::from_utf8(bytes[..count].to_vec()).expect("text")
    };
    let lines = vec![receive(), receive()];
    server.finish();
    lines
}

#[test]
fn syslog_receives_a_message_for_each_record() {
    let messages = datagrams("syslog");
    for (message, name) in messages.iter().zip(["mcp.server.start", "mcp.tools.call"]) {
        let (head, json) = message.split_once(" audit - ").expect("a message of RFC 5424");
        assert!(head.starts_with("<86>1 ") && head.contains(" mcp-bash "), "{head}");
        let record: Value = serde_json::from_str(json).expect("JSON");
        assert_eq!(record["event.name"], name);
    }
}

#[test]
fn the_journal_receives_fields() {
    let messages = datagrams("journal");
    let fields: Vec<&str> = messages[1].lines().collect();
    let record: Value =
        serde_json::from_str(fields[0].strip_prefix("MESSAGE=").expect("a field")).expect("JSON");
    assert_eq!(record["gen_ai.tool.name"], "hi");
    assert!(
        fields.contains(&"SYSLOG_IDENTIFIER=mcp-bash") && fields.contains(&"MCP_AUDIT_SEQ=2"),
        "{fields:?}"
    );
}

#[test]
fn standard_error_receives_lines_between_those_of_the_log() {
    let project = Project::with_hi();
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_AUDIT", "stderr")], "2025-11-25");
    server.ask_past_news(1, "tools/call", &json!({ "name": "hi" }));
    let text = server.finish();
    let seqs: Vec<u64> =
        text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()?["seq"].as_u64()).collect();
    assert_eq!(seqs, [1, 2, 3], "{text}");
}

#[test]
fn a_receiver_that_is_missing_refuses_calls() {
    let project = Project::with_hi();
    let destination = format!("syslog:{}", project.path("none").display());
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_AUDIT", &destination)], "2025-11-25");
    let answer = server.ask_past_news(1, "tools/call", &json!({ "name": "hi" }));
    let message = answer["error"]["message"].as_str().expect("an error");
    assert!(message.contains("cannot be reached"), "{message}");
    server.finish();
}

#[test]
fn a_sink_that_cannot_be_durable_is_refused_in_words() {
    let project = Project::with_hi();
    for place in ["syslog", "journal", "stderr"] {
        for command in [&["serve"][..], &["call", "hi"]] {
            let output = Server::command()
                .args(command)
                .arg("--project-root")
                .arg(project.root())
                .envs([("MCPBASH_AUDIT", place), ("MCPBASH_AUDIT_DURABLE", "true")])
                .output()
                .expect("it runs");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success(), "{place} {command:?}");
            assert!(said.contains(&format!("`{place}` cannot be made durable: name a file")), "{said}");
        }
    }
}
