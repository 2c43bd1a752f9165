//! `server.d/register.json`: strict, and used instead of discovery.

use crate::harness::{Project, Server, code};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

fn project(register: &str) -> Project {
    Project::with_hi()
        .script("tools/quiet.sh", "#!/bin/sh\necho registered\n")
        .file("server.d/register.json", register)
}

fn list(project: &Project) -> Value {
    Server::ready(project.root()).ask(1, "tools/list", &json!({}))
}

fn names(answer: &Value) -> Vec<&str> {
    answer["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn registered_tools_replace_discovery() {
    let project = project(
        r#"{"version": 1, "_meta": {"by": "hand"}, "tools": [
            {"name": "manual", "description": "By hand", "path": "quiet.sh", "timeoutSecs": 5,
             "arguments": {"type": "object", "properties": {"n": {"type": "number", "default": 1.10}}}}]}"#,
    );
    let mut server = Server::ready(project.root());
    server.request(1, "tools/list", &json!({}));
    let line = server.receive_line();
    assert!(line.contains(r#"{"name":"manual","description":"By hand","#) && line.contains("1.10"), "{line}");
    server.call(2, "manual");
    assert_eq!(server.receive()["result"]["content"][0]["text"], "registered");
    server.call(3, "hi");
    assert_eq!(code(&server.receive()), -32602);
}

#[test]
fn absent_and_null_mean_discovery_and_empty_means_none() {
    assert_eq!(names(&list(&project(r#"{"version": 1}"#))), ["hi", "quiet"]);
    assert_eq!(names(&list(&project(r#"{"version": 1, "tools": null}"#))), ["hi", "quiet"]);
    assert!(names(&list(&project(r#"{"version": 1, "tools": []}"#))).is_empty());
}

#[test]
fn an_invalid_registration_is_reported_and_nothing_is_served() {
    let large = format!(r#"{{"version": 1, "_meta": {{"x": "{}"}}}}"#, "y".repeat(1024 * 1024));
    let cases = [
        ("", "not valid JSON"),
        ("// comment\n{\"version\": 1}", "not valid JSON"),
        ("\u{feff}{\"version\": 1}", "byte-order mark"),
        ("[]", "version"),
        ("{}", "version"),
        (r#"{"version": 2}"#, "version"),
        (r#"{"version": "1"}"#, "version"),
        (r#"{"version": 1, "tool": []}"#, "unknown key `tool`"),
        (r#"{"version": 1, "tools": {}}"#, "array or null as `tools`"),
        (r#"{"version": 1, "prompts": "x"}"#, "array or null as `prompts`"),
        (r#"{"version": 1, "_meta": 5}"#, "`_meta`"),
        (r#"{"version": 1, "tools": [{"name": "x"}]}"#, "`path` is missing"),
        (r#"{"version": 1, "tools": [{"path": "quiet.sh"}]}"#, "`name` is missing"),
        (r#"{"version": 1, "tools": [{"name": "x", "path": "../bin/sh"}]}"#, "below the tools folder"),
        (r#"{"version": 1, "tools": [{"name": "x", "path": "/bin/sh"}]}"#, "below the tools folder"),
        (r#"{"version": 1, "tools": [{"name": "x", "path": "gone.sh"}]}"#, "no file"),
        (r#"{"version": 1, "tools": [{"name": "x", "path": "quiet.sh", "timeoutSecs": "5"}]}"#, "tools[0]"),
        (&large, "MCPBASH_MAX_MANUAL_REGISTRY_BYTES"),
    ];
    for (text, problem) in cases {
        let project = project(text).script("server.d/register.sh", "#!/bin/sh\ntouch ran\n");
        let mut server =
            Server::ready_with(project.root(), &[("MCPBASH_ALLOW_PROJECT_HOOKS", "true")], "2025-11-25");
        let answer = server.ask(1, "tools/list", &json!({}));
        assert_eq!(code(&answer), -32603, "{problem}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("register.json") && message.contains(problem), "{problem} in {message}");
        server.call(2, "hi");
        assert_eq!(code(&server.receive()), -32603, "{problem}");
        assert!(server.finish().contains(problem), "{problem} is logged");
        assert!(!project.path("server.d/ran").exists(), "the hook is no way out");
    }
}

#[test]
fn a_group_or_world_writable_registration_is_not_trusted() {
    let project = project(r#"{"version": 1}"#);
    let path = project.path("server.d/register.json");
    for mode in [0o664, 0o646, 0o666] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let answer = list(&project);
        assert!(answer["error"]["message"].as_str().unwrap().contains("chmod go-w"), "{mode:o}: {answer}");
    }
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(names(&list(&project)), ["hi", "quiet"]);
    std::fs::rename(&path, project.path("elsewhere.json")).unwrap();
    std::os::unix::fs::symlink(project.path("elsewhere.json"), &path).unwrap();
    assert!(list(&project)["error"]["message"].as_str().unwrap().contains("is a link"));
}

const ALLOWED: [(&str, &str); 2] = [("MCPBASH_ALLOW_PROJECT_HOOKS", "true"), ("MCPBASH_LOG_LEVEL", "error")];

fn hooked(hook: &str) -> Project {
    Project::with_hi()
        .script("tools/quiet.sh", "#!/bin/sh\necho registered\n")
        .file("server.d/register.sh", hook)
}

fn list_hooked(project: &Project, environment: &[(&str, &str)]) -> Value {
    Server::ready_with(project.root(), environment, "2025-11-25").ask(1, "tools/list", &json!({}))
}

#[test]
fn a_hook_registers_with_functions_or_with_its_output() {
    let functions = r#"set -euo pipefail
echo "chatter"
mcp_tools_manual_begin
mcp_tools_register_manual '{"name": "one",
  "path": "quiet.sh"}'
mcp_tools_manual_finalize
mcp_register_tool "{\"name\": \"two-$(basename "$PWD" | wc -l)\", \"path\": \"quiet.sh\"}"
mcp_resources_templates_manual_begin
mcp_resources_templates_register_manual '{"name": "t", "uriTemplate": "file:///{x}"}'
mcp_resources_templates_manual_finalize
"#;
    assert_eq!(names(&list_hooked(&hooked(functions), &ALLOWED)), ["one", "two-1"]);
    let printed = r#"echo '{"tools": [{"name": "printed", "path": "quiet.sh"}]}'"#;
    assert_eq!(names(&list_hooked(&hooked(printed), &ALLOWED)), ["printed"]);
    assert_eq!(names(&list_hooked(&hooked("echo only chatter >/dev/null"), &ALLOWED)), ["hi", "quiet"]);
    assert_eq!(names(&list_hooked(&hooked(r#"echo '{"prompts": []}'"#), &ALLOWED)), ["hi", "quiet"]);
}

#[test]
fn a_hook_with_invalid_output_is_reported_and_discovery_runs() {
    for rubbish in
        ["echo oops", "echo '{oops'", "echo '[]'", r#"echo '{"tool": []}'"#, r#"echo '{"tools": "x"}'"#]
    {
        let project = hooked(rubbish);
        let mut server = Server::ready_with(project.root(), &ALLOWED[..1], "2025-11-25");
        assert_eq!(names(&server.ask(1, "tools/list", &json!({}))), ["hi", "quiet"], "{rubbish}");
        server.call(2, "hi");
        assert_eq!(server.receive()["result"]["content"][0]["text"], "hi");
        let told = server.finish();
        let is_told =
            |line: &str| line.contains("register.sh") && line.contains("printed what is no registration");
        assert!(told.lines().any(is_told), "{rubbish}: {told}");
    }
}

#[test]
fn aborted_registrations_of_a_hook_do_not_count() {
    let aborted = r#"mcp_tools_manual_begin
mcp_tools_register_manual '{"name": "given-up", "path": "quiet.sh"}'
mcp_tools_manual_abort
mcp_tools_register_manual '{"name": "too-late", "path": "quiet.sh"}'
mcp_tools_manual_finalize
"#;
    assert_eq!(names(&list_hooked(&hooked(aborted), &ALLOWED)), ["hi", "quiet"]);
    let again = r#"mcp_tools_manual_begin
mcp_tools_register_manual '{"name": "again", "path": "quiet.sh"}'
"#;
    assert_eq!(names(&list_hooked(&hooked(&format!("{aborted}{again}")), &ALLOWED)), ["again"]);
}

#[test]
fn a_hook_runs_only_if_allowed_and_without_a_register_json() {
    let project = hooked("touch \"$MCPBASH_PROJECT_ROOT/ran\"");
    assert_eq!(names(&list_hooked(&project, &ALLOWED[1..])), ["hi", "quiet"]);
    assert!(!project.path("ran").exists());
    let project = project.file("server.d/register.json", r#"{"version": 1}"#);
    assert_eq!(names(&list_hooked(&project, &ALLOWED)), ["hi", "quiet"]);
    assert!(!project.path("ran").exists());
    std::fs::remove_file(project.path("server.d/register.json")).unwrap();
    list_hooked(&project, &ALLOWED);
    assert!(project.path("ran").exists());
}

#[test]
fn a_hook_that_fails_or_is_not_trusted_is_reported_and_nothing_is_served() {
    let cases = [
        ("echo trouble >&2; exit 3", "trouble"),
        ("mcp_register_tool 'not json'", "not JSON"),
        (r#"mcp_register_tool '{"name": "x", "path": "gone.sh"}'"#, "no file"),
        ("yes", "MCPBASH_MAX_MANUAL_REGISTRY_BYTES"),
    ];
    for (hook, problem) in cases {
        let answer = list_hooked(&hooked(hook), &ALLOWED);
        assert_eq!(code(&answer), -32603, "{hook}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("register.sh") && message.contains(problem), "{problem} in {message}");
    }
    let project = hooked("true");
    std::fs::set_permissions(project.path("server.d/register.sh"), std::fs::Permissions::from_mode(0o777))
        .unwrap();
    let answer = list_hooked(&project, &ALLOWED);
    assert!(answer["error"]["message"].as_str().unwrap().contains("chmod go-w"), "{answer}");
}
