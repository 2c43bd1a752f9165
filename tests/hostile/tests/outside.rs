//! The program of attacks keeps its promises: one line of JSON, and nothing left behind.

#![cfg(target_os = "linux")]

use serde_json::{Value, json};
use std::fs;
use std::process::{Command, Output};

fn run(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hostile")).args(words).output().expect("the program runs")
}

fn report(words: &[&str]) -> Value {
    let output = run(words);
    assert!(output.status.success(), "{words:?}: {output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(text.lines().count(), 1, "{words:?}: {text}");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{words:?}: {error}: {text}"))
}

/// The attacks without parameters: none of them needs a target.
#[test]
fn every_attack_prints_one_line_of_json() {
    let usage = String::from_utf8(run(&[]).stderr).expect("text");
    let alone: Vec<&str> = usage.lines().map(|line| line.trim_start_matches("hostile ")).collect();
    let alone: Vec<&str> = alone.iter().filter_map(|line| line.strip_suffix(' ')).collect();
    assert!(alone.len() > 30, "{usage}");
    for attack in alone {
        let report = report(&[attack]);
        assert_eq!(report["attack"], attack);
        assert!(report["done"].is_boolean() && report["note"].is_string(), "{report}");
    }
}

#[test]
fn reports_success_and_failure() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("a \\ \"file\"\n");
    let name = file.to_str().expect("a name");
    let done = json!({ "attack": "create", "done": true, "errno": null, "note": "created" });
    assert_eq!(report(&["create", name]), done);
    assert_eq!(report(&["create", name])["errno"], "EEXIST");
    assert_eq!(report(&["read", name])["done"], true);
    let inner = report(&["by-daemon", "read", "/nowhere/at/all"]);
    assert_eq!(inner["done"], false);
    assert!(inner["note"].as_str().expect("a note").contains("ENOENT"), "{inner}");
}

#[test]
fn refuses_a_wrong_command_line() {
    for words in [&["unknown"][..], &["read"], &["read", "a", "b"], &["by-program"], &[]] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(output.stdout.is_empty(), "{words:?}");
    }
}

/// Numbers that could harm the machine are no numbers.
#[test]
fn bombs_are_bounded() {
    for words in
        [&["processes", "2001"][..], &["memory", "2049"], &["cpu", "61"], &["disk", "%TMP/big", "1025"]]
    {
        let report = report(words);
        assert!(report["note"].as_str().expect("a note").starts_with("not a number up to"), "{report}");
    }
}

#[test]
fn nothing_is_left_in_the_temporary_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for words in [
        &["follow-link", "%TMP", "/etc/passwd"][..],
        &["by-copy", "%TMP", "identity"],
        &["disk", "%TMP/f", "1"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hostile"));
        let output = command.args(words).env("TMPDIR", folder.path()).output().expect("the program runs");
        assert!(output.status.success(), "{words:?}: {output:?}");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "{words:?}");
    }
}
