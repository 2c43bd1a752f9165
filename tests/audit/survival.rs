//! Survival: the log of a server that is killed, of several servers at once, on a full disk, and rotated.

use super::{Audited, audit, records};
use crate::harness::http::HttpServer;
use crate::harness::metrics::{gauge, get, metrics_address};
use crate::harness::{Project, Server, wait_until};
use rustix::process::{Signal, getuid};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How often each id of a request is recorded.
fn counts(records: &[Value]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let ended = records.iter().filter(|record| record["event.name"] != "mcp.begun");
    for id in ended.filter_map(|record| record["jsonrpc.request.id"].as_str()) {
        *counts.entry(id.to_owned()).or_default() += 1;
    }
    counts
}

#[test]
fn every_answered_call_is_in_the_log_of_a_killed_server() {
    for settings in [&[][..], &[("MCPBASH_AUDIT_DURABLE", "true")]] {
        let audited = Audited::new(Project::with_hi());
        let mut answered = Vec::new();
        for round in 0..3 {
            let mut server = audited.start(settings);
            for call in 0..40 {
                server.request(format!("{round}-{call}"), "tools/call", &json!({ "name": "hi" }));
            }
            while answered.len() < (round + 1) * 20 {
                let message = server.receive();
                answered.extend(message["id"].as_str().map(|id| format!("\"{id}\"")));
            }
            server.signal(Signal::KILL);
            server.wait();
        }
        audited.start(settings).finish();
        let mut server = audited.start(settings);
        server.ask_past_news("last", "tools/call", &json!({ "name": "hi" }));
        server.finish();
        let counts = counts(&audited.requests());
        for id in &answered {
            assert_eq!(counts.get(id), Some(&1), "{id}");
        }
        assert!(counts.values().all(|count| *count == 1));
        let said = audited.verify();
        assert_eq!(said.code, 0, "{said:?}");
    }
}

#[test]
fn several_servers_write_one_chain_and_rotate_it() {
    let audited = Audited::new(Project::with_hi());
    let settings = [("MCPBASH_AUDIT_MAX_BYTES", "8192"), ("MCPBASH_AUDIT_KEEP_FILES", "100")];
    let mut servers: Vec<Server> = (0..3).map(|_| audited.start(&settings)).collect();
    for call in 0..20 {
        for (number, server) in servers.iter_mut().enumerate() {
            server.request(format!("{number}-{call}"), "tools/call", &json!({ "name": "hi" }));
        }
    }
    for server in &mut servers {
        for _ in 0..20 {
            server.receive();
        }
    }
    for server in servers {
        drop(server.finish());
    }
    let said = audited.verify();
    assert_eq!(said.code, 0, "{said:?}");
    let files = fs::read_dir(audited.folder.path()).unwrap().filter_map(|entry| entry.unwrap().path().into());
    let files: Vec<PathBuf> = files.collect::<Vec<PathBuf>>();
    let logs = files
        .iter()
        .filter(|path| !path.to_string_lossy().ends_with("lock") && !path.to_string_lossy().ends_with("key"));
    let all: Vec<Value> = logs.flat_map(|path| records(path)).collect();
    let counts = counts(&all);
    assert!(counts.len() == 60 && counts.values().all(|count| *count == 1), "{counts:?}");
    assert!(files.len() > 4, "it was rotated: {files:?}");
}

#[test]
fn a_log_that_logrotate_moves_goes_on_in_a_new_file() {
    let audited = Audited::new(Project::with_hi());
    let mut server = audited.start(&[]);
    server.ask_past_news(1, "tools/call", &json!({ "name": "hi" }));
    let moved = audited.folder.path().join("audit.jsonl-20260101");
    fs::rename(audited.log(), &moved).unwrap();
    server.signal(Signal::HUP);
    server.ask_past_news(2, "tools/call", &json!({ "name": "hi" }));
    server.finish();
    assert!(audited.log().exists());
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let said = audit(&["verify", &text(&audited.log()), &text(&moved)]);
    assert_eq!(said.code, 0, "{said:?}");
}

/// The server in a mount namespace in which `folder` is a disk of 64 kilobytes.
fn command_on_small_disk(folder: &Path) -> Command {
    let mut command = Server::command_of("unshare");
    command.args(if getuid().is_root() { &["--mount"][..] } else { &["--map-root-user", "--mount"] });
    let mount = "mount -t tmpfs -o size=64k,mode=700 disk \"$0\" && exec \"$@\"";
    command.args(["sh", "-c", mount]).arg(folder).arg(env!("CARGO_BIN_EXE_mcp-bash"));
    command
}

fn seen_by(pid: u32, folder: &Path) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/root")).join(folder.strip_prefix("/").expect("an absolute path"))
}

