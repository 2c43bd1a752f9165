//! How a server exits: in order when its client is done, at once when no client is left.

use crate::harness::http::HttpServer;
use crate::harness::{ONE_AT_A_TIME, Project, Server, exists, request, wait_until, wait_until_gone};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::process::{Command, Stdio};

// Shows: end-of-input
#[test]
fn at_the_end_of_input_running_calls_finish() {
    let project = Project::new().waiting_tool("wait");
    let mut server = Server::ready_with(project.root(), &ONE_AT_A_TIME, "2025-11-25");
    server.call(1, "wait");
    server.call(2, "wait");
    project.wait_for_started(1);
    server.close_input();
    project.open_gate();
    let ids: Vec<_> = server.rest().iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, [json!(1), json!(2)]);
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn at_the_end_of_input_a_call_that_does_not_end_times_out() {
    let project = Project::new().tool("slow", "#!/bin/sh\nsleep 1000\n");
    let mut server = Server::ready(project.root());
    server.request(1, "tools/call", &json!({ "name": "slow", "timeoutSecs": 1 }));
    server.close_input();
    let answers = server.rest();
    assert_eq!(answers[0]["result"]["isError"], true);
    assert_eq!(answers[0]["result"]["structuredContent"]["error"]["type"], "timeout");
    assert_eq!(server.wait().code(), Some(0));
}

// Shows: end-by-signal
#[test]
fn signals_terminate_the_server_and_its_processes_at_once() {
    for (signal, status) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let project = Project::new().waiting_tool("wait");
        let mut server = Server::ready(project.root());
        server.call(1, "wait");
        server.call(2, "wait");
        let pids = project.wait_for_started(2);
        server.signal(signal);
        assert_eq!(server.wait().code(), Some(status));
        assert!(server.rest().iter().all(|message| message.get("id").is_none()), "nothing is answered");
        pids.into_iter().for_each(wait_until_gone);
    }
}

#[test]
fn a_closed_output_ends_the_server_even_without_a_message() {
    let project = Project::new().waiting_tool("wait");
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for message in [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}"#,
    ] {
        use std::io::Write;
        writeln!(input, "{message}").unwrap();
    }
    let pids = project.wait_for_started(1);
    drop(child.stdout.take());
    let status = wait_until("the server to end", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
    wait_until_gone(pids[0]);
    drop(input);
}

#[test]
fn a_dead_parent_ends_the_server_though_its_pipes_stay_open() {
    let project = Project::new().waiting_tool("wait");
    let (fifo, pid_file) = (project.path("in"), project.path("server-pid"));
    // The shell starts the server, prints its process id and exits; the test keeps the pipes open.
    let script = format!(
        "mkfifo {fifo}; {binary} --project-root {root} <{fifo} >{root}/out & echo $! >{pid}; wait",
        fifo = fifo.display(),
        binary = env!("CARGO_BIN_EXE_mcp-bash"),
        root = project.root().display(),
        pid = pid_file.display(),
    );
    let mut shell = Command::new("sh").arg("-c").arg(script).stderr(Stdio::null()).spawn().unwrap();
    let server: u32 = wait_until("the server to start", || project.read("server-pid").trim().parse().ok());
    let mut input = std::fs::OpenOptions::new().write(true).open(&fifo).unwrap();
    {
        use std::io::Write;
        writeln!(
            input,
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"2025-11-25"}}}}"#
        )
        .unwrap();
        writeln!(input, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#).unwrap();
        writeln!(input, r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"wait"}}}}"#)
            .unwrap();
    }
    let pids = project.wait_for_started(1);
    assert!(exists(server));
    shell.kill().unwrap();
    shell.wait().unwrap();
    wait_until_gone(server);
    wait_until_gone(pids[0]);
    drop(input);
}

#[test]
fn an_idle_timeout_ends_the_server_but_running_calls_do_not_count_as_idle() {
    let project = Project::new().tool("nap", "#!/bin/sh\nsleep 2\necho rested\n");
    let mut server = Server::start_with(project.root(), &[("MCPBASH_IDLE_TIMEOUT", "1")]);
    // In one write, so that there is no silence before the call.
    server.send_together(&[
        request(0, "initialize", &json!({ "protocolVersion": "2025-11-25" })),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        request(1, "tools/call", &json!({ "name": "nap" })),
    ]);
    assert_eq!(server.receive()["id"], 0);
    assert_eq!(server.receive()["result"]["content"][0]["text"], "rested");
    assert_eq!(server.wait().code(), Some(0));
    assert!(server.stderr().contains("idle timeout"));
}

