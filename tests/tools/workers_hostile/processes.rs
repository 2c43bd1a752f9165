//! Workers that hang, die, grow, leave processes behind or do not start.

use super::{assert_next_is_served, expect_fault};
use crate::harness::{Project, Server, exists, wait_until, wait_until_gone};
use crate::tools::workers::{PERL, params, pid, project, ready, ready_with, text, with_worker, work};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::collections::HashMap;

fn kill(pid: u32) {
    kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_worker_that_hangs_is_replaced_when_its_call_times_out() {
    let project = project(&json!({ "processes": 1 }));
    let mut server = ready(&project);
    let first = pid(&mut server);
    let mut given = params("$SIG{TERM} = 'IGNORE'; sleep 1000");
    given["timeoutSecs"] = json!(1);
    let answer = server.ask("hangs", "tools/call", &given);
    assert_eq!(answer["result"]["structuredContent"]["error"]["type"], "timeout", "{answer}");
    assert_next_is_served(&mut server, first);
}

#[test]
fn a_worker_that_ignores_a_cancellation_is_killed_with_its_processes() {
    let project = project(&json!({ "processes": 1 }));
    let mut server = ready(&project);
    let first = pid(&mut server);
    let code = "$SIG{TERM} = 'IGNORE'; my $pid = fork; if (!$pid) { POSIX::setsid(); sleep 1000; POSIX::_exit(0) } \
                note('child', $pid); sleep 1000";
    server.request("gone", "tools/call", &params(code));
    let child = wait_until("a child", || project.read("child").trim().parse().ok());
    server.notify("notifications/cancelled", &json!({ "requestId": "gone" }));
    wait_until_gone(first);
    wait_until_gone(child);
    assert_next_is_served(&mut server, first);
}

#[test]
fn a_worker_that_exits_in_a_call_is_reported() {
    expect_fault("POSIX::_exit(3)", "exited with code 3 before it had answered");
    expect_fault("kill 'KILL', $$; sleep 1000", "was ended by SIGKILL (9)");
    expect_fault("kill 'KILL', -$$; sleep 1000", "was ended by SIGKILL (9)");
    expect_fault("die 'my reason'", "before it had answered");
}

#[test]
fn the_end_of_standard_error_is_sent_to_the_only_call_of_a_worker() {
    let deed = "print STDERR \"what went wrong\\n\"; POSIX::_exit(3)";
    let told = "exited with code 3 before it had answered. The end of its standard error:\nwhat went wrong";
    let project = project(&json!({ "processes": 1 }));
    let mut server = ready(&project);
    let first = work(&mut server, deed);
    assert!(text(&first).contains(told), "{first}");
    // Late output may belong to an earlier call.
    work(&mut server, "print STDERR \"of another call\\n\"; 1");
    let second = work(&mut server, deed);
    assert!(text(&second).ends_with("its worker exited with code 3 before it had answered"), "{second}");
    let log = server.finish();
    assert!(!log.contains("what went wrong") && !log.contains("of another call"), "{log}");
    assert_eq!(log.matches("a worker exited with code 3").count(), 2, "{log}");
}

#[test]
fn a_worker_that_closes_its_descriptors_harms_at_most_its_own_call() {
    expect_fault("POSIX::close(3); sleep 1000", "closed descriptor 3");
    expect_fault("POSIX::close(0); POSIX::close(3); sleep 1000", "closed descriptor 3");
    let project = project(&json!({ "processes": 1 }));
    let mut server = ready(&project);
    for descriptor in [1, 2] {
        let code = format!("POSIX::close({descriptor}); 'closed'");
        assert_eq!(text(&work(&mut server, &code)), "closed");
    }
    let first = pid(&mut server);
    assert_eq!(text(&work(&mut server, "POSIX::close(0); 'deaf'")), "deaf");
    // It cannot receive the next call, which goes to another process, even while this one still runs.
    assert_next_is_served(&mut server, first);
    let second = pid(&mut server);
    assert_eq!(text(&work(&mut server, "eval 'END { sleep 2 }'; POSIX::close(0); 'deaf'")), "deaf");
    assert_next_is_served(&mut server, second);
}

#[test]
fn errors_of_one_call_are_not_sent_to_another() {
    let project = project(&json!({ "processes": 1 }));
    let mut server = ready(&project);
    assert_eq!(text(&work(&mut server, "print STDERR \"the secret of one\\n\"; 'ok'")), "ok");
    let answer = work(&mut server, "POSIX::_exit(4)");
    assert!(text(&answer).contains("exited with code 4") && !text(&answer).contains("secret"), "{answer}");
}

#[test]
fn a_worker_that_grows_is_replaced_after_its_call_and_killed_in_it() {
    let project = project(&json!({ "processes": 1, "memoryMb": 60 }));
    let mut server = ready(&project);
    let first = pid(&mut server);
    // Made at once: a copy of 80 MB, even a short-lived one, would be as much as it is killed for.
    assert_eq!(text(&work(&mut server, "vec($kept{x}, 79_999_999, 8) = 1; 'grown'")), "grown");
    assert_next_is_served(&mut server, first);
    let second = pid(&mut server);
    let answer = work(&mut server, "$kept{x} = 'x' x 200_000_000; sleep 1000");
    assert!(text(&answer).contains("more than twice the 60 MB"), "{answer}");
    assert_next_is_served(&mut server, second);
}

#[test]
fn the_log_names_the_worker_option_in_its_language() {
    let python = r"import subprocess
from mcp_bash import tool, worker

worker(processes=1, memory_mb=60)
kept = []

@tool
def grows() -> str:
    kept.append('x' * 80_000_000)
    return 'grown'

@tool
def leaves() -> str:
    subprocess.Popen(['sleep', '1000'])
    return 'left'

@tool
def rests() -> str:
    return 'rested'
";
    let project = Project::new().file("tools/grows.py", python);
    let mut server = Server::ready(project.root());
    server.ask("level", "logging/setLevel", &json!({ "level": "emergency" }));
    // Each call is served after the worker was checked for the previous one.
    for tool in ["leaves", "grows", "rests"] {
        let answer = server.ask(tool, "tools/call", &json!({ "name": tool, "arguments": {} }));
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    let log = server.finish();
    for option in ["`worker(memory_mb=…)` in its file", "`worker(keeps_processes=…)` in its file"] {
        assert!(log.contains(option), "{option}: {log}");
    }
}

#[test]
fn leftover_processes_of_a_call_are_killed_with_their_worker() {
    let forks = [
        "my $pid = fork; if (!$pid) { sleep 1000; POSIX::_exit(0) } $pid",
        "my $pid = fork; if (!$pid) { POSIX::setsid(); sleep 1000; POSIX::_exit(0) } $pid",
        // A daemon: the intermediate parent has exited.
        "pipe my $r, my $w; my $pid = fork; if (!$pid) { POSIX::setsid(); my $d = fork; if ($d) { print {$w} $d; close $w; \
         POSIX::_exit(0) } close $w; sleep 1000; POSIX::_exit(0) } close $w; waitpid $pid, 0; <$r>",
    ];
    // They are found in the worker's control group, or without one by their parents and their mark.
    for groups in ["true", "false"] {
        let project = project(&json!({ "processes": 1 }));
        let mut server = ready_with(&project, &[("MCPBASH_CONTROL_GROUPS", groups)]);
        for fork in forks {
            let first = pid(&mut server);
            let child: u32 = text(&work(&mut server, fork)).parse().unwrap();
            assert_next_is_served(&mut server, first);
            wait_until_gone(child);
        }
    }
}

#[test]
fn leftover_processes_may_be_kept_and_are_killed_with_the_server() {
    let project = project(&json!({ "processes": 1, "keepsProcesses": true }));
    let mut server = ready(&project);
    let first = pid(&mut server);
    let code = "my $pid = fork; if (!$pid) { $SIG{TERM} = 'IGNORE'; POSIX::setsid(); sleep 1000; POSIX::_exit(0) } $pid";
    let child: u32 = text(&work(&mut server, code)).parse().unwrap();
    assert_eq!(pid(&mut server), first);
    assert!(exists(child));
    server.finish();
    wait_until_gone(child);
    wait_until_gone(first);
}

#[test]
fn a_worker_that_changes_its_directory_and_variables_affects_no_other() {
    let plain = "#!/bin/sh\npwd\necho \"[$LEAK]\"\n";
    let project = with_worker(Project::new().tool("plain", plain), "work", &json!({ "processes": 1 }), PERL);
    let mut server = ready(&project);
    work(&mut server, "chdir '/'; $ENV{LEAK} = 'leak'; umask 0; 'moved'");
    server.call(1, "plain");
    let root = project.root().canonicalize().unwrap();
    assert_eq!(text(&server.receive()), format!("{}\n[]", root.display()));
}

#[test]
fn a_worker_that_is_never_ready_is_reported_with_the_timeout_setting() {
    let project =
        with_worker(Project::new(), "work", &json!(true), "#!/bin/sh\necho $$ >>started\nexec sleep 1000\n");
    let mut server = ready_with(&project, &[("MCPBASH_WORKER_START_SECS", "1")]);
    let answer = work(&mut server, "1");
    assert!(
        text(&answer).contains("was not ready within 1 s, and was ended; MCPBASH_WORKER_START_SECS"),
        "{answer}"
    );
    project.wait_for_started(1).into_iter().for_each(wait_until_gone);
}

#[test]
fn a_worker_that_cannot_start_says_why() {
    let cases = [
        (
            "#!/bin/sh\necho 'no such module: lamp' >&2\nexit 1\n",
            "exited with code 1 before it had answered. The end of its standard error:\nno such module: lamp",
        ),
        (
            "#!/bin/sh\necho '{\"failed\":{\"message\":\"a.py:3: no lamp\",\"trace\":\"long\"}}' >&3\nexit 1\n",
            "cannot serve: a.py:3: no lamp",
        ),
        ("#!/nowhere/perl\n", "its interpreter `/nowhere/perl`"),
        ("#!/bin/sh\necho '{\"ready\":{\"protocol\":2}}' >&3\nread x\n", "no `ready` of protocol 1"),
        ("#!/bin/sh\necho hello >&3\nread x\n", "that is no JSON"),
        ("#!/bin/sh\nexec 3>&-\nread x\n", "closed descriptor 3"),
        ("#!/bin/sh\necho '{\"call\":1,\"result\":{}}' >&3\nread x\n", "wrote of a call before it was ready"),
    ];
    for (script, problem) in cases {
        let project = with_worker(Project::new(), "work", &json!(true), script);
        let mut server = ready(&project);
        for _ in 0..2 {
            let answer = work(&mut server, "1");
            assert_eq!(answer["result"]["isError"], true, "{answer}");
            assert!(text(&answer).contains(problem), "{script}: {answer}");
        }
        // Many at once: each of them gets the reason.
        for id in 0..6 {
            server.request(id, "tools/call", &params("1"));
        }
        for _ in 0..6 {
            let answer = server.receive();
            assert!(text(&answer).contains(problem), "{script}: {answer}");
        }
    }
}

#[test]
fn a_worker_that_is_killed_between_calls_costs_no_call() {
    let project = project(&json!({ "processes": 2 }));
    let mut server = ready(&project);
    for _ in 0..20 {
        let now = pid(&mut server);
        kill(now);
        wait_until_gone(now);
        // At once: the server may not have detected it yet.
        assert_ne!(pid(&mut server), now);
    }
    server.expect_silence();
}

#[test]
fn a_question_of_a_worker_that_dies_is_withdrawn() {
    let project = project(&json!({ "processes": 1 }));
    let mut server = ready(&project);
    let first = pid(&mut server);
    server.request("asks", "tools/call", &params("ask('Who?'); 'never'"));
    let question = server.receive();
    assert_eq!(question["method"], "elicitation/create");
    kill(first);
    let both = [server.receive(), server.receive()];
    let answer = both.iter().find(|message| message["id"] == "asks").unwrap();
    assert!(text(answer).contains("was ended by SIGKILL (9)"), "{answer}");
    assert!(both.iter().any(|message| message["method"] == "notifications/cancelled"), "{both:?}");
    server.reply(&question, &json!({ "action": "accept", "content": { "value": "late" } }));
    assert_next_is_served(&mut server, first);
}

/// Calls that answer, wait, die, hang and write garbage, all at once: each is answered once, with its own
/// data.
#[test]
fn two_hundred_concurrent_calls_are_each_answered_once_with_their_own_data() {
    let project = project(&json!({ "processes": 4 }));
    let mut server = ready_with(&project, &[("MCPBASH_MAX_CONCURRENT_REQUESTS", "64")]);
    let expected: HashMap<u64, String> = (1..=200)
        .map(|id| {
            let secret = format!("secret-{id}-");
            let (code, told) = match id % 20 {
                7 => (
                    format!("print STDERR '{secret}'; POSIX::_exit({})", id % 100),
                    "exited with code".to_owned(),
                ),
                11 => (format!("raw(\"{secret}\\n\"); sleep 1000"), "no JSON".to_owned()),
                13 => (
                    format!("$kept{{x}} = '{secret}'; kill 'KILL', $$; sleep 1000"),
                    "SIGKILL (9)".to_owned(),
                ),
                3 => (format!("select undef, undef, undef, 0.02; '{secret}'"), secret.clone()),
                _ => (format!("$kept{{{id}}} = '{secret}' x 300"), secret.repeat(300)),
            };
            server.request(id, "tools/call", &params(&code));
            (id, told)
        })
        .collect();
    let mut answered = HashMap::new();
    while answered.len() < 200 {
        let message = server.receive();
        let Some(id) = message["id"].as_u64() else { continue };
        let said = text(&message).to_owned();
        assert!(said.contains(&expected[&id]), "{id}: {message}");
        for (other, _) in said.match_indices("secret-") {
            assert!(said[other..].starts_with(&format!("secret-{id}-")), "{id} sees another's: {said}");
        }
        assert!(answered.insert(id, said).is_none(), "{id} is answered twice");
    }
    server.expect_silence();
    server.finish();
    project.wait_for_started(4).into_iter().for_each(wait_until_gone);
}

#[test]
fn a_server_that_is_killed_leaves_no_worker() {
    let project = project(&json!(true));
    let mut server = ready(&project);
    let worker = pid(&mut server);
    server.request("waits", "tools/call", &params("$SIG{TERM} = 'IGNORE'; note('waits', $$); sleep 1000"));
    project.wait_for_file("waits");
    kill(server.child.id());
    wait_until_gone(worker);
}

#[test]
fn a_worker_that_ignores_every_request_to_exit_does_not_outlive_the_server() {
    let project = project(&json!(true));
    let mut server = ready(&project);
    let first = pid(&mut server);
    assert_eq!(
        text(&work(&mut server, "$SIG{TERM} = 'IGNORE'; *main::ending = sub { sleep 1000 }; 'deaf'")),
        "deaf"
    );
    server.close_input();
    server.wait();
    wait_until_gone(first);
}

#[test]
fn a_call_without_a_free_worker_names_the_limit() {
    let project = project(&json!({ "processes": 1 })).gate();
    let mut server = ready(&project);
    server.request(
        "first",
        "tools/call",
        &params("note('waits', 1); open my $gate, '<', 'gate'; sysread $gate, my $line, 1; 'went'"),
    );
    project.wait_for_file("waits");
    let mut second: Value = params("'second'");
    second["timeoutSecs"] = json!(1);
    let refused = server.ask("second", "tools/call", &second);
    assert!(text(&refused).contains("was not free within 1 s: all 1 processes"), "{refused}");
    project.open_gate();
    assert_eq!(text(&server.receive()), "went");
}