#[test]
fn a_full_disk_stops_calls_until_there_is_room() {
    for durable in ["false", "true"] {
        let outer = Project::with_hi().file("disk/.keep", "");
        let (disk, log) = (outer.path("disk"), outer.path("disk/audit.jsonl"));
        let mut command = command_on_small_disk(&disk);
        command
            .arg("serve")
            .arg(outer.root())
            .env("MCPBASH_AUDIT", &log)
            .env("MCPBASH_AUDIT_DURABLE", durable);
        let mut server = Server::spawn(command);
        server.initialize("2025-11-25");
        let call =
            |server: &mut Server, id: &str| server.ask_past_news(id, "tools/call", &json!({ "name": "hi" }));
        assert!(call(&mut server, "first").get("result").is_some());
        let seen = seen_by(server.child.id(), &disk);
        let _ = fs::write(seen.join("filler"), vec![0; 128 * 1024]);
        let mut number = 0;
        let refused = wait_until("a refusal", || {
            number += 1;
            let answer = call(&mut server, &format!("n{number}"));
            answer["error"]["message"].as_str().map(str::to_owned)
        });
        assert!(refused.contains("the audit log cannot be written"), "{refused}");
        assert!(
            refused.contains("No space left on device") && refused.contains("MCPBASH_AUDIT_ON_ERROR"),
            "{refused}"
        );
        fs::remove_file(seen.join("filler")).unwrap();
        assert!(call(&mut server, "after").get("result").is_some());
        let text = fs::read_to_string(seen.join("audit.jsonl")).unwrap();
        let copy = outer.path("copy.jsonl");
        fs::write(&copy, text).unwrap();
        server.finish();
        let recorded = records(&copy);
        let counts = counts(&recorded);
        assert!((1..=number).all(|number| counts.get(&format!("\"n{number}\"")) == Some(&1)), "{counts:?}");
        assert_eq!((counts.get("\"first\""), counts.get("\"after\"")), (Some(&1), Some(&1)));
        let said = audit(&["verify", copy.to_str().unwrap()]);
        assert_eq!(said.code, 0, "{said:?}");
    }
}

#[test]
fn a_full_disk_shows_in_readiness_and_metrics_and_calls_go_on_where_they_are_to() {
    for (on_error, readiness) in [("continue", 200), ("refuse", 503)] {
        let outer = Project::with_hi().file("disk/.keep", "");
        let (disk, log) = (outer.path("disk"), outer.path("disk/audit.jsonl"));
        let arguments = ["--metrics", "127.0.0.1:0", "--audit", log.to_str().unwrap()];
        let environment = [("MCPBASH_AUDIT_ON_ERROR", on_error)];
        let server =
            HttpServer::start_by(command_on_small_disk(&disk), outer.root(), &arguments, &environment);
        let metrics = metrics_address(&server);
        server.ask("tools/call", &json!({ "name": "hi" }));
        let seen = seen_by(server.child.id(), &disk);
        let _ = fs::write(seen.join("filler"), vec![0; 128 * 1024]);
        wait_until("a record that cannot be written", || {
            server.ask("tools/call", &json!({ "name": "hi" }));
            (gauge(metrics, "mcp_server_audit_broken") == 1).then_some(())
        });
        let answer = server.ask("tools/call", &json!({ "name": "hi" }));
        assert_eq!(answer.get("result").is_some(), on_error == "continue", "{answer}");
        assert_eq!(get(metrics, "/readyz", "*/*").status, readiness);
        fs::remove_file(seen.join("filler")).unwrap();
        assert!(server.ask("tools/call", &json!({ "name": "hi" })).get("result").is_some());
        assert_eq!(get(metrics, "/readyz", "*/*").status, 200);
        assert_eq!(gauge(metrics, "mcp_server_audit_broken"), 0);
        server.finish();
    }
}

#[test]
fn a_log_that_cannot_be_opened_refuses_the_first_call() {
    let audited = Audited::new(Project::with_hi());
    fs::write(audited.log(), "my notes\n").unwrap();
    let mut server = audited.start(&[]);
    let answer = server.ask_past_news(1, "tools/call", &json!({ "name": "hi" }));
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("is not an audit log"), "{message}");
    let list = server.ask_past_news(2, "tools/list", &json!({}));
    assert!(list.get("result").is_some(), "what is not audited is served");
    server.finish();
    assert_eq!(fs::read_to_string(audited.log()).unwrap(), "my notes\n");
}

#[test]
fn a_call_that_a_killed_server_had_begun_is_in_a_durable_log() {
    let project =
        || Project::with_hi().tool("stuck", "#!/bin/sh\ntouch \"$MCPBASH_PROJECT_ROOT/runs\"\nsleep 60\n");
    for (durable, expected) in [("true", 1), ("false", 0)] {
        let audited = Audited::new(project());
        let mut server = audited.start(&[("MCPBASH_AUDIT_DURABLE", durable)]);
        server.ask_past_news(1, "tools/call", &json!({ "name": "hi" }));
        server.request(2, "tools/call", &json!({ "name": "stuck" }));
        wait_until("the tool", || audited.project.path("runs").exists().then_some(()));
        server.signal(Signal::KILL);
        server.wait();
        let all = records(&audited.log());
        let begun: Vec<&Value> = all.iter().filter(|record| record["event.name"] == "mcp.begun").collect();
        assert_eq!(begun.len(), 2 * expected, "{begun:?}");
        if let [ended, lost] = begun[..] {
            assert_eq!(ended["call.id"], audited.requests()[0]["event.id"]);
            assert_eq!(
                (&lost["gen_ai.tool.name"], &lost["jsonrpc.request.id"]),
                (&Value::from("stuck"), &Value::from("2"))
            );
            assert!(lost["arguments.hash"].is_string() && lost["caller.name"].is_string(), "{lost}");
        }
        let said = audited.verify();
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(said.out.contains("; 1 begun and not ended"), expected == 1, "{said:?}");
    }
}