#[test]
fn after_shutdown_the_server_waits_for_exit_until_a_timeout() {
    let project = Project::new().waiting_tool("wait");
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_SHUTDOWN_TIMEOUT", "1")], "2025-11-25");
    server.call(1, "wait");
    let pids = project.wait_for_started(1);
    server.ask(2, "shutdown", &json!({}));
    assert_eq!(server.wait().code(), Some(0));
    wait_until_gone(pids[0]);
}

#[test]
fn nothing_is_left_in_the_temporary_folder() {
    let project = Project::with_hi();
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().to_str().unwrap();
    let mut command = Server::command();
    command.current_dir(temporary.path()).env("TMPDIR", folder);
    let mut embedded = Server::spawn(command);
    embedded.initialize("2025-11-25");
    assert!(std::fs::read_dir(folder).unwrap().next().is_some(), "the embedded project is staged there");
    embedded.request(
        1,
        "tools/call",
        &json!({ "name": "countdown", "arguments": { "pause": 0 }, "_meta": { "progressToken": 1 } }),
    );
    while embedded.receive().get("id").is_none() {}
    embedded.finish();
    assert!(std::fs::read_dir(folder).unwrap().next().is_none());

    let mut server = Server::ready_with(project.root(), &[("TMPDIR", folder)], "2025-11-25");
    server.request(1, "tools/call", &json!({ "name": "hi", "_meta": { "progressToken": 1 } }));
    server.receive();
    server.signal(Signal::TERM);
    server.wait();
    assert!(std::fs::read_dir(folder).unwrap().next().is_none());
}

#[test]
fn after_the_end_of_input_notifications_leave_with_the_answer_of_their_call() {
    let project = Project::new().gate().tool(
        "talks",
        "#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\nmcp_progress 1 before\nread _ <gate\nmcp_progress 50 after\nmcp_log_warn talks after\necho done\n",
    );
    let mut server = Server::ready(project.root());
    server.request(1, "tools/call", &json!({ "name": "talks", "_meta": { "progressToken": 1 } }));
    assert_eq!(server.receive()["method"], "notifications/progress");
    server.close_input();
    // A change of the project is no news for a client that is about to leave.
    project.write("tools/more/tool.sh", "#!/bin/sh\n");
    project.open_gate();
    let rest = server.rest();
    let methods: Vec<&Value> = rest.iter().map(|message| &message["method"]).collect();
    let [progress, log, answer] = &rest[..] else { panic!("{rest:?}") };
    assert_eq!(methods[..2], ["notifications/progress", "notifications/message"]);
    assert_eq!((&progress["params"]["message"], &log["params"]["data"]), (&json!("after"), &json!("after")));
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!(1), &json!("done")),
        "{answer}"
    );
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn a_file_of_requests_is_answered_with_progress_and_logs() {
    let project = Project::new().tool(
        "talks",
        "#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\nmcp_progress 1 one\nmcp_log_warn talks said\necho done\n",
    );
    let mut server = Server::start(project.root());
    server.send_together(&[
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params":
            { "name": "talks", "_meta": { "progressToken": "t" } } }),
    ]);
    server.close_input();
    let said: Vec<Value> = server.rest().into_iter().filter(|said| said["id"] != 1).collect();
    let kinds: Vec<&Value> = said.iter().map(|said| said.get("method").unwrap_or(&said["id"])).collect();
    assert_eq!(
        kinds,
        [&json!("notifications/progress"), &json!("notifications/message"), &json!(2)],
        "{said:?}"
    );
}

#[test]
fn after_a_signal_nothing_is_written() {
    for signal in [Signal::TERM, Signal::INT] {
        let project = Project::new().waiting_tool("wait");
        let mut server = Server::ready(project.root());
        server.call(1, "wait");
        project.wait_for_started(1);
        server.signal(signal);
        assert_eq!(server.rest(), Vec::<Value>::new());
        assert_eq!(server.wait().code(), Some(128 + signal.as_raw()));
        assert!(server.stderr().contains("ended by a signal"), "the operator is told");
    }
}

