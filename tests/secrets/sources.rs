//! Where secrets come from: variables, files, credentials and commands; and what is refused.

use super::{called, home, project, serve, text, with_tool, write_private};
use crate::harness::{Project, wait_until};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// A tool that says how long its secret is.
fn measuring() -> Project {
    project("#!/usr/bin/env bash\necho \"${#TOKEN}\"\n")
}

fn message(answer: &Value) -> String {
    answer.to_string()
}

#[test]
fn files_credentials_and_variables_are_found_in_their_order() {
    let home = home();
    let file = home.path().join("value");
    write_private(&file, "from-a-file\n");
    fs::create_dir(home.path().join("credentials")).unwrap();
    fs::write(home.path().join("credentials/planted"), "a-credential-of-systemd").unwrap();
    let (file, credentials) = (file.to_str().unwrap().to_owned(), home.path().join("credentials"));
    let credentials = credentials.to_str().unwrap();
    for (environment, length) in [
        (vec![("TOKEN", "a variable"), ("TOKEN_FILE", file.as_str())], "10"),
        (vec![("TOKEN", ""), ("TOKEN_FILE", file.as_str()), ("CREDENTIALS_DIRECTORY", credentials)], "11"),
        (vec![("TOKEN", ""), ("CREDENTIALS_DIRECTORY", credentials)], "23"),
    ] {
        let project = measuring();
        let mut server = serve(&project, &home, &environment);
        assert_eq!(text(&called(&mut server, "uses")), length, "{environment:?}");
        server.finish();
    }
}

