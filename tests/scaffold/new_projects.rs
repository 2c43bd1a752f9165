//! `mcp-bash new`.

use super::{call, done, health, names};
use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

#[test]
fn a_new_project_is_ready_and_its_tool_greets() {
    let project = Project::new();
    let said = done(project.root(), &["new", "demo"]);
    assert_eq!(
        said,
        "Created project at ./demo/\n\
         \n\
         Next steps:\n  \
           cd demo                        # the project\n  \
           mcp-bash call hello name=Ada   # call its tool\n  \
           mcp-bash scaffold tool NAME    # make one of your own\n  \
           mcp-bash install               # add the server to your clients\n"
    );
    let root = project.path("demo");
    let ignored = project.read("demo/.gitignore");
    for line in [".registry/", ".venv/", "__pycache__/", "node_modules/"] {
        assert!(ignored.lines().any(|found| found == line), "{line}: {ignored}");
    }
    let expected = [
        ".gitignore",
        ".schemas",
        "README.md",
        "server.d",
        "server.d/server.meta.json",
        "tools",
        "tools/hello",
        "tools/hello/tests",
        "tools/hello/tests/hello.yaml",
        "tools/hello/tool.meta.json",
        "tools/hello/tool.sh",
    ];
    assert_eq!(names(&root), expected);
    let metadata: Value = serde_json::from_str(&project.read("demo/server.d/server.meta.json")).unwrap();
    assert_eq!((&metadata["name"], &metadata["title"]), (&json!("demo"), &json!("Demo")));
    let report = health(&root);
    assert_eq!((&report["status"], &report["problems"]), (&json!("ok"), &json!([])), "{report}");

    let mut server = Server::ready(&root);
    let result = call(&mut server, "hello", &json!({ "name": "Ada" }));
    assert_eq!(
        result["structuredContent"],
        json!({ "success": true, "result": { "message": "Hello, Ada!" } })
    );
    assert_eq!(call(&mut server, "hello", &json!({ "name": "A\nB" }))["isError"], true);
    assert_eq!(call(&mut server, "hello", &json!({ "nmae": "Ada" }))["isError"], true);
}

#[cfg(target_os = "linux")]
#[cfg_attr(mcp_bash_portable, ignore = "the sandbox is Landlock")]
#[test]
fn scripts_of_a_new_project_read_no_file_outside_of_it() {
    let project = Project::new().file("outside", "a secret");
    done(project.root(), &["new", "demo"]);
    let reads = |path: &str| format!("#!/bin/sh\n# mcp: {{\"description\": \"x\"}}\ncat '{path}'\n");
    project.write_script("demo/tools/outside.sh", &reads(project.path("outside").to_str().unwrap()));
    project.write_script("demo/tools/inside.sh", &reads("README.md"));
    let mut server = Server::ready(&project.path("demo"));
    let outside = call(&mut server, "outside", &json!({}));
    assert!(outside["isError"] == true && !outside.to_string().contains("a secret"), "{outside}");
    let inside = call(&mut server, "inside", &json!({}));
    assert!(inside["content"][0]["text"].as_str().unwrap().starts_with("# demo"), "{inside}");
}

#[test]
fn a_new_project_is_right_whatever_its_folder_is_called() {
    let project = Project::new();
    let strictly = |folder: &Path| {
        let mut command = Server::command();
        command.args(["validate", "--strict"]).current_dir(folder);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let metadata = fs::read_to_string(folder.join("server.d/server.meta.json")).unwrap();
        let metadata: Value = serde_json::from_str(&metadata).unwrap();
        (metadata["name"].as_str().unwrap().to_owned(), metadata["title"].as_str().unwrap().to_owned())
    };
    done(project.root(), &["new", "my_proj"]);
    assert_eq!(strictly(&project.path("my_proj")), ("my-proj".to_owned(), "My Proj".to_owned()));
    let long = "x".repeat(200);
    for (folder, name, title) in [
        ("a_b", "a-b", "A B"),
        ("My Dir.v2", "My-Dir-v2", "My Dir.v2"),
        ("\u{fc}n\u{ef}", "n", "\u{dc}n\u{ef}"),
        (".hid", "hid", ".hid"),
        (&long, &long[..40], &format!("X{}", &long[1..])),
    ] {
        fs::create_dir(project.path(folder)).unwrap();
        done(&project.path(folder), &["init"]);
        assert_eq!(strictly(&project.path(folder)), (name.to_owned(), title.to_owned()));
    }
}

#[test]
fn no_hello_is_a_project_without_tools() {
    let project = Project::new();
    let said = done(project.root(), &["new", "demo", "--no-hello"]);
    assert!(said.contains("mcp-bash scaffold tool NAME") && !said.contains("hello"), "{said}");
    let expected = [".gitignore", ".schemas", "README.md", "server.d", "server.d/server.meta.json", "tools"];
    assert_eq!(names(&project.path("demo")), expected);
    let report = health(&project.path("demo"));
    assert_eq!((&report["status"], &report["problems"]), (&json!("ok"), &json!([])), "{report}");
}
