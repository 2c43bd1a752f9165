//! Settings of a project itself, in `server.d/server.meta.json`.

use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

/// A project with these settings, and a tool that prints more than they allow.
fn project(settings: &Value) -> Project {
    let meta = json!({ "name": "x", "settings": settings });
    Project::new()
        .tool("prints", "#!/bin/sh\nhead -c 2000 /dev/zero | tr '\\0' x\n")
        .file("server.d/server.meta.json", &meta.to_string())
}

/// Whether the tool printed too much.
fn is_too_much(project: &Project, environment: &[(&str, &str)]) -> bool {
    let mut all = vec![("MCPBASH_LOG_LEVEL", "emergency")];
    all.extend(environment);
    let mut server = Server::ready_with(project.root(), &all, "2025-11-25");
    server.call(1, "prints");
    let answer = server.receive();
    answer["error"]["message"].as_str().is_some_and(|said| said.contains("MCPBASH_MAX_TOOL_OUTPUT_SIZE"))
}

fn problems(project: &Project, environment: &[(&str, &str)]) -> String {
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root()).arg("--health").envs(environment.iter().copied());
    let report: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    report["problems"].to_string()
}

#[test]
fn full_and_short_names_work_and_the_environment_wins() {
    for name in ["MCPBASH_MAX_TOOL_OUTPUT_SIZE", "maxToolOutputSize", "max_tool_output_size"] {
        let project = project(&json!({ name: 1000 }));
        assert!(is_too_much(&project, &[]), "{name}");
        assert!(!is_too_much(&project, &[("MCPBASH_MAX_TOOL_OUTPUT_SIZE", "5000")]), "{name}");
        assert_eq!(problems(&project, &[]), "[]");
    }
}

#[test]
fn unknown_and_invalid_settings_are_reported_with_a_suggestion() {
    let project = project(&json!({ "maxToolOutputSise": 1000, "maxJsonDepth": "deep" }));
    assert!(!is_too_much(&project, &[]));
    let problems = problems(&project, &[]);
    assert!(problems.contains("did you mean MCPBASH_MAX_TOOL_OUTPUT_SIZE?"), "{problems}");
    assert!(problems.contains("MCPBASH_MAX_JSON_DEPTH in server.d/server.meta.json must be"), "{problems}");
    let stderr = Server::ready(project.root()).finish();
    assert!(stderr.contains("did you mean"), "{stderr}");
}

#[test]
fn a_project_cannot_lift_a_restriction() {
    let project = project(&json!({ "allowProjectHooks": true, "toolAllowlist": "*", "roots": "/" }))
        .script("server.d/register.sh", "#!/bin/sh\ntouch hooked\n")
        .tool("path", "#!/bin/sh\nprintf %s \"$MCP_ROOTS_PATHS\"\n");
    let environment = [("MCPBASH_TOOL_ALLOW_DEFAULT", "deny"), ("MCPBASH_LOG_LEVEL", "emergency")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    server.call(1, "prints");
    let answer = server.receive();
    assert!(answer["error"]["message"].as_str().unwrap().contains("MCPBASH_TOOL_ALLOW_DEFAULT"), "{answer}");
    assert!(!project.path("hooked").exists());
    let mut server = Server::ready_with(project.root(), &environment[1..], "2025-11-25");
    server.call(1, "path");
    let answer = server.receive();
    let root = project.root().canonicalize().unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], json!(root), "{answer}");
    let problems = problems(&project, &[]);
    for name in ["allowProjectHooks", "toolAllowlist", "roots"] {
        assert!(problems.contains(&format!("`settings.{name}` is ignored")), "{problems}");
    }
}

#[test]
fn settings_in_a_group_or_world_writable_file_do_not_count() {
    let project = project(&json!({ "maxToolOutputSize": 1000 }));
    fs::set_permissions(project.path("server.d/server.meta.json"), Permissions::from_mode(0o666)).unwrap();
    assert!(!is_too_much(&project, &[]));
    let problems = problems(&project, &[]);
    assert!(
        problems.contains("its `settings`, `env`, `audit`, `launchers` and `secrets` are ignored"),
        "{problems}"
    );
}

#[test]
fn a_file_switches_the_debug_level_on_unless_a_level_is_set() {
    let project = Project::with_hi().file("server.d/.debug", "");
    let said = |environment: &[(&str, &str)]| {
        let mut server = Server::ready_with(project.root(), environment, "2025-11-25");
        server.close_input();
        server.wait();
        server.stderr()
    };
    assert!(said(&[]).contains("\"level\":\"debug\""), "{}", said(&[]));
    assert!(!said(&[("MCPBASH_LOG_LEVEL", "info")]).contains("\"level\":\"debug\""));
}

/// What the file declares is not known then.
#[test]
fn a_sandbox_in_a_file_of_another_encoding_lets_no_script_run() {
    let project = Project::with_hi();
    for (declared, is_refused) in [("", false), (r#", "sandbox": "on""#, true)] {
        let mut bytes = b"{\"title\": \"Gr\xf6\xdfe\"".to_vec();
        bytes.extend(declared.bytes().chain(*b"}"));
        fs::create_dir_all(project.path("server.d")).unwrap();
        fs::write(project.path("server.d/server.meta.json"), bytes).unwrap();
        let mut server =
            Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")], "2025-11-25");
        server.call(1, "hi");
        let answer = server.receive().to_string();
        let refusal = "`sandbox` in server.d/server.meta.json cannot be used: it is not UTF-8 text";
        assert_eq!(answer.contains(refusal), is_refused, "{answer}");
    }
}
