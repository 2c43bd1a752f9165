//! Which scripts become tools.

use crate::harness::{Project, Server};
use serde_json::json;

fn names(server: &mut Server) -> Vec<String> {
    let list = server.ask("names", "tools/list", &json!({}));
    list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn scripts_with_metadata_are_tools_wherever_they_stand() {
    let project = Project::new()
        .script("tools/flat.py", "#!/bin/sh\necho flat\n")
        .file("tools/flat.meta.json", "{}")
        .script("tools/folder/tool.sh", "#!/bin/sh\necho folder\n")
        .file("tools/folder/tool.meta.json", r#"{"description": "Named by its folder"}"#)
        .script("tools/a/b/deep.sh", "#!/bin/sh\necho deep\n")
        .file("tools/a/b/deep.meta.json", r#"{"name": "named"}"#)
        .file("tools/a/b/c/too-deep.meta.json", "{}")
        .file("tools/.hidden/tool.meta.json", "{}")
        .file("tools/notes.txt", "not a tool");
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["named", "flat", "folder"]);
    for (tool, text) in [("flat", "flat"), ("folder", "folder"), ("named", "deep")] {
        server.call(1, tool);
        assert_eq!(server.receive()["result"]["content"][0]["text"], text);
    }
}

#[test]
fn one_bad_entry_hides_no_other_and_is_named_in_the_log() {
    let project = Project::with_hi()
        .file("tools/broken.meta.json", "{")
        .file("tools/lonely.meta.json", "{}")
        .script("tools/typed.sh", "#!/bin/sh\n")
        .file("tools/typed.meta.json", r#"{"inputSchema": {"type": "array"}}"#)
        .script("tools/zz-twin.sh", "#!/bin/sh\n")
        .file("tools/zz-twin.meta.json", r#"{"name": "hi"}"#);
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["hi"]);
    let stderr = server.finish();
    for file in ["broken.meta.json", "lonely.meta.json", "typed.meta.json", "zz-twin.meta.json"] {
        assert!(stderr.contains(file), "{file} in {stderr}");
    }
}

#[test]
fn a_tool_that_fails_says_so_in_its_result() {
    let project = Project::new()
        .tool("fails", "#!/bin/sh\necho out\necho 'disk full' >&2\nexit 3\n")
        .tool("silent", "#!/bin/sh\nexit 4\n")
        .tool("killed", "#!/bin/sh\nkill -9 $$\n")
        .tool("missing", "#!/no/such/interpreter\n")
        .tool("slow", "#!/bin/sh\nsleep 60\n");
    let mut server = Server::ready(project.root());
    server.call(1, "fails");
    let result = server.receive()["result"].clone();
    assert_eq!((&result["isError"], &result["content"][0]["text"]), (&json!(true), &json!("disk full")));
    assert_eq!(result["_meta"], json!({ "exitCode": 3, "stderr": "disk full" }));
    server.call(2, "silent");
    assert_eq!(server.receive()["result"]["content"][0]["text"], "Tool 'silent' failed (exit 4)");
    server.call(3, "killed");
    assert_eq!(server.receive()["result"]["_meta"]["exitCode"], 137);
    server.call(4, "missing");
    let result = server.receive()["result"].clone();
    assert_eq!(result["isError"], true);
    assert!(result["content"][0]["text"].as_str().unwrap().contains("could not be started"), "{result}");
    server.request(5, "tools/call", &json!({ "name": "slow", "timeoutSecs": 1 }));
    let result = server.receive()["result"].clone();
    assert_eq!(
        result["structuredContent"]["error"],
        json!({ "type": "timeout", "reason": "fixed", "timeoutSecs": 1 })
    );
}

#[test]
fn large_arguments_reach_a_script_as_a_file_that_vanishes() {
    let project = Project::new().tool(
        "sizes",
        "#!/bin/sh\necho \"${#MCP_TOOL_ARGS_JSON} $(wc -c <\"${MCP_TOOL_ARGS_FILE:-/dev/null}\") $MCP_TOOL_ARGS_FILE\"\n",
    );
    let mut server =
        Server::ready_with(project.root(), &[("MCPBASH_ENV_PAYLOAD_THRESHOLD", "20")], "2025-11-25");
    server.request(1, "tools/call", &json!({ "name": "sizes", "arguments": { "x": 1 } }));
    assert_eq!(server.receive()["result"]["content"][0]["text"], "7 0 ");
    server.request(2, "tools/call", &json!({ "name": "sizes", "arguments": { "x": "y".repeat(100) } }));
    let answer = server.receive();
    let words: Vec<&str> = answer["result"]["content"][0]["text"].as_str().unwrap().split(' ').collect();
    assert_eq!(words[..2], ["0", "108"]);
    assert!(!std::path::Path::new(words[2]).exists(), "{answer}");
}

#[test]
fn the_project_in_the_repository_that_is_embedded_is_served_as_any_other() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../project/embedded");
    let mut server = Server::ready(&folder);
    assert_eq!(names(&mut server), ["countdown", "getting_started"]);
}