/// A tool that starts processes which leave its process group and session, records their process ids, and
/// continues when the gate opens.
fn escaping() -> Project {
    let project = Project::new().gate();
    let root = project.root().display().to_string();
    project.tool(
        "escape",
        &format!(
            "#!/bin/sh\nsetsid sleep 1000 & echo $! >>{root}/started\n(setsid sh -c 'echo $$ >>{root}/started; sleep 1000' >/dev/null 2>&1 &)\necho $$ >>{root}/started\nread _ <gate\n"
        ),
    )
}

#[test]
fn processes_that_leave_their_group_are_killed_with_their_call() {
    let project = escaping();
    let mut server = Server::ready(project.root());
    server.call(1, "escape");
    let pids = project.wait_for_started(3);
    project.open_gate();
    assert_eq!(server.receive()["id"], 1);
    pids.into_iter().for_each(wait_until_gone);

    let project = escaping();
    let mut server = Server::ready_with(project.root(), &ONE_AT_A_TIME, "2025-11-25");
    server.call(1, "escape");
    let pids = project.wait_for_started(3);
    server.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    pids.into_iter().for_each(wait_until_gone);
    server.expect_silence_of_calls();
}

#[test]
fn a_server_that_is_killed_leaves_no_process_behind() {
    let project = escaping();
    let mut server = Server::ready(project.root());
    server.call(1, "escape");
    let pids = project.wait_for_started(3);
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    pids.into_iter().for_each(wait_until_gone);
}

#[test]
fn a_server_that_is_killed_before_any_call_leaves_no_folder_behind() {
    let (project, temporary) = (Project::with_hi(), tempfile::tempdir().unwrap());
    let environment = [
        ("TMPDIR", temporary.path().to_str().unwrap()),
        ("MCPBASH_DEBUG_PAYLOADS", "true"),
        ("MCPBASH_LOG_LEVEL", "error"),
    ];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    let count = || temporary.path().read_dir().unwrap().count();
    assert_eq!(count(), 1, "the folder of the payloads");
    server.child.kill().unwrap();
    wait_until("the folder to be removed", || (count() == 0).then_some(()));
}

#[test]
fn calls_stopped_by_a_shutdown_over_http_say_so() {
    let stubborn = "#!/bin/sh\ntrap '' TERM\necho $$ >>started\nread _ <gate\n";
    let provider =
        "#!/bin/sh\necho $$ >>\"$MCPBASH_PROJECT_ROOT/started\"\nread _ <\"$MCPBASH_PROJECT_ROOT/gate\"\n";
    let worker =
        "#!/bin/sh\necho '{\"ready\":{\"protocol\":1}}' >&3\nread _\necho $$ >>started\nread _ <gate\n";
    let project = Project::new()
        .waiting_tool("ends")
        .tool("stubborn", stubborn)
        .script("tools/worker/tool.sh", worker)
        .file("tools/worker/tool.meta.json", r#"{"description": "x", "worker": true}"#)
        .script("prompts/asks/prompt.sh", stubborn)
        .file("prompts/asks/prompt.meta.json", r#"{"name": "asks"}"#)
        .script("providers/mine.sh", provider)
        .file("resources/r.meta.json", r#"{"uri": "mine://r", "name": "r", "provider": "mine"}"#);
    let server = HttpServer::start_with(project.root(), &[], &[("MCPBASH_HTTP_DRAIN_TIMEOUT", "0")]);
    let session = server.session("2025-11-25");
    let mut waiting: Vec<_> = [
        ("tools/call", json!({ "name": "ends" })),
        ("tools/call", json!({ "name": "stubborn" })),
        ("tools/call", json!({ "name": "worker" })),
        ("prompts/get", json!({ "name": "asks" })),
        ("resources/read", json!({ "uri": "mine://r" })),
    ]
    .into_iter()
    .map(|(method, params)| (params.clone(), session.request(params.to_string(), method, &params)))
    .collect();
    project.wait_for_started(waiting.len());
    server.signal(Signal::TERM);
    for (asked, http) in &mut waiting {
        let answer = http.response().json().to_string();
        assert!(answer.contains("stopped because the server is shutting down"), "{asked}: {answer}");
        assert!(!answer.contains("137") && !answer.contains("143"), "{asked}: {answer}");
    }
    let mut server = server;
    assert_eq!(server.wait().code(), Some(0));
    let log = server.log();
    assert_eq!(log.matches(r#""stoppedByShutdown":true"#).count(), 2, "{log}");
}
