//! Roots that are set and wrong open nothing.

use crate::harness::{Project, Server};
use serde_json::{Value, json};

fn project() -> Project {
    Project::new()
        .tool("path", "#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\nmcp_require_path .path --default-to-single-root\n")
        .file("data/x", "")
}

fn text(answer: &Value) -> String {
    let said = answer["result"]["content"][0]["text"].as_str().or(answer["error"]["message"].as_str());
    said.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn call(server: &mut Server, path: &str) -> String {
    text(&server.ask("call", "tools/call", &json!({ "name": "path", "arguments": { "path": path } })))
}

fn health(project: &Project, environment: &[(&str, &str)]) -> (Value, i32) {
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root()).arg("--health").envs(environment.iter().copied());
    let output = command.output().unwrap();
    (serde_json::from_slice(&output.stdout).unwrap(), output.status.code().unwrap())
}

/// Starts a server that logs nothing to its client.
fn quiet(project: &Project, environment: &[(&str, &str)]) -> Server {
    let mut all = vec![("MCPBASH_LOG_LEVEL", "emergency")];
    all.extend(environment);
    Server::ready_with(project.root(), &all, "2025-11-25")
}

#[test]
fn no_path_is_allowed_where_the_setting_is_wrong() {
    let project = project();
    let inside = project.path("data/x").display().to_string();
    for roots in ["/nonexist", "data:/nonexist", ":"] {
        let mut server = quiet(&project, &[("MCPBASH_ROOTS", roots)]);
        for path in [&*inside, "/etc/passwd", "/"] {
            let said = call(&mut server, path);
            assert!(said.contains("MCPBASH_ROOTS") && said.contains("no path is allowed"), "{roots}: {said}");
        }
        let single = text(&server.ask(1, "tools/call", &json!({ "name": "path", "arguments": {} })));
        assert!(single.contains("MCPBASH_ROOTS"), "{single}");
        let (report, status) = health(&project, &[("MCPBASH_ROOTS", roots)]);
        assert_eq!(status, 1, "{report}");
        assert!(report["problems"].to_string().contains("MCPBASH_ROOTS"), "{report}");
    }
    let mut server = quiet(&project, &[("MCPBASH_ROOTS", "data")]);
    assert!(call(&mut server, &inside).ends_with("/data/x"));
    assert!(call(&mut server, "/etc/passwd").contains("outside"));
    assert_eq!(health(&project, &[("MCPBASH_ROOTS", "data")]).1, 0);
}

#[test]
fn no_path_is_allowed_where_the_flag_is_wrong() {
    let project = project();
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root()).args(["--roots", "/nonexist"]);
    command.env("MCPBASH_LOG_LEVEL", "emergency");
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    assert!(call(&mut server, "/etc/passwd").contains("--roots"));
}

#[test]
fn no_path_is_allowed_where_the_file_is_wrong() {
    for file in ["{\"roots\": [", r#"{"roots": [{"path": "/nonexist"}]}"#, r#"{"roots": "data"}"#] {
        let project = project().file("config/roots.json", file);
        let mut server = quiet(&project, &[]);
        let said = call(&mut server, "/etc/passwd");
        assert!(said.contains("config/roots.json") && said.contains("no path is allowed"), "{file}: {said}");
        let (report, status) = health(&project, &[]);
        assert_eq!(status, 1, "{report}");
        assert!(report["problems"].to_string().contains("config/roots.json"), "{report}");
    }
    // One that is right is enough, and the others are not opened by it.
    let project =
        project().file("config/roots.json", r#"{"roots": [{"path": "data"}, {"path": "/nonexist"}]}"#);
    let mut server = quiet(&project, &[]);
    assert!(call(&mut server, &project.path("data/x").display().to_string()).ends_with("/data/x"));
    assert!(call(&mut server, "/etc/passwd").contains("outside"));
}

/// A client whose folders are all wrong does not open every path by that, and one that names none leaves it to the
/// project.
#[test]
fn no_path_is_allowed_where_the_client_is_wrong() {
    let project = project();
    for (roots, said) in [
        (json!([{ "uri": "file:///nonexist" }, { "uri": "https://example.com" }]), "no path is allowed"),
        (json!([]), "outside"),
    ] {
        let mut server = Server::start_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")]);
        server.initialize_offering("2025-11-25", &json!({ "roots": {} }));
        let asked = server.receive();
        server.reply(&asked, &json!({ "roots": roots }));
        let answer = call(&mut server, "/etc/passwd");
        assert!(answer.contains(said), "{roots}: {answer}");
    }
}

#[test]
fn folders_of_resources_that_are_not_there_are_reported() {
    let project = project();
    let (report, _) = health(&project, &[("MCP_RESOURCES_ROOTS", "data:nowhere")]);
    let problems = report["problems"].to_string();
    assert!(problems.contains("MCP_RESOURCES_ROOTS") && problems.contains("nowhere"), "{problems}");
    assert!(!problems.contains("data"), "{problems}");
}
