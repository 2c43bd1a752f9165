//! Every command exits on a signal, no matter what it waits for: a reader, a script, or a file that never
//! arrives.

use crate::harness::{Project, Server, make_pipe, wait_until, wait_until_asleep, wait_until_gone};
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};

/// More than a pipe holds.
const MUCH: usize = 300_000;

fn start(project: &Project, words: &[&str]) -> Child {
    let mut command: Command = Server::command();
    command.args(words).current_dir(project.root());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary runs")
}

/// The exit status of a command that receives a signal while its output is not read.
fn end(mut command: Child, signal: Signal) -> ExitStatus {
    let pid = Pid::from_child(&command);
    kill_process(pid, signal).expect("a process");
    wait_until("the command to end", || command.try_wait().expect("a child"))
}

#[test]
fn a_command_with_unread_output_exits_on_a_signal() {
    let much = "x".repeat(MUCH);
    let project = Project::new()
        .tool("big", &format!("#!/bin/sh\nhead -c {MUCH} /dev/zero | tr '\\0' x\n"))
        .script("tools/told.sh", "#!/bin/sh\necho told\n")
        .file("tools/told.meta.json", &format!(r#"{{"name": "told", "description": "{much}"}}"#))
        .file("resources/big.txt", &much)
        .file("prompts/big.md", &much)
        .file("prompts/big.meta.json", r#"{"name": "big"}"#);
    let uri = format!("file://{}", project.path("resources/big.txt").canonicalize().unwrap().display());
    for words in [
        &["call", "big"][..],
        &["run-tool", "big"],
        &["list", "tools", "--json"],
        &["read", &uri],
        &["get", "big"],
    ] {
        for signal in [Signal::TERM, Signal::INT] {
            let command = start(&project, words);
            wait_until_asleep(command.id());
            let status = end(command, signal);
            assert_eq!(status.code(), Some(130), "{words:?}: {status}");
        }
    }
}

#[test]
fn a_report_to_an_unread_pipe_does_not_block_exit() {
    let project =
        Project::with_hi().file("tools/hi/tests/hi.yaml", "- name: says hi\n  expect: { text: hi }\n");
    make_pipe(&project.path("report"), 0o600);
    let command = start(&project, &["test", "--junit", "report"]);
    wait_until_asleep(command.id());
    assert_eq!(end(command, Signal::TERM).code(), Some(130));
}

/// No signal is caught while a project is read: the kernel terminates the command, and the warden its child
/// processes.
#[test]
fn a_command_that_waits_for_a_project_script_exits_on_a_signal() {
    for words in [
        &["validate"][..],
        &["doctor"],
        &["health"],
        &["list"],
        &["test"],
        &["call", "x"],
        &["run-tool", "x"],
        &["registry", "refresh"],
        &["dev", "--client"],
    ] {
        for signal in [Signal::TERM, Signal::INT] {
            let project = Project::new().gate().script(
                "tools/many",
                "#!/bin/sh\n# tells of its inputSchema\necho $$ >>started\nread _ <gate\n",
            );
            let command = start(&project, words);
            let pids = project.wait_for_started(1);
            let status = end(command, signal);
            assert!(
                status.signal() == Some(signal.as_raw()) || status.code().is_some(),
                "{words:?}: {status}"
            );
            pids.into_iter().for_each(wait_until_gone);
        }
    }
}

#[test]
fn a_server_that_does_not_exit_does_not_block_its_command() {
    let project = Project::new().gate();
    let server = r#"trap '' TERM INT
echo $$ >>started
read -r _
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}'
while :; do read _ <gate; done
"#;
    let project = project.file("server.sh", server);
    let command = start(&project, &["call", "x", "--command", "bash server.sh"]);
    let pids = project.wait_for_started(1);
    wait_until_asleep(command.id());
    assert_eq!(end(command, Signal::TERM).code(), Some(130));
    pids.into_iter().for_each(wait_until_gone);
}
