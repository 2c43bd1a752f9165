//! `mcp-bash test`: cases beside the entries they test, run against a real server; programs in `test/`.

mod cases;
mod contract;
mod expectations;
mod hostile;
mod no_traces;
mod policy;
mod programs;
mod reports;
mod steps;
mod watching;

use crate::harness::{Project, Server};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// A tool that greets, logs while it runs, and fails without a name.
const HELLO: &str = r#"#!/bin/bash
source "$MCP_SDK/tool-sdk.sh"
name=$(mcp_args_require '.name')
mcp_progress 50 "half way"
mcp_log_info hello "greeting now"
echo "a line for the operator" >&2
mcp_emit_text "Hello, $name!"
"#;

const HELLO_SCHEMA: &str = r#"{"name": "hello", "description": "Greets", "inputSchema":
  {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}"#;

pub(crate) fn hello(cases: &str) -> Project {
    Project::new()
        .script("tools/hello/tool.sh", HELLO)
        .file("tools/hello/tool.meta.json", HELLO_SCHEMA)
        .file("tools/hello/tests/hello.yaml", cases)
}

/// A project with one tool, called by its case.
fn tool(script: &str, case: &str) -> Project {
    Project::new().tool("it", script).file("tools/it/tests/it.yaml", case)
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

fn command(project: &Project, arguments: &[&str]) -> Command {
    let mut command = Server::command();
    command.arg("test").args(arguments).current_dir(project.root());
    command
}

pub(crate) fn test(project: &Project, arguments: &[&str]) -> Ran {
    ran(command(project, arguments))
}

fn ran(mut command: Command) -> Ran {
    let output = command.stdin(Stdio::null()).output().expect("the binary runs");
    Ran {
        code: output.status.code(),
        stdout: without_times(&String::from_utf8_lossy(&output.stdout)),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The text with `N` for values that differ from run to run.
fn without_times(text: &str) -> String {
    let lines = text.lines().map(|line| match line.rsplit_once(" in ") {
        Some((before, time)) if time.ends_with(" s") && before.contains("passed") => {
            format!("{before} in N s\n")
        }
        _ => match line.rsplit_once(" (") {
            Some((before, time)) if time.ends_with(" ms)") => format!("{before} (N ms)\n"),
            _ => format!("{line}\n"),
        },
    });
    lines.collect::<Vec<_>>().concat()
}

pub(crate) fn report(project: &Project, arguments: &[&str]) -> (Option<i32>, Value) {
    let ran = test(project, &[arguments, &["--json"]].concat());
    (ran.code, serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}")))
}

/// The problems of the only case that failed.
fn problems(project: &Project) -> Vec<String> {
    let (code, report) = report(project, &[]);
    let failed: Vec<&Value> =
        report["cases"].as_array().unwrap().iter().filter(|case| case["status"] == "failed").collect();
    assert_eq!((code, failed.len()), (Some(1), 1), "{report:#}");
    let problems = failed[0]["problems"].as_array().unwrap();
    problems.iter().map(|problem| problem["problem"].as_str().unwrap().to_owned()).collect()
}

fn passes(project: &Project) {
    let ran = test(project, &["-v"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}

/// All files and folders below one, by their path.
fn tree(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut left = vec![root.to_owned()];
    while let Some(folder) = left.pop() {
        // A file that is being removed counts as absent.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            found.insert(entry.path().strip_prefix(root).unwrap().to_string_lossy().into_owned());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                left.push(entry.path());
            }
        }
    }
    found
}
