//! `scripts/test`: which steps it runs, in which order, and what it refuses. A stub that records its
//! arguments replaces cargo.

use crate::harness::Project;
use std::path::Path;
use std::process::{Command, Output};

/// A folder with a cargo that records its arguments, and fails for `failing`.
fn with_cargo(failing: &str) -> Project {
    let project = Project::new();
    let calls = project.path("calls");
    let cargo = format!("#!/bin/sh\necho \"$1\" >>'{}'\n[ \"$1\" != '{failing}' ]\n", calls.display());
    project.script("bin/cargo", &cargo).script("bin/cargo-deny", "#!/bin/sh\n")
}

fn run(project: &Project, arguments: &[&str]) -> Output {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = format!("{}:{}", project.path("bin").display(), std::env::var("PATH").expect("a search path"));
    let mut command = Command::new(repository.join("scripts/test"));
    command.args(arguments).env("PATH", path).env("CARGO_TARGET_DIR", project.path("target"));
    command.output().expect("the script runs")
}

fn calls(project: &Project) -> Vec<String> {
    let calls = std::fs::read_to_string(project.path("calls")).unwrap_or_default();
    calls.lines().map(str::to_owned).collect()
}

#[test]
fn only_the_named_steps_run_in_the_order_of_the_list() {
    let project = with_cargo("");
    let output = run(&project, &["dependencies", "lints"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(calls(&project), ["fmt", "clippy", "deny"]);
    let told: Vec<&str> = said.lines().filter(|line| line.contains(" took ")).collect();
    assert!(told.len() == 2 && told[0].starts_with("== lints took "), "{said}");
    assert!(told[1].starts_with("== dependencies took "), "{said}");
}

#[test]
fn a_step_that_fails_ends_the_run() {
    let project = with_cargo("fmt");
    let output = run(&project, &["lints", "dependencies"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(calls(&project), ["fmt"]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("green"), "{output:?}");
}

#[test]
fn unknown_steps_are_refused_with_the_list_and_nothing_runs() {
    let project = with_cargo("");
    let list = run(&project, &["--list"]);
    assert!(list.status.success(), "{list:?}");
    let list = String::from_utf8(list.stdout).expect("UTF-8");
    assert!(list.lines().count() > 10 && list.starts_with("requirements "), "{list}");
    for wrong in ["lint", "", "lints tests", "*", "--all", "step_lints"] {
        let output = run(&project, &["lints", wrong]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.starts_with(&format!("scripts/test: there is no step `{wrong}`.")), "{said}");
        assert!(list.lines().all(|line| said.contains(line)), "{said}");
    }
    assert!(calls(&project).is_empty());
}
