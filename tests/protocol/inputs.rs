//! Standard input can be anything: a pipe, a socket, a terminal, a file, nothing.

use crate::harness::{Project, Server};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Write, pipe};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::thread;

/// A whole session, with a call whose argument is larger than a pipe and than one read.
fn session() -> String {
    let long = "x".repeat(300_000);
    [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"count","arguments":{{"text":"{long}"}}}}}}"#
        ),
        r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#.to_owned(),
    ]
    .map(|line| line + "\n")
    .concat()
}

fn project() -> Project {
    Project::new().tool("count", "#!/bin/sh\nwc -c\n")
}

/// The server's answers to this input, by id.
fn answers(project: &Project, input: impl Into<Stdio>) -> Vec<Value> {
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root()).stdin(input).stderr(Stdio::null());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut answers: Vec<Value> = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
    answers.retain(|answer| answer.get("id").is_some());
    answers.sort_by_key(|answer| answer["id"].as_u64());
    answers
}

fn assert_is_whole_session(answers: &[Value]) {
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].as_u64()).collect();
    assert_eq!(ids, [Some(0), Some(1), Some(2)]);
    // The text, and the 11 bytes around it.
    assert_eq!(answers[1]["result"]["content"][0]["text"], "300011");
}

#[test]
fn a_file() {
    let project = project();
    let path = project.root().join("session");
    fs::write(&path, session()).unwrap();
    assert_is_whole_session(&answers(&project, File::open(path).unwrap()));
}

#[test]
fn a_pipe() {
    let (reading, mut writing) = pipe().unwrap();
    let client = thread::spawn(move || writing.write_all(session().as_bytes()).unwrap());
    assert_is_whole_session(&answers(&project(), reading));
    client.join().unwrap();
}

#[test]
fn a_socket() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let client = thread::spawn(move || {
        theirs.write_all(session().as_bytes()).unwrap();
        theirs.shutdown(Shutdown::Write).unwrap();
    });
    assert_is_whole_session(&answers(&project(), OwnedFd::from(ours)));
    client.join().unwrap();
}

#[test]
fn a_terminal() {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let path = ptsname(&master, Vec::new()).unwrap();
    let terminal = File::options().read(true).write(true).open(path.to_str().unwrap()).unwrap();
    let mut typed = File::from(master);
    // Several lines are available at once, and a terminal returns one at a time; then end of file.
    let ping = |id: u32| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
    typed.write_all((ping(1) + &ping(2) + &ping(3) + "\x04").as_bytes()).unwrap();
    assert_eq!(answers(&project(), terminal).len(), 3);
    drop(typed);
}

#[test]
fn nothing() {
    assert_eq!(answers(&project(), Stdio::null()), [] as [Value; 0]);
}
