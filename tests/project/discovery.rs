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

/// Waits until clients are notified that the tools have changed.
fn wait_for_change(server: &mut Server) {
    while server.receive()["method"] != "notifications/tools/list_changed" {}
}

#[test]
fn scripts_with_metadata_are_tools_in_any_folder() {
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
    assert_eq!(names(&mut server), ["flat", "folder", "named"]);
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
    for file in ["broken.meta.json", "lonely.meta.json", "typed.meta.json", "zz-twin.sh"] {
        assert!(stderr.contains(file), "{file} in {stderr}");
    }
}

#[test]
fn metadata_is_json_then_yaml_then_a_comment_then_defaults() {
    let project = Project::new()
        .script("tools/one/tool.sh", "#!/bin/sh\n# mcp: {\"description\": \"from the comment\"}\n")
        .file("tools/one/tool.meta.json", r#"{"description": "from JSON"}"#)
        .file("tools/one/tool.meta.yaml", "description: from YAML\n")
        .script("tools/two/tool.sh", "#!/bin/sh\n# mcp: {\"description\": \"from the comment\"}\n")
        .file(
            "tools/two/tool.meta.yaml",
            "name: second\ndescription: from YAML\ninputSchema:\n  type: object\n  properties:\n    n: {type: integer}\n",
        )
        .script("tools/three/tool.py", "#!/usr/bin/env python3\n# mcp: {\"name\": \"third\", \"description\": \"from the comment\", \"arguments\": {\"type\": \"object\", \"properties\": {\"x\": {}}}}\n")
        .script("tools/four/tool.rb", "#!/usr/bin/env ruby\n")
        .script("tools/five/plain", "#!/bin/sh\n")
        .script("tools/five/plain.meta.json", r#"{"title": "By its whole name"}"#);
    let mut server = Server::ready(project.root());
    let tools = server.ask(1, "tools/list", &json!({}))["result"]["tools"].clone();
    let told: Vec<_> =
        tools.as_array().unwrap().iter().map(|tool| (&tool["name"], &tool["description"])).collect();
    let expected = json!([
        ["four", null],
        ["one", "from JSON"],
        ["plain", null],
        ["second", "from YAML"],
        ["third", "from the comment"]
    ]);
    assert_eq!(json!(told), expected);
    assert_eq!(tools[0]["inputSchema"], json!({ "type": "object", "properties": {} }));
    assert_eq!(tools[2]["title"], "By its whole name");
    assert_eq!(tools[3]["inputSchema"]["properties"]["n"]["type"], "integer");
    assert_eq!(tools[4]["inputSchema"]["properties"], json!({ "x": {} }));
}

#[test]
fn the_shebang_or_the_executable_bit_decides_never_the_extension() {
    let project = Project::new()
        .file("tools/shebang/shebang.txt", "#!/bin/sh\necho shebang\n")
        .file("tools/b/data.sh", "echo not a tool\n")
        .script("tools/c/smoke.sh", "#!/bin/sh\n")
        .script("tools/d/.hidden.sh", "#!/bin/sh\n")
        .file("tools/e/asleep.sh", "echo described but not runnable\n")
        .file("tools/e/asleep.meta.json", "{}");
    std::fs::copy("/bin/true", {
        std::fs::create_dir_all(project.path("tools/compiled")).unwrap();
        project.path("tools/compiled/compiled")
    })
    .unwrap();
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["compiled", "shebang"]);
    assert!(server.finish().contains("asleep.sh: is skipped: it is neither executable"));
}

#[test]
fn helpers_beside_a_tool_are_not_tools() {
    let project = Project::new()
        .script("tools/backup/tool.sh", "#!/bin/sh\n")
        .script("tools/backup/rotate.sh", "#!/bin/sh\n")
        .script("tools/backup/lib/upload.py", "#!/usr/bin/env python3\n")
        .script("tools/backup/restore.sh", "#!/bin/sh\n# mcp: {\"description\": \"Says so itself\"}\n")
        .script("tools/backup/verify.sh", "#!/bin/sh\n")
        .file("tools/backup/verify.meta.yaml", "description: has metadata\n")
        .script("tools/like-folder/like-folder.py", "#!/bin/sh\n")
        .script("tools/like-folder/helper", "#!/bin/sh\n")
        .script("tools/whole.name/whole.name", "#!/bin/sh\n")
        .script("tools/group/inner/tool", "#!/bin/sh\n");
    let expected = ["backup", "inner", "like-folder", "restore", "verify", "whole"];
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), expected);
    project.wait_for_file(".registry/.tools.stamps");
    assert!(!server.finish().contains("none of them is a tool"));
    // The same from the registry, and when a helper gets metadata later.
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), expected);
    project.write("tools/backup/rotate.sh", "#!/bin/sh\n# mcp: {\"name\": \"aa-rotate\"}\n");
    wait_for_change(&mut server);
    assert_eq!(names(&mut server)[0], "aa-rotate");
}

#[test]
fn a_folder_in_which_nothing_is_a_tool_is_named() {
    let project = Project::with_hi()
        .script("tools/disk-usage/disk_usage.sh", "#!/bin/sh\n")
        .script("tools/.lib/helper.sh", "#!/bin/sh\n")
        .file("tools/sourced/functions.sh", "#!/bin/sh\n");
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["hi"]);
    let told = server.finish();
    let warned: Vec<&str> = told.lines().filter(|line| line.contains("none of them is a tool")).collect();
    assert!(warned.len() == 1 && warned[0].contains("disk-usage") && warned[0].contains("tool.*"), "{told}");
}

