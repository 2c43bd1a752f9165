//! Unusual environments: limits, signals, folders. The server works, or names what is missing.

use crate::harness::{Project, Server, exists, lines, request, wait_until_asleep};
use serde_json::{Value, json};
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// A server started by a shell that has changed its own state first.
fn server_after(preparation: &str, project: &Project, temporary: &Path) -> Server {
    Server::spawn(command_after(preparation, project, temporary))
}

fn command_after(preparation: &str, project: &Project, temporary: &Path) -> Command {
    let mut command = Command::new("bash");
    command
        .args(["-c", &format!("{preparation}\nexec \"$0\" --project-root \"$1\"")])
        .arg(env!("CARGO_BIN_EXE_mcp-bash"))
        .arg(project.root())
        .env("TMPDIR", temporary)
        .env("MCPBASH_LOG_LEVEL", "emergency");
    command
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// Plain calls, and one that reports progress and asks.
fn serves(server: &mut Server) {
    server.initialize_offering("2025-11-25", &json!({ "elicitation": {} }));
    for id in 1..=3 {
        server.call(id, "hi");
        assert_eq!(text(&server.receive()), "hi");
    }
    server.request(4, "tools/call", &json!({ "name": "asks", "_meta": { "progressToken": "t" } }));
    assert_eq!(server.receive()["params"]["progressToken"], "t");
    let question = server.receive();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    server.reply(&question, &json!({ "action": "accept", "content": {} }));
    assert_eq!(text(&server.receive()), r#"{"result":{"action":"accept","content":{}}}"#);
}

fn project() -> Project {
    let script = "#!/bin/sh\necho '{\"method\":\"notifications/progress\",\"params\":{\"progress\":1}}' >$MCP_PROGRESS_STREAM\n(echo $MCP_ASK_SOCKET >socket) 2>/dev/null\n%BIN% ask elicitation/create '{\"message\":\"?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}' --timeout 600\n";
    Project::with_hi().tool("asks", &script.replace("%BIN%", env!("CARGO_BIN_EXE_mcp-bash")))
}

#[test]
fn with_sigchld_ignored() {
    let temporary = tempfile::tempdir().unwrap();
    let project = project();
    let mut server = server_after("trap '' CHLD", &project, temporary.path());
    serves(&mut server);
    server.finish();
}

#[test]
fn with_a_file_size_limit_of_zero() {
    let temporary = tempfile::tempdir().unwrap();
    let project = project();
    // The SDK from the cache is enough.
    assert!(Server::command().arg("sdk-path").output().unwrap().status.success());
    let mut server = server_after("ulimit -f 0", &project, temporary.path());
    serves(&mut server);
    server.finish();
    assert_eq!(temporary.path().read_dir().unwrap().count(), 0);
}

#[test]
fn with_a_file_size_limit_of_zero_and_no_sdk() {
    let (temporary, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let project = project();
    let mut command = command_after("ulimit -f 0", &project, temporary.path());
    command.env("XDG_CACHE_HOME", cache.path());
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    server.call(1, "hi");
    let refused = server.receive()["error"]["message"].to_string();
    assert!(refused.contains("the SDK cannot be laid out: File too large"), "{refused}");
    server.finish();
    assert_eq!(temporary.path().read_dir().unwrap().count(), 0);
}

#[test]
fn with_a_deeply_nested_temporary_folder() {
    let temporary = tempfile::tempdir().unwrap();
    let deep = temporary.path().join("d".repeat(60)).join("e".repeat(60)).join("f".repeat(60));
    std::fs::create_dir_all(&deep).unwrap();
    let project = project();
    let mut server = server_after("", &project, &deep);
    serves(&mut server);
    let socket = project.read("socket");
    let socket = Path::new(socket.trim_end());
    assert!(socket.exists() && !socket.starts_with(&deep), "{}", socket.display());
    server.finish();
    assert_eq!(deep.read_dir().unwrap().count(), 0);
    assert!(!socket.parent().unwrap().exists(), "the folder with the short path is gone too");
}

#[test]
fn with_few_descriptors() {
    let project = project();
    for limit in [6, 8, 12, 20, 40] {
        let temporary = tempfile::tempdir().unwrap();
        let preparation = format!("ulimit -n {limit}");
        let output = command_after(&preparation, &project, temporary.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{limit}: {said}");
        assert!(said.contains("ulimit -n") && !said.contains("panicked"), "{limit}: {said}");
        assert_eq!(temporary.path().read_dir().unwrap().count(), 0, "{limit}");
    }
    // Enough for some concurrent calls, but not for all of these.
    let temporary = tempfile::tempdir().unwrap();
    let mut server = server_after("ulimit -n 70", &project, temporary.path());
    server.initialize_offering("2025-11-25", &json!({ "elicitation": {} }));
    for id in 1..=40 {
        server.request(id, "tools/call", &json!({ "name": "hi", "_meta": { "progressToken": id } }));
    }
    let mut ids: Vec<u64> = (1..=40).map(|_| server.receive()["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=40).collect::<Vec<_>>());
    server.call(41, "hi");
    assert_eq!(text(&server.receive()), "hi");
    server.finish();
    assert_eq!(temporary.path().read_dir().unwrap().count(), 0, "the folder is gone");
}

/// The limit counts all processes of a user, and does not apply to root; so this runs as another user, who
/// runs nothing else.
#[test]
fn with_few_processes() {
    let hello = json!({ "protocolVersion": "2025-11-25" });
    let mut messages = vec![request(0, "initialize", &hello)];
    messages.extend((1..=4).map(|id| request(id, "tools/call", &json!({ "name": "hi" }))));
    // The input is a file, so that it can be read whether or not the server gets that far.
    let project = project().file("session", &String::from_utf8(lines(&messages)).unwrap());
    std::fs::set_permissions(project.root(), PermissionsExt::from_mode(0o755)).unwrap();
    let is_root = rustix::process::geteuid().is_root();
    let nobody = if is_root { "setpriv --reuid=64999 --regid=64999 --clear-groups" } else { "" };
    for limit in 1..=12 {
        let temporary = tempfile::tempdir().unwrap();
        std::fs::set_permissions(temporary.path(), PermissionsExt::from_mode(0o777)).unwrap();
        let mut command = Command::new("bash");
        command
            .args(["-c", &format!("exec {nobody} bash -c 'ulimit -u {limit}; exec \"$0\" --project-root \"$1\"' \"$0\" \"$1\"")])
            .arg(env!("CARGO_BIN_EXE_mcp-bash"))
            .arg(project.root())
            .env("TMPDIR", temporary.path())
            .stdin(File::open(project.path("session")).unwrap());
        let output = command.output().unwrap();
        let mut ids: Vec<u64> = output
            .stdout
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice::<Value>(line).unwrap())
            .filter_map(|message| message["id"].as_u64())
            .collect();
        ids.sort_unstable();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("panicked"), "{limit}: {said}");
        if output.status.success() {
            assert_eq!(ids, [0, 1, 2, 3, 4], "{limit}: each is answered once: {said}");
        } else {
            assert!(said.contains("ulimit -u"), "{limit}: {said}");
        }
        assert_eq!(temporary.path().read_dir().unwrap().count(), 0, "{limit}: {said}");
    }
}

/// A shell that execs the server passes on its background children, which must not be killed as leftovers.
#[test]
fn with_children_inherited_from_the_shell() {
    let temporary = tempfile::tempdir().unwrap();
    let project =
        Project::new().tool("leaver", "#!/bin/sh\n(sleep 1000 &)\n(setsid env -i sleep 1000 &)\necho hi\n");
    let preparation =
        format!("sleep 1000 </dev/null >/dev/null 2>&1 & echo $! >{}/before", project.root().display());
    let mut server = server_after(&preparation, &project, temporary.path());
    server.initialize("2025-11-25");
    for id in 1..=3 {
        server.call(id, "leaver");
        assert_eq!(text(&server.receive()), "hi");
    }
    let before: u32 = project.read("before").trim().parse().unwrap();
    wait_until_asleep(server.child.id());
    assert!(exists(before), "it goes on");
    server.finish();
    assert!(exists(before), "and outlives us");
    let pid = rustix::process::Pid::from_raw(before.cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}
