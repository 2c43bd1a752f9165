//! The open descriptors of a project's processes: those from the server, and none from the server's parent.

use crate::functions::{call, text};
use crate::harness::{Project, Server};
use serde_json::json;
use std::process::{Command, Stdio};

/// Lists its open descriptors. The descriptor of the listing itself is closed by the time it is checked.
const LIST: &str =
    "for number in /proc/self/fd/* /dev/fd/*; do [ -e \"$number\" ] && readlink \"$number\"; done";

/// A server whose parent has a file open as descriptors 7 and 200, without close-on-exec.
fn server_of_careless_parent(project: &Project) -> Server {
    let mut command = Command::new("bash");
    let secret = project.path("secret");
    command
        .args(["-c", "exec 7<\"$1\" 200<\"$1\"; shift; exec \"$@\"", "parent"])
        .arg(secret)
        .arg(env!("CARGO_BIN_EXE_mcp-bash"))
        .arg("--project-root")
        .arg(project.root());
    let ours = Server::command();
    for (name, value) in ours.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("MCPBASH_LOG_LEVEL", "emergency");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    server
}

#[test]
fn nothing_that_the_parent_left_open_reaches_scripts_hooks_providers_and_workers() {
    let listing = format!("{LIST} >>\"$MCPBASH_PROJECT_ROOT/open\"\ntrue\n");
    let project = Project::new()
        .file("secret", "of the parent")
        .tool("script", &format!("#!/usr/bin/env bash\n{listing}echo done\n"))
        .file(
            "server.d/policy.sh",
            &format!("{listing}mcp_tools_policy_check() {{ return 0; }}\n"),
        )
        .file("server.d/env.sh", &listing)
        .script(
            "tools/team.sh",
            &format!("#!/usr/bin/env bash\n{listing}[ \"$1\" = list ] && echo '{{\"name\":\"provided\",\"inputSchema\":{{}}}}'\n"),
        )
        .file(
            "tools/functions.py",
            "import os\nfrom mcp_bash import tool\n\n@tool\ndef worker() -> list[str]:\n    \"\"\"What is open.\"\"\"\n    \
             def at(number):\n        try:\n            return os.readlink('/dev/fd/' + number)\n        except OSError:\n            \
             return ''\n    return [at(number) for number in os.listdir('/dev/fd')]\n",
        );
    let mut server = server_of_careless_parent(&project);
    let listed = server.ask(1, "tools/list", &json!({}))["result"]["tools"].to_string();
    assert!(listed.contains("provided") && listed.contains("worker"), "{listed}");
    let answer = call(&mut server, "script", &json!({}));
    assert_eq!(text(&answer), "done");
    let open = project.read("open");
    assert!(open.contains("pipe:"), "the listing works: {open}");
    assert!(!open.contains("secret"), "{open}");
    let answer = call(&mut server, "worker", &json!({}));
    assert!(text(&answer).contains("pipe:"), "{answer}");
    assert!(!answer.to_string().contains("secret"), "{answer}");
}
