//! Scripts of operators find the same jq and SDK as tools, even on a machine without jq.

use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

/// A project with one tool, and a folder `programs` with the programs that the scripts below call, without
/// jq.
fn project() -> Project {
    let project = Project::new().tool("warm", "#!/bin/sh\necho warm\n");
    std::fs::create_dir(project.path("programs")).unwrap();
    for program in ["bash", "sh", "env", "cat"] {
        let found = ["/bin", "/usr/bin"].map(|folder| format!("{folder}/{program}"));
        let found = found.iter().find(|path| std::path::Path::new(path).exists()).unwrap();
        symlink(found, project.path("programs").join(program)).unwrap();
    }
    project
}

fn served_without_jq(project: &Project) -> Server {
    let path = project.path("programs").display().to_string();
    // Scripts at the start may use the server's own PATH.
    let environment = [("PATH", &*path), ("MCPBASH_PATH", &*path), ("MCPBASH_ALLOW_PROJECT_HOOKS", "true")];
    Server::ready_with(project.root(), &environment, "2025-11-25")
}

fn answer(server: &mut Server, tool: &str) -> Value {
    server.call("call", tool);
    let answer = server.receive();
    assert_eq!(answer["id"], "call", "{answer}");
    answer
}

#[test]
fn a_policy_reads_metadata_with_our_jq() {
    let project = project().tool("slow", "#!/bin/sh\necho slow\n").file(
        "server.d/policy.sh",
        r#"mcp_tools_policy_check() {
             [ "$1" = slow ] || return 0
             . "$MCP_SDK/tool-sdk.sh"
             mcp_tools_error -32602 "$(mcp_json_extract_optional "$2" -r .name none) $(jq -r .name <<<"$2")"
             return 1
           }"#,
    );
    let refused = answer(&mut served_without_jq(&project), "slow");
    assert_eq!(refused["error"]["message"], "slow slow", "{refused}");
}

#[test]
fn env_sh_sets_a_variable_with_our_jq_and_keeps_its_own_path() {
    let script = "#!/bin/sh\necho \"$FROM_JSON\"; jq -n 1+1; echo \"${PATH%%:*}\"\n";
    let project = project().tool("shows", script).file(
        "server.d/env.sh",
        "export FROM_JSON=$(printf '{\"a\":\"of the file\"}' | jq -r .a)\nexport PATH=/first:$PATH\n",
    );
    let answer = answer(&mut served_without_jq(&project), "shows");
    assert_eq!(answer["result"]["content"][0]["text"], "of the file\n2\n/first", "{answer}");
}

#[test]
fn a_provider_lists_its_tools_with_our_jq() {
    let project = project().script(
        "tools/lists",
        "#!/usr/bin/env bash\n# mcp: {\"provider\": true}\n[ \"$1\" = list ] || exit 1\njq -nc '{name: \"of-jq\"}'\n",
    );
    let listed = served_without_jq(&project).ask(1, "tools/list", &json!({}));
    assert!(listed["result"]["tools"].to_string().contains("of-jq"), "{listed}");
}

#[test]
fn register_sh_and_health_checks_find_our_jq() {
    let project = project()
        .file(
            "server.d/register.sh",
            "mcp_tools_register_manual \"$(jq -nc '{name: \"warm\", path: \"warm/tool.sh\"}')\"\n",
        )
        .file(
            "server.d/health-checks.sh",
            "mcp_health_check_command jq || exit 1\n[ -r \"$MCP_SDK/tool-sdk.sh\" ]\n",
        );
    let answer = answer(&mut served_without_jq(&project), "warm");
    assert_eq!(answer["result"]["content"][0]["text"], "warm", "{answer}");
    let mut command = Server::command();
    command.args(["--health", "--project-root"]).arg(project.root());
    command.env("MCPBASH_PATH", project.path("programs")).env("MCPBASH_ALLOW_PROJECT_HOOKS", "true");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_start_without_such_scripts_unpacks_nothing() {
    let temporary = Project::new();
    let folder = temporary.root().display().to_string();
    let environment = [("MCPBASH_TMP_ROOT", &*folder), ("NEEDED", "x")];
    // Naming a variable checks the environment, and nothing more.
    let project = project().file("server.d/server.meta.json", r#"{"name": "x", "env": ["NEEDED"]}"#);
    let is_laid_out = || {
        let private = temporary.root().read_dir().unwrap().filter_map(Result::ok);
        private.into_iter().any(|folder| folder.path().join("home").exists())
    };
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    server.ask(1, "tools/list", &json!({}));
    assert!(!is_laid_out(), "before the first call");
    server.call(2, "warm");
    server.receive();
    assert!(is_laid_out(), "for the first call");
}
