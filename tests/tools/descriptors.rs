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
    let listing = |source: &str| format!("{LIST} >>\"$MCPBASH_PROJECT_ROOT/open.{source}\"\ntrue\n");
    let script = |source: &str, then: &str| format!("#!/usr/bin/env bash\n{}{then}\n", listing(source));
    let project = Project::new()
        .file("secret", "of the parent")
        .tool("script", &script("script", "echo done"))
        // The sandbox shows no `/proc`.
        .script(
            "tools/confined/tool.sh",
            "#!/usr/bin/env bash\nfor number in {3..255}; do { : <&$number; } 2>&- && echo \"$number\"; done\necho looked\n",
        )
        .file("tools/confined/tool.meta.json", r#"{"name": "confined", "sandbox": "on"}"#)
        .file(
            "server.d/policy.sh",
            &format!("mcp_tools_policy_check() {{\n{}return 0\n}}\n", listing("policy")),
        )
        .file("server.d/env.sh", &listing("environment"))
        .script(
            "tools/team.sh",
            &script("provider", "[ \"$1\" = list ] && echo '{\"name\":\"provided\",\"inputSchema\":{}}'"),
        )
        .script("providers/mine.sh", &script("resources", "printf text"))
        .file("resources/note.meta.json", r#"{"uri": "mine://note", "provider": "mine"}"#)
        .file(
            "tools/functions.py",
            "import os\nfrom mcp_bash import tool\n\n@tool\ndef worker() -> list[str]:\n    \"\"\"What is open.\"\"\"\n    \
             def at(number):\n        try:\n            return os.readlink('/dev/fd/' + number)\n        except OSError:\n            \
             return ''\n    return [at(number) for number in os.listdir('/dev/fd')]\n",
        );
    let mut server = server_of_careless_parent(&project);
    let listed = server.ask(1, "tools/list", &json!({}))["result"]["tools"].to_string();
    assert!(listed.contains("provided") && listed.contains("worker"), "{listed}");
    assert_eq!(text(&call(&mut server, "script", &json!({}))), "done");
    let confined = call(&mut server, "confined", &json!({}));
    let said: Vec<&str> = text(&confined).lines().collect();
    assert!(said.contains(&"looked") && !said.contains(&"7") && !said.contains(&"200"), "{confined}");
    let read = server.ask(2, "resources/read", &json!({ "uri": "mine://note" }));
    assert_eq!(read["result"]["contents"][0]["text"], "text", "{read}");
    let of_worker = call(&mut server, "worker", &json!({})).to_string();
    let written = ["script", "policy", "environment", "provider", "resources"];
    let written = written.map(|source| (source, project.read(&format!("open.{source}"))));
    for (source, open) in written.into_iter().chain([("worker", of_worker)]) {
        assert!(
            open.contains("pipe:") || open.contains("/dev/null"),
            "the listing of {source} works: {open}"
        );
        assert!(!open.contains("secret"), "{source}: {open}");
    }
}
