//! Clients never receive absolute paths of this machine, whatever goes wrong.

use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// A project in which everything that can go wrong does.
fn broken(folder: &Path) -> Project {
    let project = Project::new()
        .tool("fails", "#!/bin/bash\necho \"$0 failed in $PWD\" >&2\nnonexistent-command\n")
        .tool("unstarted", "#!/nowhere/sh\n")
        .tool("not_json", "#!/bin/sh\necho x\n")
        .file("tools/not_json/tool.meta.json", r#"{"name": "not_json", "outputSchema": {"type": "object"}}"#)
        .tool("writable", "#!/bin/sh\necho never\n")
        .tool("linked", "#!/bin/sh\necho never\n")
        .tool(
            "files",
            "#!/bin/sh\necho \"$MCPBASH_PROJECT_ROOT/none\" >\"$MCP_TOOL_RESOURCES_FILE\"\necho ok\n",
        )
        .tool("sdk", "#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\n. \"$MCP_SDK/none.sh\"\n")
        .tool("tmp", "#!/bin/sh\ncat \"$MCP_TOOL_ERROR_FILE\" \"$HOME/none\" \"${TMPDIR:-/tmp}/none\"\n")
        .file("tools/broken/tool.meta.json", "{ no JSON")
        .script("tools/broken/tool.sh", "#!/bin/sh\n")
        .script("tools/gone.sh", "#!/bin/sh\n# inputSchema\nexit 7\n")
        .script("prompts/p/prompt.sh", "#!/bin/bash\nnonexistent-command\n")
        .file("prompts/p/prompt.meta.json", r#"{"name": "p"}"#)
        .script("providers/mine.sh", "#!/bin/bash\nnonexistent-command\n")
        .file("resources/r.meta.json", r#"{"uri": "mine://r", "name": "r", "provider": "mine"}"#)
        .file("config/roots.json", "{ no JSON");
    std::fs::set_permissions(project.path("tools/writable/tool.sh"), Permissions::from_mode(0o777)).unwrap();
    let elsewhere = folder.join("elsewhere.sh");
    std::fs::write(&elsewhere, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&elsewhere, Permissions::from_mode(0o777)).unwrap();
    std::fs::remove_file(project.path("tools/linked/tool.sh")).unwrap();
    symlink(elsewhere, project.path("tools/linked/tool.sh")).unwrap();
    project
}

/// Everything that a client receives when it tries all of it.
fn everything(project: &Project, settings: &[(&str, &str)]) -> (Vec<Value>, String) {
    let mut server = Server::start_with(project.root(), settings);
    server.ask("init", "initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {} }));
    server.ask("level", "logging/setLevel", &json!({ "level": "debug" }));
    server.notify("notifications/initialized", &json!({}));
    let tools = server_tools(project);
    for (number, tool) in tools.iter().enumerate() {
        server.call(number, tool);
    }
    server.request("p", "prompts/get", &json!({ "name": "p" }));
    server.request("r", "resources/read", &json!({ "uri": "mine://r" }));
    server.request("none", "resources/read", &json!({ "uri": "file://./resources/none" }));
    server.request("outside", "resources/read", &json!({ "uri": "file://./tools/fails/tool.sh" }));
    server.request("list", "tools/list", &json!({}));
    // A reload that finds a new error.
    project.write("tools/broken/tool.meta.json", "{ other JSON");
    server.close_input();
    let told = server.rest();
    let stderr = server.stderr();
    (told, stderr)
}

fn server_tools(project: &Project) -> Vec<String> {
    let entries = std::fs::read_dir(project.path("tools")).unwrap().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().replace(".sh", "")).collect();
    names.sort();
    names
}

#[test]
fn no_message_to_a_client_holds_an_absolute_path() {
    let (home, private) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let project = broken(home.path());
    let roots = project.path("nonexistent").display().to_string();
    let settings = [
        ("HOME", home.path().to_str().unwrap()),
        ("TMPDIR", private.path().to_str().unwrap()),
        ("MCPBASH_ROOTS", &*roots),
        ("MCPBASH_LOG_LEVEL", "debug"),
        ("MCPBASH_DEBUG_PAYLOADS", "true"),
        ("MCPBASH_TOOL_ENV_MODE", "minimal"),
    ];
    let (told, stderr) = everything(&project, &settings);
    let failures = told.iter().filter(|message| message.get("id").is_some()).count();
    assert!(failures > 12, "{told:?}");
    for folder in [project.root(), home.path(), private.path()] {
        let folder = folder.to_str().unwrap();
        for message in &told {
            // A URI names a resource, and stays whole.
            let text = message.to_string().replace("file:///", "");
            assert!(!text.contains(folder), "{folder} in {message}");
        }
    }
    assert!(stderr.contains(project.root().to_str().unwrap()), "the operator is told whole paths: {stderr}");

    let whole = [("MCPBASH_LOG_VERBOSE", "true")];
    let (told, _) = everything(&project, &whole);
    let told = told.iter().map(ToString::to_string).collect::<String>();
    assert!(told.contains(project.path("tools/writable/tool.sh").to_str().unwrap()), "{told}");
}

#[test]
fn a_path_from_the_client_is_repeated_as_it_was_sent() {
    let elsewhere = tempfile::TempDir::new().unwrap();
    let project = Project::new()
        .script("prompts/p.sh", "#!/bin/bash\n# mcp: {\"arguments\": [{\"name\": \"path\"}]}\n. \"$MCP_SDK/tool-sdk.sh\"\necho \"$(jq -r .path) is no repository, $PWD neither\" >&2\nexit 1\n")
        .script("tools/t.sh", "#!/bin/sh\n# mcp: {\"argv\": [\"{path}\"]}\necho \"$1 is no repository, $PWD neither\" >&2\nexit 1\n");
    let path = elsewhere.path().join("repository").display().to_string();
    let mut server = Server::ready(project.root());
    let prompt = server.ask(1, "prompts/get", &json!({ "name": "p", "arguments": { "path": path } }));
    let tool = server.ask(2, "tools/call", &json!({ "name": "t", "arguments": { "path": path } }));
    for told in [&prompt["error"]["message"], &tool["result"]["content"][0]["text"]] {
        let told = told.as_str().unwrap_or_else(|| panic!("{prompt} {tool}"));
        assert!(told.contains(&format!("{path} is no repository, . neither")), "{told}");
    }
}
