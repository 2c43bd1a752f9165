//! Which folder is served when none is named, and the message if it is the wrong one.

use crate::harness::{Project, Server};
use serde_json::{Value, json};

/// The output of `--health` in a folder.
fn health(project: &Project, folder: &str, arguments: &[&str]) -> (Option<i32>, Value) {
    let mut command = Server::command();
    command.arg("--health").args(arguments).current_dir(project.path(folder));
    let output = command.output().expect("the binary runs");
    (output.status.code(), serde_json::from_slice(&output.stdout).expect("a report"))
}

/// The tools of a server started in a folder.
fn served(project: &Project, folder: &str) -> (Vec<String>, String) {
    let mut command = Server::command();
    command.current_dir(project.path(folder));
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    let list = server.ask(1, "tools/list", &json!({}));
    let tools = list["result"]["tools"].as_array().unwrap().iter();
    let names = tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    (names, server.finish())
}

#[test]
fn a_tools_folder_in_a_parent_is_not_served() {
    let project = Project::with_hi().file("src/deep/x", "");
    assert_eq!(served(&project, "").0, ["hi"]);
    for folder in ["src", "src/deep", "tools", "tools/hi"] {
        let (names, _) = served(&project, folder);
        assert_eq!(names, ["countdown", "getting_started"], "{folder}");
        assert_eq!(health(&project, folder, &[]).0, Some(2), "{folder}");
    }
}

#[test]
fn a_parent_folder_with_a_project_file_is_served() {
    let project = Project::with_hi().file("server.d/server.meta.json", "{}").file("src/deep/x", "");
    for folder in ["", "src", "src/deep", "tools/hi"] {
        assert_eq!(served(&project, folder).0, ["hi"], "{folder}");
    }
    // The nearest one wins: a user in a folder with its own tools means that one.
    let project = project.script("src/deep/tools/own/tool.sh", "#!/bin/sh\n");
    assert_eq!(served(&project, "src/deep").0, ["own"]);
}

#[test]
fn a_project_in_a_neighbouring_folder_is_suggested() {
    let project = Project::new()
        .script("project/tools/hi/tool.sh", "#!/bin/sh\n")
        .file("project/src/x", "")
        .file("elsewhere/x/y", "");
    let root = project.root().canonicalize().unwrap().join("project");
    let remedy = format!("{} looks like", root.display());
    for folder in ["", "project/tools", "project/src"] {
        let (status, report) = health(&project, folder, &[]);
        assert_eq!(status, Some(2), "{folder}");
        assert!(report["problems"][0]["remedy"].as_str().unwrap().contains(&remedy), "{folder}: {report}");
        assert!(served(&project, folder).1.contains(&remedy), "{folder}");
        // The same for a named folder that contains nothing.
        let (_, report) = health(&project, folder, &["--project-root", "."]);
        let problems = report["problems"].to_string();
        assert!(problems.contains(&remedy), "{folder}: {problems}");
    }
    let (_, report) = health(&project, "elsewhere", &["--project-root", "."]);
    assert!(!report["problems"].to_string().contains("looks like"), "{report}");
}
