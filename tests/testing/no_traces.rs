//! Test runs and checks leave a project as it is.

use crate::harness::{Project, Server};
use crate::testing::tree;
use std::process::Stdio;

const FUNCTIONS: &str = "import helper\nfrom mcp_bash import tool\n@tool\ndef one() -> int:\n    \"\"\"One.\"\"\"\n    return helper.ONE\n";

fn project() -> Project {
    Project::new()
        .file("server.d/server.meta.json", r#"{"name": "p"}"#)
        .file("tools/one.py", FUNCTIONS)
        .file("tools/helper.py", "ONE = 1\n")
        .file("tests/one.yaml", "- { name: a, tool: one, expect: { text: \"1\" } }\n")
}

#[test]
fn runs_and_checks_write_nothing_into_the_project() {
    let project = project();
    let before = tree(project.root());
    for words in [&["test"][..], &["test", "--list"], &["health"], &["validate"], &["doctor"]] {
        let home = tempfile::tempdir().unwrap();
        let mut command = Server::command();
        command.args(words).current_dir(project.root()).env("HOME", home.path()).stdin(Stdio::null());
        let output = command.env_remove("PYTHONDONTWRITEBYTECODE").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if words[0] != "doctor" {
            assert_eq!(output.status.code(), Some(0), "{words:?}: {said}");
        }
        assert_eq!(tree(project.root()), before, "{words:?}");
    }
}

/// A server may keep what it has learned: the rule is for checks only.
#[test]
fn a_call_still_keeps_the_definitions() {
    let project = project();
    let mut command = Server::command();
    command.args(["call", "one"]).current_dir(project.root()).stdin(Stdio::null());
    assert!(command.output().unwrap().status.success());
    assert!(project.path(".registry/functions.json").exists());
}
