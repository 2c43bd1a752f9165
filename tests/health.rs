//! `--health` and `--ready`: 0 ready, 1 unhealthy, 2 misconfigured.

use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::path::Path;

fn health(arguments: &[&str], environment: &[(&str, &str)], folder: &Path) -> (Option<i32>, Value) {
    let mut command = Server::command();
    command.args(arguments).envs(environment.iter().copied()).current_dir(folder);
    let output = command.output().expect("the binary runs");
    let report = serde_json::from_slice(&output.stdout).expect("a JSON report");
    (output.status.code(), report)
}

#[test]
fn a_sound_project_is_ready() {
    let project = Project::with_hi();
    for flag in ["--health", "--ready"] {
        let (status, report) = health(&[flag], &[], project.root());
        assert_eq!(status, Some(0));
        assert_eq!(
            (&report["status"], &report["tools"], &report["problems"]),
            (&json!("ok"), &json!(1), &json!([]))
        );
    }
}

#[test]
fn half_a_project_is_served_and_the_rest_is_reported() {
    let project = Project::with_hi().file("tools/broken/tool.meta.json", "{ nonsense");
    let (status, report) = health(&["--health"], &[], project.root());
    assert_eq!((status, &report["status"]), (Some(0), &json!("ok")));
    assert!(report["problems"][0].as_str().unwrap().contains("broken/tool.meta.json"), "{report}");
}

#[test]
fn a_project_of_which_nothing_is_left_is_unhealthy() {
    let project = Project::new().file("tools/broken/tool.meta.json", "{ nonsense");
    let (status, report) = health(&["--health"], &[], project.root());
    assert_eq!((status, &report["status"]), (Some(1), &json!("unhealthy")));
}

#[test]
fn a_wrong_folder_a_wrong_setting_and_no_project_are_misconfigurations() {
    let project = Project::with_hi();
    let empty = tempfile::tempdir().unwrap();
    let missing = ["--health", "--project-root", "/no/such"];
    let plain = ["--health"];
    let deep = [("MCPBASH_MAX_JSON_DEPTH", "deep")];
    let short = [("MCPBASH_REMOTE_TOKEN", "short")];
    let cases = [
        (&missing[..], &[][..], project.root(), "/no/such"),
        (&plain, &deep, project.root(), "MCPBASH_MAX_JSON_DEPTH"),
        (&plain, &short, project.root(), "MCPBASH_REMOTE_TOKEN"),
        (&plain, &[], empty.path(), "no project found"),
    ];
    for (arguments, environment, folder, word) in cases {
        let (status, report) = health(arguments, environment, folder);
        assert_eq!((status, &report["status"]), (Some(2), &json!("misconfigured")));
        assert!(report["problems"][0].as_str().unwrap().contains(word), "{report}");
    }
}

#[test]
fn a_project_can_have_checks_of_its_own() {
    let checked = |script: &str| {
        let project = Project::with_hi().file("server.d/health-checks.sh", script);
        let output =
            Server::command().args(["--health", "--project-root"]).arg(project.root()).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), report, String::from_utf8(output.stderr).unwrap())
    };
    let (code, report, said) = checked("mcp_health_check_command sh 'A shell'\necho note\n");
    assert_eq!((code, &report["projectChecks"]), (Some(0), &json!("ok")));
    assert!(said.contains("✓ A shell") && said.contains("note"), "{said}");
    let (code, report, said) = checked("mcp_health_check_env NO_SUCH_THING || exit 1\n");
    assert_eq!(
        (code, &report["status"], &report["projectChecks"]),
        (Some(1), &json!("unhealthy"), &json!("failed"))
    );
    assert!(said.contains("✗ Required env var: NO_SUCH_THING (not set)"), "{said}");
}