#[test]
fn tools_are_found_at_any_depth_and_the_limit_is_reported() {
    let deep = |levels: usize| "d/".repeat(levels);
    let project = Project::new()
        .script(&format!("tools/{}found/tool.sh", deep(12)), "#!/bin/sh\n")
        .script(&format!("tools/{}cut/tool.sh", deep(20)), "#!/bin/sh\n")
        .script("tools/found/node_modules/rimraf/rimraf.js", "#!/usr/bin/env node\n")
        .script("tools/env/bin/tool", "#!/bin/sh\n")
        .file("tools/env/pyvenv.cfg", "home = /usr/bin\n");
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["found"]);
    // Changes at that depth are detected too.
    let path = format!("tools/{}found/tool.sh", deep(12));
    project.write(&path, "#!/bin/sh\n# mcp: {\"name\": \"renamed\"}\n");
    wait_for_change(&mut server);
    assert_eq!(names(&mut server), ["renamed"]);
    let told = server.finish();
    assert!(told.contains("levels deep; move them up"), "{told}");
}

#[test]
fn links_that_loop_or_multiply_terminate() {
    let project = Project::with_hi();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, project.path(name)).unwrap();
    link("..", "tools/up");
    link("../../tools", "tools/hi/around");
    link("/", "tools/hi/everything");
    // Each of ten folders holds ten links to the next.
    for level in 0..10 {
        std::fs::create_dir_all(project.path(&format!("maze/{level}"))).unwrap();
        for number in 0..10 {
            link(&format!("../{}", level + 1), &format!("maze/{level}/{number}"));
        }
    }
    std::fs::create_dir_all(project.path("maze/10")).unwrap();
    link("../maze/0", "tools/maze");
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["hi"]);
    let told = server.finish();
    assert!(told.contains("it leads to a folder that contains it"), "{told}");
    assert!(told.contains("more than 100000 folders"), "{told}");
}

#[test]
fn of_two_scripts_with_one_name_the_first_is_served_and_both_are_named() {
    let project = Project::new()
        .script("tools/b/tool.sh", "#!/bin/sh\n# mcp: {\"name\": \"same\"}\necho b\n")
        .script("tools/a/tool.sh", "#!/bin/sh\n# mcp: {\"name\": \"same\"}\necho a\n");
    for _ in 0..2 {
        let mut server = Server::ready(project.root());
        assert_eq!(names(&mut server), ["same"]);
        server.call(1, "same");
        assert_eq!(server.receive()["result"]["content"][0]["text"], "a");
        project.wait_for_file(".registry/.tools.stamps");
        let told = server.finish();
        for (file, problem) in
            [("b/tool.sh", "is skipped: a/tool.sh"), ("a/tool.sh", "is served as `same`, and b/tool.sh")]
        {
            assert!(
                told.lines().any(|line| line.contains(file) && line.contains(problem)),
                "{problem} in {told}"
            );
        }
    }
}

#[test]
fn local_icons_become_data_uris_and_nothing_outside_is_read() {
    let project = Project::new()
        .tool("pic", "#!/bin/sh\n")
        .file("tools/pic/icon.svg", "<svg/>")
        .file("secret.txt", "x")
        .file(
            "tools/pic/tool.meta.json",
            r#"{"icons": [{"src": "./icon.svg"}, {"src": "https://example.com/i.png"}, {"src": "/etc/passwd", "mimeType": "image/png"}, {"src": "missing.png"}, {"nothing": 1}]}"#,
        );
    let mut server = Server::ready(project.root());
    let icons = server.ask(1, "tools/list", &json!({}))["result"]["tools"][0]["icons"].clone();
    assert_eq!(
        icons,
        json!([
            { "src": "data:image/svg+xml;base64,PHN2Zy8+", "mimeType": "image/svg+xml" },
            { "src": "https://example.com/i.png" },
        ])
    );
    let stderr = server.finish();
    for problem in ["`icons[2]` is ignored: /etc/passwd is outside", "`icons[3]`", "`icons[4]`"] {
        assert!(stderr.contains(problem), "{problem} in {stderr}");
    }
}

#[test]
fn odd_names_are_served_and_reported() {
    let project = Project::new()
        .script("tools/odd/tool.sh", "#!/bin/sh\n")
        .file("tools/odd/tool.meta.json", r#"{"name": "my.dotted tool"}"#);
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["my.dotted tool"]);
    assert!(server.finish().contains("Claude Desktop"));
}

// Shows: tools-failure
#[test]
fn a_tool_that_fails_says_so_in_its_result() {
    let project = Project::new()
        .tool("fails", "#!/bin/sh\necho out\necho 'disk full' >&2\nexit 3\n")
        .tool("silent", "#!/bin/sh\nexit 4\n")
        .tool("killed", "#!/bin/sh\nkill -9 $$\n")
        .tool("missing", "#!/no/such/interpreter\n")
        .tool("slow", "#!/bin/sh\nsleep 1000\n");
    let mut server = Server::ready(project.root());
    server.call(1, "fails");
    let result = server.receive()["result"].clone();
    assert_eq!((&result["isError"], &result["content"][0]["text"]), (&json!(true), &json!("disk full")));
    assert_eq!(result["_meta"], json!({ "exitCode": 3 }));
    server.call(2, "silent");
    assert_eq!(
        server.receive()["result"]["content"][0]["text"],
        "Tool 'silent' failed (exit 4), and printed no reason; its script can print one on standard error"
    );
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
        json!({
            "type": "timeout", "reason": "fixed", "timeoutSecs": 1, "exitCode": 124,
            "message": "Tool 'slow' timed out after 1 s and was ended; `timeoutSecs` in the call or in its metadata, \
                or MCPBASH_DEFAULT_TOOL_TIMEOUT, gives it more",
        })
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
