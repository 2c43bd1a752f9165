//! `HUP` opens the log files again, while calls go on. Only a terminal that is gone ends a server by it.

use crate::harness::http::HttpServer;
use crate::harness::{Project, Server, Terminal, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn project() -> Project {
    Project::new().waiting_tool("wait").tool("fails", "#!/bin/sh\necho 'not today' >&2\nexit 7\n")
}

fn hang_up(pid: u32) {
    let pid = Pid::from_raw(pid.try_into().unwrap()).unwrap();
    kill_process(pid, Signal::HUP).unwrap();
}

/// Whether a process has a handler for the signal, which the kernel shows as the lowest bit of a mask.
fn handles_hang_up(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// The messages of the events in a log file, each line of which is whole.
fn messages(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let message = |line: &str| {
        let event: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        event["message"].as_str().unwrap().to_owned()
    };
    text.lines().map(message).collect()
}

fn wait_for_message(file: &Path, message: &str) {
    wait_until(message, || messages(file).iter().any(|known| known == message).then_some(()));
}

#[test]
fn log_files_are_rotated_while_a_call_goes_on() {
    let (project, elsewhere) = (project(), Project::new());
    let folder = elsewhere.path("logs");
    let environment = [("MCPBASH_LOG_DIR", folder.to_str().unwrap())];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    server.call(1, "wait");
    project.wait_for_started(1);
    server.call(2, "fails");
    while server.receive()["id"] != 2 {}
    let names = ["mcp-bash.log", "script-output.log"].map(|name| folder.join(name));
    for (round, name) in ["first", "second"].into_iter().enumerate() {
        let old = names.clone().map(|path| path.with_extension(name));
        for (path, old) in names.iter().zip(&old) {
            fs::rename(path, old).unwrap();
        }
        let before = old.clone().map(|path| fs::read(path).unwrap());
        hang_up(server.child.id());
        wait_for_message(&names[0], "log files opened again");
        server.call(10 + round, "fails");
        while server.receive()["id"] != 10 + round {}
        wait_for_message(&names[0], "a call failed");
        wait_for_message(&names[1], "a tool wrote to standard error");
        assert_eq!(old.map(|path| fs::read(path).unwrap()), before, "nothing follows in the old files");
        for path in &names {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
    project.open_gate();
    let answer = wait_until("the answer", || Some(server.receive()).filter(|message| message["id"] == 1));
    assert_eq!(answer["result"]["content"][0]["text"], "went", "{answer}");
    server.finish();
}

#[test]
fn a_server_over_http_opens_its_log_again() {
    let (project, elsewhere) = (project(), Project::new());
    let file = elsewhere.path("server.log");
    let server = HttpServer::start_with(project.root(), &["--log-file", file.to_str().unwrap()], &[]);
    let mut http = server.connect();
    http.send(&crate::harness::http::stateless(1, "tools/call", &json!({ "name": "wait" })));
    project.wait_for_started(1);
    fs::rename(&file, elsewhere.path("server.log.1")).unwrap();
    hang_up(server.pid());
    wait_for_message(&file, "log files opened again");
    project.open_gate();
    assert_eq!(http.response().json()["result"]["content"][0]["text"], "went");
    server.expect_service();
    server.finish();
}

#[test]
fn a_log_file_that_cannot_be_opened_again_is_written_to_as_before() {
    let (project, elsewhere) = (project(), Project::new());
    let (file, moved) = (elsewhere.path("server.log"), elsewhere.path("server.log.1"));
    let server = HttpServer::start_with(project.root(), &["--log-file", file.to_str().unwrap()], &[]);
    // Others could read the new file, or it is none.
    let failed = "a log file cannot be opened again, and is written to as before";
    fs::rename(&file, &moved).unwrap();
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    hang_up(server.pid());
    wait_for_message(&moved, failed);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    hang_up(server.pid());
    wait_until("a second message", || {
        (messages(&moved).iter().filter(|message| *message == failed).count() == 2).then_some(())
    });
    fs::remove_dir(&file).unwrap();
    hang_up(server.pid());
    wait_for_message(&file, "log files opened again");
    server.expect_service();
    server.finish();
}

#[test]
fn a_server_without_a_log_file_goes_on() {
    let project = project();
    let mut server = Server::ready(project.root());
    for _ in 0..3 {
        hang_up(server.child.id());
        assert_eq!(server.ask(1, "ping", &json!({}))["result"], json!({}));
    }
    server.finish();
}

#[test]
fn a_terminal_that_is_gone_ends_a_server_and_a_signal_alone_does_not() {
    let (project, elsewhere) = (project(), Project::new());
    let file = elsewhere.path("server.log");
    for http in [&[][..], &["--http", "127.0.0.1:0"]] {
        let mut command = Server::command();
        command.arg("serve").arg(project.root()).arg("--log-file").arg(&file).args(http);
        let terminal = Terminal::of_columns(80);
        let (mut server, screen) = terminal.start_unread(&command);
        wait_until("the server to handle the signal", || handles_hang_up(server.id()).then_some(()));
        hang_up(server.id());
        wait_for_message(&file, "log files opened again");
        drop(screen);
        let status = wait_until("the server to end", || server.try_wait().unwrap());
        // Over HTTP everything is answered first; over standard streams, the end of the input may be noticed first.
        assert!(matches!(status.code(), Some(0 | 129)), "{status}");
        fs::remove_file(&file).unwrap();
    }
}
