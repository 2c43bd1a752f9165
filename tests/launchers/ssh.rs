//! Tools that run by ssh, on a real OpenSSH server on loopback.

use super::custom::{SDK, call, project, project_with, text};
use super::sshd::{Sshd, processes_with, wait_until_no_process_has};
use crate::harness::{Project, Server, wait_until};
use serde_json::{Value, json};

/// A tool that notes its environment, starts a process that leaves its session, and waits for ever.
fn endless(sshd: &Sshd, word: &str, more: &Value) -> Project {
    let script = format!(
        "#!/bin/sh\nexport WORD={word}\nsetsid sh -c 'trap : TERM HUP; while :; do sleep 1000; done' &\n\
         trap : TERM\nprintf started >\"{}\"\nwhile :; do sleep 1000; done\n",
        sshd.path("started").display()
    );
    project_with(&script, &sshd.launcher(), more)
}

fn wait_for_start(sshd: &Sshd) {
    wait_until("the start of the tool", || sshd.path("started").exists().then_some(()));
}

#[test]
fn a_tool_runs_on_the_other_host_as_it_would_here() {
    let sshd = Sshd::start();
    let script = format!(
        "{SDK}test -n \"$SSH_CONNECTION\"\nmcp_progress 10 begun\nmcp_args_get '.text'\necho\ncat\necho problem >&2\n"
    );
    let project = project(&script, &sshd.launcher());
    let said = "spaces 'and' \"quotes\" $(id)\nand a line";
    let result = call(&project, &json!({ "text": said }));
    assert_eq!(text(&result), format!("{said}\n{}", json!({ "text": said })), "{result}");
}

#[test]
fn exit_codes_and_standard_error_are_those_of_the_tool() {
    let sshd = Sshd::start();
    // 255 is what ssh uses for its own failures.
    for code in [3, 255] {
        let project = project(&format!("#!/bin/sh\necho broken >&2\nexit {code}\n"), &sshd.launcher());
        let result = call(&project, &json!({}));
        assert_eq!(result["_meta"]["exitCode"], code, "{result}");
        let launcher = &result["_meta"]["mcpbash/launcher"];
        assert_eq!((&launcher["name"], &launcher["place"]), (&json!("ssh"), &json!("127.0.0.1")), "{result}");
        assert!(text(&result).contains("broken"), "{result}");
    }
}

#[test]
fn a_question_crosses() {
    let sshd = Sshd::start();
    let project = project(&format!("{SDK}mcp_elicit_confirm 'Sure?'\n"), &sshd.launcher());
    let mut server = Server::start_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")]);
    server.initialize_offering("2025-11-25", &json!({ "elicitation": {} }));
    server.call(1, "there");
    let question = server.receive();
    assert_eq!(question["params"]["message"], "Sure?", "{question}");
    server.reply(&question, &json!({ "action": "decline" }));
    assert!(text(&server.receive()["result"]).contains("decline"));
}

#[test]
fn a_cancelled_call_leaves_no_process_on_the_other_host() {
    let sshd = Sshd::start();
    let word = "launch-cancelled-7f3a";
    let project = endless(&sshd, word, &json!({}));
    let mut server = Server::ready(project.root());
    server.call(1, "there");
    wait_for_start(&sshd);
    wait_until("both processes of the tool", || (processes_with(word).len() >= 2).then_some(()));
    server.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    wait_until_no_process_has(word);
    server.expect_silence_of_calls();
}

#[test]
fn a_timeout_ends_the_tool_on_the_other_host() {
    let sshd = Sshd::start();
    let word = "launch-timeout-91bc";
    let project = endless(&sshd, word, &json!({ "timeoutSecs": 5 }));
    let result = call(&project, &json!({}));
    assert_eq!(result["structuredContent"]["error"]["type"], "timeout", "{result}");
    wait_until_no_process_has(word);
}

#[test]
fn a_server_that_is_killed_leaves_no_process_on_the_other_host() {
    let sshd = Sshd::start();
    let word = "launch-killed-22de";
    let project = endless(&sshd, word, &json!({}));
    let mut server = Server::ready(project.root());
    server.call(1, "there");
    wait_for_start(&sshd);
    server.signal(rustix::process::Signal::KILL);
    wait_until_no_process_has(word);
}

#[test]
fn a_connection_that_breaks_is_a_failure_and_ends_the_tool() {
    let sshd = Sshd::start();
    let word = "launch-broken-65aa";
    let project = endless(&sshd, word, &json!({}));
    let mut server = Server::ready(project.root());
    server.call(1, "there");
    wait_for_start(&sshd);
    for pid in sshd.connections() {
        let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
    let answer = server.receive();
    assert!(text(&answer["result"]).contains("`ssh` ended before the tool did (exit 255)"), "{answer}");
    wait_until_no_process_has(word);
}

#[test]
fn a_flood_of_output_is_cut_and_the_tool_ended() {
    let sshd = Sshd::start();
    let word = "launch-flood-0c41";
    let project = project(&format!("#!/bin/sh\nexport WORD={word}\nyes\n"), &sshd.launcher());
    let mut server =
        Server::ready_with(project.root(), &[("MCPBASH_MAX_TOOL_OUTPUT_SIZE", "100000")], "2025-11-25");
    let answer = server.ask_past_news(1, "tools/call", &json!({ "name": "there", "arguments": {} }));
    assert!(answer.to_string().contains("MCPBASH_MAX_TOOL_OUTPUT_SIZE"), "{answer}");
    wait_until_no_process_has(word);
}

#[test]
fn a_host_that_is_not_reached_is_named_with_the_words_of_ssh() {
    let sshd = Sshd::start();
    let script = "#!/bin/sh\necho it ran\n";
    let wrong_key = sshd.launcher_with(&json!({ "options": sshd.options("wrong_hosts") }));
    let unknown_key = sshd.launcher_with(&json!({ "options": sshd.options("nothing") }));
    let mut refused_port = sshd.options("known_hosts");
    refused_port[3] = "1".to_owned();
    let unreachable = sshd.launcher_with(&json!({ "options": refused_port }));
    for (launcher, words) in [
        (wrong_key, "Host key verification failed"),
        (unknown_key, "Host key verification failed"),
        (unreachable, "Connection refused"),
    ] {
        let result = call(&project(script, &launcher), &json!({}));
        assert!(text(&result).contains("`ssh` did not reach a shell there (exit 255)"), "{result}");
        assert!(text(&result).contains(words), "{words}: {result}");
    }
}

#[test]
fn a_key_that_is_not_accepted_asks_nobody_for_a_password() {
    let sshd = Sshd::start();
    std::fs::write(sshd.path("authorized_keys"), "").unwrap();
    let result = call(&project("#!/bin/sh\n", &sshd.launcher()), &json!({}));
    assert!(text(&result).contains("Permission denied"), "{result}");
}

#[test]
fn the_audit_log_names_the_launcher() {
    let sshd = Sshd::start();
    let project = project("#!/bin/sh\necho hi\n", &sshd.launcher());
    let log = sshd.path("audit.jsonl");
    let audit = log.display().to_string();
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_AUDIT", &audit)], "2025-11-25");
    let answer = server.ask_past_news(1, "tools/call", &json!({ "name": "there", "arguments": {} }));
    assert_eq!(text(&answer["result"]), "hi");
    let records = std::fs::read_to_string(&log).unwrap();
    assert!(records.contains(r#""launcher":"ssh 127.0.0.1""#), "{records}");
}
