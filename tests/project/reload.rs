//! A project that changes while it is served: detected, announced once, and never half.

use crate::harness::{Project, Server, code, wait_until};
use serde_json::{Value, json};

fn names(server: &mut Server) -> Vec<String> {
    server.request("names", "tools/list", &json!({}));
    loop {
        let message = server.receive();
        if message["id"] == "names" {
            let tools = message["result"]["tools"].as_array().unwrap().clone();
            return tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        }
    }
}

fn quiet(project: &Project) -> Server {
    Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")], "2025-11-25")
}

fn announcement() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {} })
}

// Shows: tools-changed
#[test]
fn a_tool_that_is_added_changed_or_removed_is_announced_and_listed() {
    let project = Project::with_hi();
    let mut server = quiet(&project);
    assert_eq!(names(&mut server), ["hi"]);

    let project = project.tool("new", "#!/bin/sh\necho new\n");
    assert_eq!(server.receive(), announcement());
    assert_eq!(names(&mut server), ["hi", "new"]);
    server.call(1, "new");
    assert_eq!(server.receive()["result"]["content"][0]["text"], "new");

    let project = project.file("tools/new/tool.meta.json", r#"{"name": "renamed"}"#);
    assert_eq!(server.receive(), announcement());
    assert_eq!(names(&mut server), ["hi", "renamed"]);

    project.remove("tools/new");
    assert_eq!(server.receive(), announcement());
    assert_eq!(names(&mut server), ["hi"]);
}

// Shows: tools-changed
#[test]
fn changes_that_do_not_affect_the_list_are_not_announced() {
    let project = Project::with_hi();
    let mut server = quiet(&project);
    assert_eq!(names(&mut server), ["hi"]);
    let project = project
        .script("tools/hi/tool.sh", "#!/bin/sh\necho changed\n")
        .file("tools/hi/notes.txt", "x")
        .file("README.md", "x");
    let text = wait_until("the new script to be run", || {
        server.call("call", "hi");
        let answer = server.receive();
        (answer["result"]["content"][0]["text"] == "changed").then_some(answer)
    });
    assert_eq!(text["id"], "call");
    // An announced change shows that nothing was announced before it.
    let _project = project.tool("zz", "#!/bin/sh\n");
    assert_eq!(server.receive(), announcement());
}

#[test]
fn a_folder_created_later_is_detected() {
    let project = Project::new().file("server.d/server.meta.json", "{}");
    let mut server = quiet(&project);
    assert!(names(&mut server).is_empty());
    let _project = project.tool("first", "#!/bin/sh\n");
    wait_until("the first tool", || (names(&mut server) == ["first"]).then_some(()));
}

#[test]
fn a_registration_that_breaks_leaves_the_last_good_state() {
    let project = Project::with_hi().file("server.d/register.json", r#"{"version": 1}"#);
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "error")], "2025-11-25");
    assert_eq!(names(&mut server), ["hi"]);
    let project = project.file("server.d/register.json", "{ broken");
    let told = server.receive();
    assert_eq!(
        (&told["method"], &told["params"]["level"]),
        (&json!("notifications/message"), &json!("error"))
    );
    assert_eq!(names(&mut server), ["hi"]);
    let _project = project.file("server.d/register.json", r#"{"version": 1, "tools": []}"#);
    wait_until("the repaired registration", || names(&mut server).is_empty().then_some(()));
}

#[test]
fn a_registration_that_is_fixed_is_served() {
    let project = Project::with_hi().file("server.d/register.json", "{ broken");
    let mut server = quiet(&project);
    assert_eq!(code(&server.ask(1, "tools/list", &json!({}))), -32603);
    let _project = project.file("server.d/register.json", r#"{"version": 1}"#);
    assert_eq!(server.receive(), announcement());
    assert_eq!(names(&mut server), ["hi"]);
}

#[test]
fn a_running_call_keeps_the_version_of_its_tool() {
    let project = Project::new().waiting_tool("wait");
    let mut server = quiet(&project);
    server.call(1, "wait");
    project.wait_for_started(1);
    project.remove("tools/wait");
    assert_eq!(server.receive(), announcement());
    project.open_gate();
    assert_eq!(server.receive()["result"]["content"][0]["text"], "went");
}
