//! Errors at the start are sent to a client as soon as it is ready.

use crate::harness::{Project, Server, wait_until};
use serde_json::{Value, json};

/// A project with this many errors.
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
fn they_are_sent_once_and_only_after_the_client_is_ready() {
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

/// The messages that a server sends at the start to a client of that name. The server is stopped when its
/// record says that the client has received this many warnings.
fn told_to(project: &Project, client: &str, received: usize) -> Vec<String> {
    let mut server = Server::start(project.root());
    let info = json!({ "name": client, "version": "1" });
    server.ask(
        1,
        "initialize",
        &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info }),
    );
    server.notify("notifications/initialized", &json!({}));
    let told = server.told_so_far();
    let file = project.root().join(".registry/sent-warnings.json");
    wait_until("the warnings to be remembered", || {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let all: Value = serde_json::from_str(&text).unwrap_or_default();
        (all[client].as_array().map_or(0, Vec::len) == received).then_some(())
    });
    told.iter().map(|message| text(message).to_owned()).collect()
}

#[test]
fn a_client_that_starts_a_server_for_each_call_receives_them_once() {
    let project = mistaken(2);
    assert_eq!(told_to(&project, "one", 2).len(), 2);
    assert!(told_to(&project, "one", 2).is_empty(), "the second process");
    assert_eq!(told_to(&project, "another", 2).len(), 2, "another client");
    // One is fixed and one is new: only the new one is sent.
    let fixed = r#"{"name": "bad0", "description": "Good"}"#;
    let project =
        project.file("tools/bad0/tool.meta.json", fixed).file("tools/bad1/tool.meta.json", "[ no JSON");
    let told = told_to(&project, "one", 1);
    assert!(told.len() == 1 && told[0].contains("tools/bad1/"), "{told:?}");
    let project = project.file("tools/bad0/tool.meta.json", "{ no JSON");
    let told = told_to(&project, "one", 2);
    assert!(told.len() == 1 && told[0].contains("tools/bad0/"), "broken again: {told:?}");
    // A client without a name receives all of them.
    for _ in 0..2 {
        assert_eq!(told_to(&project, "", 0).len(), 2);
    }
}

#[test]
fn without_a_record_they_are_sent_each_time() {
    let project = mistaken(1).file(".registry", "a file where the folder would be");
    for _ in 0..2 {
        let told = told_to(&project, "one", 0);
        assert!(told.iter().any(|text| text.contains("tools/bad0/")), "{told:?}");
    }
    let project = Project::with_hi();
    assert!(told_to(&project, "one", 0).is_empty());
    assert!(
        !project.root().join(".registry/sent-warnings.json").exists(),
        "nothing is written without warnings"
    );
}

#[test]
fn many_of_them_are_sent_as_a_count() {
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
fn without_errors_nothing_is_sent() {
    let project = Project::with_hi();
    let mut server = Server::start(project.root());
    server.initialize("2025-11-25");
    server.expect_silence();
}
