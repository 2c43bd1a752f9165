//! Durability: a project can have its lines made durable, and cannot weaken what the operator has set.

use super::{Audited, records};
use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::fs;

/// A project with these settings in its `server.meta.json`.
fn project(settings: &Value) -> Project {
    let meta = json!({ "name": "p", "settings": settings }).to_string();
    Project::with_hi().file("server.d/server.meta.json", &meta)
}

#[test]
fn a_line_is_on_the_disk_before_its_answer_if_the_project_says_so() {
    for is_durable in [true, false] {
        let audited = Audited::new(project(&json!({ "auditDurable": is_durable })));
        let trace = audited.folder.path().join("trace");
        let mut command = Server::command_of("strace");
        command.args([
            "-f",
            "-qq",
            "-y",
            "-s",
            "4096",
            "-e",
            "trace=write,writev,sendto,sendmsg,fdatasync,fsync",
        ]);
        command.arg("-o").arg(&trace).arg(env!("CARGO_BIN_EXE_mcp-bash"));
        command.arg("--project-root").arg(audited.project.root()).env("MCPBASH_AUDIT", audited.log());
        let mut server = Server::spawn(command);
        server.initialize("2025-11-25");
        server.ask_past_news("the-call", "tools/call", &json!({ "name": "hi", "arguments": {} }));
        server.finish();
        let trace = fs::read_to_string(trace).unwrap();
        let lines: Vec<&str> = trace.lines().collect();
        let is_of_log = |line: &str| line.contains("audit.jsonl>");
        let find = |what: &str, is_it: &dyn Fn(&str) -> bool| {
            lines.iter().position(|line| is_it(line)).unwrap_or_else(|| panic!("{what}: {trace}"))
        };
        let written = find("the line", &|line| {
            is_of_log(line) && line.contains("mcp.tools.call") && line.contains("outcome")
        });
        let answered = find("the answer", &|line| !is_of_log(line) && line.contains("the-call"));
        assert!(written < answered, "{trace}");
        // A call that another thread interrupts in the trace has a second line, with its result.
        let is_synced = lines[written..answered].iter().any(|line| {
            (line.contains("fdatasync(") && is_of_log(line) || line.contains("fdatasync resumed"))
                && line.trim_end().ends_with("= 0")
        });
        assert_eq!(is_synced, is_durable, "{trace}");
    }
}

/// Whether the server makes lines durable: then a call has a line about its beginning too.
fn is_durable(settings: &Value, environment: &[(&str, &str)]) -> bool {
    let audited = Audited::new(project(settings));
    let mut server = audited.start(environment);
    server.ask_past_news(1, "tools/call", &json!({ "name": "hi" }));
    server.finish();
    let records = records(&audited.log());
    assert!(records.iter().any(|record| record["event.name"] == "mcp.tools.call"));
    records.iter().any(|record| record["event.name"] == "mcp.begun")
}

#[test]
fn the_operator_decides_before_the_project() {
    let set = |value: &'static str| [("MCPBASH_AUDIT_DURABLE", value)];
    assert!(is_durable(&json!({ "auditDurable": true }), &[]));
    assert!(is_durable(&json!({ "MCPBASH_AUDIT_DURABLE": "true" }), &[]));
    assert!(is_durable(&json!({ "auditDurable": true }), &set("")), "set to nothing is not set");
    assert!(is_durable(&json!({ "auditDurable": false }), &set("true")));
    assert!(!is_durable(&json!({ "auditDurable": true }), &set("false")));
    assert!(!is_durable(&json!({}), &[]));
}

#[test]
fn a_project_cannot_change_what_else_the_log_has() {
    let settings = json!({
        "audit": "off", "auditArguments": "none", "auditOnError": "continue", "auditMaxBytes": 4096,
        "auditMaxAgeHours": 1, "auditKeepFiles": 1,
    });
    let audited = Audited::new(project(&settings));
    let mut server = audited.start(&[]);
    for id in 0..20 {
        server.ask_past_news(id, "tools/call", &json!({ "name": "hi" }));
    }
    let log = server.finish();
    let calls = audited.requests();
    assert_eq!(calls.len(), 20, "it was not rotated");
    assert!(calls.iter().all(|call| call["arguments.hash"].is_string()), "{calls:?}");
    for name in [
        "AUDIT",
        "AUDIT_ARGUMENTS",
        "AUDIT_ON_ERROR",
        "AUDIT_MAX_BYTES",
        "AUDIT_MAX_AGE_HOURS",
        "AUDIT_KEEP_FILES",
    ] {
        assert!(log.contains(&format!("set the variable MCPBASH_{name} where")), "{name}: {log}");
    }
    // With `continue`, the calls would go on.
    let audited = Audited::new(project(&settings));
    fs::write(audited.log(), "no audit log\n").unwrap();
    let mut server = audited.start(&[]);
    let answer = server.ask_past_news(1, "tools/call", &json!({ "name": "hi" }));
    assert!(answer["error"].is_object(), "{answer}");
    server.finish();
}