#[test]
fn files_that_others_could_read_or_replace_are_refused_in_words() {
    let home = home();
    let at = |name: &str| home.path().join(name);
    write_private(&at("good"), "from-a-file");
    write_private(&at("open"), "from-a-file");
    fs::set_permissions(at("open"), Permissions::from_mode(0o644)).unwrap();
    symlink(at("good"), at("link")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    write_private(&at("short"), "1234567\n");
    write_private(&at("empty"), "\n");
    for (name, said) in [
        ("open", "chmod 600"),
        ("link", "symbolic link"),
        ("folder", "no regular file"),
        ("pipe", "no regular file"),
        ("short", "it has 7 bytes, and a secret needs at least 8"),
        ("empty", "it is empty"),
        ("none", "no file"),
    ] {
        let project = measuring();
        project.write(
            "server.d/server.meta.json",
            &json!({ "secrets": { "planted": { "file": at(name) } } }).to_string(),
        );
        let mut server = serve(&project, &home, &[]);
        let answer = message(&called(&mut server, "uses"));
        assert!(answer.contains(said) && answer.contains("planted"), "{name}: {answer}");
        assert!(!answer.contains("1234567"), "{answer}");
        server.finish();
    }
}

#[test]
fn a_project_that_holds_a_value_is_told_so_without_repeating_it() {
    let project =
        measuring().file("server.d/server.meta.json", r#"{"secrets": {"planted": "a-literal-value"}}"#);
    let home = home();
    let mut server = serve(&project, &home, &[]);
    let answer = message(&called(&mut server, "uses"));
    assert!(answer.contains("it is a value, and a project may only say where a secret is"), "{answer}");
    let stderr = server.finish();
    assert!(stderr.contains("it is a value"), "{stderr}");
    assert!(!(answer + &stderr).contains("a-literal-value"));
}

#[test]
fn a_command_is_run_once_and_its_value_kept() {
    let home = home();
    let script = home.path().join("vault");
    fs::write(
        &script,
        format!("#!/bin/sh\necho x >>{}\necho \"value-of-$1\"\n", home.path().join("runs").display()),
    )
    .unwrap();
    fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    let project = measuring();
    let entry =
        |cache: u64| json!({ "planted": { "command": [script, "it"], "cacheSecs": cache } }).to_string();
    for (cache, runs) in [(300, "x\n"), (0, "x\nx\nx\nx\n")] {
        write_private(&home.path().join("secrets.json"), &entry(cache));
        let mut server = serve(&project, &home, &[]);
        for _ in 0..3 {
            assert_eq!(text(&called(&mut server, "uses")), "11");
        }
        assert_eq!(fs::read_to_string(home.path().join("runs")).unwrap(), runs);
        server.finish();
    }
}

#[test]
fn a_command_of_the_project_needs_the_consent_of_the_operator() {
    let entry = json!({ "secrets": { "planted": { "command": ["printf", "from-the-project"] } } });
    let project = measuring().file("server.d/server.meta.json", &entry.to_string());
    let home = home();
    let mut server = serve(&project, &home, &[]);
    let answer = message(&called(&mut server, "uses"));
    assert!(answer.contains("MCPBASH_ALLOW_PROJECT_HOOKS"), "{answer}");
    server.finish();
    let mut server = serve(&project, &home, &[("MCPBASH_ALLOW_PROJECT_HOOKS", "true")]);
    assert_eq!(text(&called(&mut server, "uses")), "16");
}

#[test]
fn commands_that_fail_are_named_and_their_words_are_not_repeated() {
    let home = home();
    let run = |script: &str| json!({ "planted": { "command": ["sh", "-c", script] } }).to_string();
    for (script, said) in [
        ("echo half-of-a-secret; echo half-of-a-secret >&2; exit 4", "failed (exit 4)"),
        ("kill -9 $$", "ended by a signal"),
        ("echo", "it is empty"),
        ("echo short", "it has 5 bytes"),
        ("yes half-of-a-secret", "more than 65536 bytes"),
        ("printf 'half-of\\0a-secret'", "NUL"),
    ] {
        write_private(&home.path().join("secrets.json"), &run(script));
        let project = measuring();
        let mut server = serve(&project, &home, &[]);
        let answer = message(&called(&mut server, "uses"));
        assert!(answer.contains(said), "{script}: {answer}");
        let stderr = server.finish();
        assert!(!(answer + &stderr).contains("half-of"), "{script}");
    }
    write_private(
        &home.path().join("secrets.json"),
        &json!({ "planted": { "command": ["no-such-program"] } }).to_string(),
    );
    let project = measuring();
    let mut server = serve(&project, &home, &[]);
    let answer = message(&called(&mut server, "uses"));
    assert!(answer.contains("cannot be started"), "{answer}");
}

#[test]
fn a_file_of_secrets_that_others_can_read_gives_none() {
    let home = home();
    let file = home.path().join("secrets.json");
    fs::write(&file, r#"{"planted": {"value": "kept-in-the-open"}}"#).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let project = measuring();
    let mut server = serve(&project, &home, &[]);
    let answer = message(&called(&mut server, "uses"));
    assert!(answer.contains("chmod 600") && !answer.contains("kept-in"), "{answer}");
}

#[test]
fn a_command_that_hangs_ends_with_its_call() {
    let home = home();
    let note = home.path().join("pid");
    let script = format!("echo $$ >{}.new; mv {0}.new {0}; exec sleep 600", note.display());
    let entry = json!({ "planted": { "command": ["sh", "-c", script] } });
    write_private(&home.path().join("secrets.json"), &entry.to_string());
    let project = with_tool(Project::with_hi(), "uses", "#!/bin/sh\necho run\n");
    let mut server = serve(&project, &home, &[]);
    server.request(1, "tools/call", &json!({ "name": "uses" }));
    let pid = wait_until("the command to start", || fs::read_to_string(&note).ok());
    // Other calls do not wait for it.
    assert_eq!(text(&called(&mut server, "hi")), "hi");
    server.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    let process = format!("/proc/{}", pid.trim());
    wait_until("the command to end", || (!Path::new(&process).exists()).then_some(()));
    assert_eq!(text(&called(&mut server, "hi")), "hi");
    server.finish();
}
