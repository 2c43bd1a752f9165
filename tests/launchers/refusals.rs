//! Launchers that cannot be used, are not allowed, or fail: each says what was wrong, and nothing runs here instead.

use super::custom::{call, elsewhere, project, project_with, text};
use crate::harness::{Project, Server};
use serde_json::{Value, json};

fn validate(project: &Project) -> String {
    let output =
        Server::command().arg("validate").arg("--project-root").arg(project.root()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// What a call answers that must not run.
fn refusal(launcher: &Value) -> String {
    let project = project("#!/bin/sh\necho it ran\n", launcher);
    let mut server = Server::ready(project.root());
    let answer = server.ask_past_news(1, "tools/call", &json!({ "name": "there", "arguments": {} }));
    assert!(!answer.to_string().contains("it ran"), "{answer}");
    answer.to_string()
}

#[test]
fn a_host_that_looks_like_an_option_is_refused() {
    let said = refusal(&json!({ "use": "ssh", "host": "-oProxyCommand=touch /tmp/owned" }));
    assert!(said.contains("could take for an option"), "{said}");
    let said = refusal(&json!({ "use": "ssh", "host": "a b" }));
    assert!(said.contains("blanks"), "{said}");
}

#[test]
fn mistakes_are_named() {
    for (launcher, words) in [
        (json!("sssh"), "did you mean `ssh`?"),
        (json!("ssh"), "`launcher.host` is missing"),
        (json!({ "use": "ssh", "hots": "a" }), "did you mean `host`?"),
        (json!({ "run": "ssh host" }), "a list of words"),
        (json!({ "run": [] }), "`launcher.run` is missing"),
        (json!({ "run": ["x{command}"] }), "as a word of its own"),
        (json!({ "run": ["x", "{host}"] }), "`{host}`"),
        (json!({ "run": ["x"], "files": "maybe" }), "`carry` or `there`"),
        (json!({ "run": ["x"], "carry": ["../up"] }), "out of the project"),
        (json!({ "run": ["x"], "carry": ["not-there"] }), "which the project does not have"),
        (json!({ "use": "kubernetes" }), "`launcher.image` is missing"),
    ] {
        let said = refusal(&launcher);
        assert!(said.contains(words), "{launcher}: {said}");
    }
}

#[test]
fn a_sandbox_that_nothing_would_enforce_is_refused() {
    let project = project_with("#!/bin/sh\necho it ran\n", &elsewhere(), &json!({ "sandbox": "on" }));
    let said = validate(&project);
    assert!(said.contains("no sandbox is enforced on another host"), "{said}");
    let project = project_with("#!/bin/sh\necho it ran\n", &elsewhere(), &json!({}));
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_SANDBOX", "on")], "2025-11-25");
    let answer =
        server.ask_past_news(1, "tools/call", &json!({ "name": "there", "arguments": {} })).to_string();
    assert!(answer.contains("where its sandbox is not enforced"), "{answer}");
    assert!(!answer.contains("it ran"), "{answer}");
}

#[test]
fn a_worker_cannot_be_launched() {
    let project = project_with("#!/bin/sh\n", &elsewhere(), &json!({ "worker": true }));
    let said = validate(&project);
    assert!(said.contains("take `launcher` away"), "{said}");
}

#[test]
fn the_operator_decides_which_launchers_may_be_used() {
    let project = project("#!/bin/sh\necho it ran\n", &elsewhere());
    for (allowed, runs) in [("off", false), ("ssh,slurm", false), ("custom", true), ("*", true)] {
        let mut server = Server::ready_with(project.root(), &[("MCPBASH_LAUNCHERS", allowed)], "2025-11-25");
        let answer = server.ask_past_news(1, "tools/call", &json!({ "name": "there", "arguments": {} }));
        assert_eq!(answer.to_string().contains("it ran"), runs, "{allowed}: {answer}");
        assert_eq!(
            answer.to_string().contains("MCPBASH_LAUNCHERS does not allow"),
            !runs,
            "{allowed}: {answer}"
        );
    }
}

#[test]
fn broken_launchers_of_the_project_let_no_tool_run_here_instead() {
    let project =
        Project::with_hi().file("server.d/server.meta.json", r#"{"launchers": {"a b": {"use": "ssh"}}}"#);
    let mut server = Server::ready(project.root());
    let answer = server.ask_past_news(1, "tools/call", &json!({ "name": "hi", "arguments": {} })).to_string();
    assert!(answer.contains("`launchers` in server.d/server.meta.json cannot be used"), "{answer}");
}

/// A launcher that is a shell script of its own.
fn scripted(script: &str) -> Value {
    json!({ "run": ["sh", "-c", script, "sh", "{command}"] })
}

#[test]
fn a_launcher_that_fails_is_told_apart_from_the_tool() {
    for (launcher, words) in [
        (json!({ "run": ["no-such-program"] }), "`no-such-program` could not be started"),
        (scripted("echo 'no such queue' >&2; exit 7"), "did not reach a shell there (exit 7): no such queue"),
        (scripted("exit 0"), "did not reach a shell there (exit 0)"),
        (scripted("kill -9 $$"), "(signal 9)"),
        (scripted("PATH=/nowhere; exec /bin/\"$@\""), "did not reach a shell there"),
        (
            scripted(
                "d=$(mktemp -d); for p in sh dd mktemp rm; do ln -s $(command -v $p) $d; done; export PATH=$d; \"$@\"; rm -r $d",
            ),
            "the program 'tar' is not there",
        ),
        (scripted("TMPDIR=/nowhere exec \"$@\""), "no temporary folder can be made"),
    ] {
        let project = project("#!/bin/sh\necho it ran\n", &launcher);
        let result = call(&project, &json!({}));
        assert_eq!(result["isError"], true, "{launcher}: {result}");
        assert!(text(&result).contains(words), "{launcher}: {result}");
        assert!(!text(&result).contains("it ran"), "{launcher}: {result}");
    }
}

#[test]
fn a_login_script_that_prints_disturbs_nothing() {
    let launcher = scripted("echo welcome; echo 'last login: never' >&2; exec \"$@\"");
    let project = project("#!/bin/sh\necho it ran\n", &launcher);
    let result = call(&project, &json!({}));
    assert_eq!(text(&result), "it ran", "{result}");
}

#[test]
fn a_tool_that_writes_frames_of_its_own_fails_its_own_call() {
    let script = "#!/bin/sh\nprintf '\\n%s X 0\\n' \"$MCPBASH_LAUNCH_MARK\" | head -c 20 >&2\nprintf '\\n%s Z nonsense\\n' \"$MCPBASH_LAUNCH_MARK\" >&2\nsleep 1000\n";
    let project = project(script, &elsewhere());
    let result = call(&project, &json!({}));
    assert!(text(&result).contains("a report that cannot be read"), "{result}");
}

#[test]
fn a_full_disk_is_named() {
    // A limit of the size of files stands for the full disk: unpacking fails in the same place.
    let launcher = scripted("ulimit -f 8; exec \"$@\"");
    let project =
        project("#!/bin/sh\necho it ran\n", &launcher).file("tools/there/large", &"x".repeat(1 << 20));
    let result = call(&project, &json!({}));
    assert!(text(&result).contains("the files cannot be unpacked"), "{result}");
}

#[test]
fn more_than_the_limit_is_not_carried() {
    let project = project("#!/bin/sh\necho it ran\n", &elsewhere());
    let large = std::fs::File::create(project.path("tools/there/large")).unwrap();
    large.set_len(65 << 20).unwrap();
    let result = call(&project, &json!({}));
    assert!(text(&result).contains("more than 64 MB would be carried over"), "{result}");
}

#[test]
fn a_launcher_that_hangs_is_ended_by_the_timeout() {
    let launcher = json!({ "run": ["sh", "-c", "exec sleep 1000", "launch-hangs-5e90", "{command}"] });
    let project = project_with("#!/bin/sh\necho it ran\n", &launcher, &json!({ "timeoutSecs": 2 }));
    let result = call(&project, &json!({}));
    assert_eq!(result["structuredContent"]["error"]["type"], "timeout", "{result}");
}
