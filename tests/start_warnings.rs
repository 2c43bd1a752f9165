//! What was wrong when the server started is told to a client as soon as it can be told anything.

use crate::harness::{Project, Server};
use serde_json::{Value, json};

/// A project with so many mistakes in it.
fn mistaken(count: usize) -> Project {
    (0..count).fold(Project::with_hi(), |project, number| {
        project
            .script(&format!("tools/bad{number}/tool.sh"), "#!/bin/sh\n")
            .file(&format!("tools/bad{number}/tool.meta.json"), "{ no JSON")
    })
}

fn text(notification: &Value) -> &str {
    assert_eq!(notification["method"], "notifications/message", "{notification}");
    notification["params"]["data"]["message"].as_str().unwrap_or_else(|| panic!("{notification}"))
}

#[test]
fn they_come_once_and_only_after_the_client_is_ready() {
    let project = mistaken(1);
    let settings = [("MCPBASH_MAX_TIMEOUT_SECS", "many")];
    let mut server = Server::start_with(project.root(), &settings);
    server.ask(1, "initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {} }));
    assert!(server.told_so_far().is_empty());
    server.notify("notifications/initialized", &json!({}));
    let told = server.told_so_far();
    let about = |words: &str| told.iter().filter(|message| text(message).contains(words)).count();
    assert_eq!(about("MCPBASH_MAX_TIMEOUT_SECS"), 1, "{told:?}");
    assert_eq!(about("tools/bad0/tool.meta.json"), 1, "{told:?}");
    assert!(told.iter().all(|message| message["params"]["level"] == "warning"), "{told:?}");
    server.notify("notifications/initialized", &json!({}));
    server.expect_silence();
}

#[test]
fn many_of_them_are_counted_instead_of_told() {
    let project = mistaken(60);
    let mut server = Server::start(project.root());
    server.initialize("2025-11-25");
    let told = server.told_so_far();
    assert_eq!(told.len(), 21, "{told:?}");
    assert!(text(&told[20]).contains("40 more warnings; `mcp-bash health` lists them all"), "{told:?}");
}

#[test]
fn a_client_that_wants_no_warnings_gets_none() {
    let project = mistaken(2);
    let mut server = Server::start(project.root());
    server.ask(1, "initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {} }));
    server.ask(2, "logging/setLevel", &json!({ "level": "error" }));
    server.notify("notifications/initialized", &json!({}));
    server.expect_silence();
}

#[test]
fn without_mistakes_nothing_is_told() {
    let project = Project::with_hi();
    let mut server = Server::start(project.root());
    server.initialize("2025-11-25");
    server.expect_silence();
}
