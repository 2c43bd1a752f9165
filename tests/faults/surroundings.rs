//! Error messages name the cause: the signal, the option, or the file.

use crate::harness::http::{HttpServer, post};
use crate::harness::{Project, Server, wait_until};
use serde_json::json;
use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

#[test]
fn a_tool_killed_by_a_signal_names_the_signal() {
    let project = Project::new()
        .tool("silent", "#!/bin/sh\nkill -KILL $$\n")
        .tool("loud", "#!/bin/sh\necho words >&2\nkill -SEGV $$\n")
        .tool("fails", "#!/bin/sh\nexit 137\n");
    let mut server = Server::ready(project.root());
    let mut said = |tool: &str| {
        server.ask_past_news("call", "tools/call", &json!({ "name": tool }))["result"]["content"].to_string()
    };
    assert!(said("silent").contains("Tool 'silent' was ended by SIGKILL (9)"), "{}", said("silent"));
    let loud = said("loud");
    assert!(loud.contains("words") && loud.contains("Tool 'loud' was ended by SIGSEGV (11)"), "{loud}");
    assert!(said("fails").contains("Tool 'fails' failed (exit 137)"), "{}", said("fails"));
    server.finish();
}

#[test]
fn a_port_in_use_is_reported_with_the_option_that_names_it() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().map(|address| (address.to_string(), taken)).expect("an address");
    let project = Project::with_hi();
    for (http, metrics, option) in
        [("127.0.0.1:0", &*taken.0, "with `--metrics`"), (&taken.0, "127.0.0.1:0", "with `--http`")]
    {
        let mut command = Server::command();
        command.arg("serve").arg(project.root()).args(["--http", http, "--metrics", metrics]);
        let output = command.output().expect("a process");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(option), "{said}");
    }
}

#[test]
fn an_unwritable_output_is_an_error_and_a_closed_one_is_not() {
    let project = Project::with_hi();
    let full = OpenOptions::new().write(true).open("/dev/full").expect("a device");
    for (output, code) in [(Stdio::from(full), 1), (Stdio::null(), 0)] {
        let mut command = Server::command();
        command.arg("--project-root").arg(project.root());
        command.stdin(Stdio::piped()).stdout(output).stderr(Stdio::piped());
        let mut server = command.spawn().expect("the server starts");
        let mut input = server.stdin.take().expect("a pipe");
        input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").expect("it reads");
        drop(input);
        let output = server.wait_with_output().expect("an end");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert_eq!(said.contains("No space left on device"), code == 1, "{said}");
    }
}

#[test]
fn a_token_file_that_was_emptied_is_logged() {
    let project = Project::with_hi();
    let outer = Project::new();
    let file = outer.path("tokens");
    let mut made = Server::command();
    made.args(["token", "new", "anne"]).env("MCPBASH_HTTP_TOKENS", &file);
    let made = made.output().expect("a process");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("permissions");
    let server = HttpServer::start_with(project.root(), &["--tokens", &file.to_string_lossy()], &[]);
    fs::write(&file, "").expect("a file");
    wait_until("the log to tell", || {
        let refused = server.send(&post(&[("Authorization", "Bearer wrong")], "{}"));
        assert_eq!(refused.status / 100, 4);
        server.log().contains("no token is accepted any more").then_some(())
    });
    server.finish();
}
