//! What clients receive about sandboxes: `_meta` of tools and of results, and one warning in the log.

use crate::harness::{Project, Server};
use serde_json::{Value, json};

const KEY: &str = "mcpbash/sandbox";

fn confined(project: Project, name: &str, script: &str) -> Project {
    let metadata = json!({ "name": name, "description": "d", "sandbox": "on" });
    project.tool(name, script).file(&format!("tools/{name}/tool.meta.json"), &metadata.to_string())
}

fn listed(server: &mut Server) -> Vec<Value> {
    let answer = server.ask(1, "tools/list", &json!({}));
    answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer:#}")).clone()
}

fn called(server: &mut Server, name: &str) -> Value {
    let answer = server.ask_past_news(name, "tools/call", &json!({ "name": name, "arguments": {} }));
    answer["result"].clone()
}

#[test]
fn a_confined_tool_says_what_is_enforced_and_others_say_nothing() {
    let project = confined(Project::with_hi(), "shut", "#!/bin/sh\necho shut\n");
    let mut server = Server::ready(project.root());
    let tools = listed(&mut server);
    let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    assert!(tool("hi").get("_meta").is_none(), "{tools:#?}");
    let sandbox = &tool("shut")["_meta"][KEY];
    assert_eq!((&sandbox["mode"], &sandbox["network"]), (&json!("on"), &json!("none")), "{sandbox:#}");
    let aspects = |key: &str| match &sandbox[key] {
        Value::Object(members) => members.keys().cloned().collect(),
        Value::Array(names) => names.iter().map(|name| name.as_str().unwrap().to_owned()).collect(),
        _ => Vec::new(),
    };
    let known = [aspects("enforced"), aspects("partlyEnforced"), aspects("notEnforced")].concat();
    for aspect in ["files", "network", "system calls", "signals", "Unix sockets"] {
        assert_eq!(known.iter().filter(|known| *known == aspect).count(), 1, "{aspect}: {sandbox:#}");
    }
    server.finish();
}

#[test]
fn a_script_cannot_claim_a_sandbox() {
    let claim = |name: &str, meta: &str| format!(r#"{{"name":"{name}","description":"d","_meta":{meta}}}"#);
    let project = Project::new()
        .tool("plain", "#!/bin/sh\necho '{\"content\":[],\"_meta\":{\"mcpbash/sandbox\":{\"mode\":\"strict\"},\"x\":1}}'\n")
        .file("tools/plain/tool.meta.json", &claim("plain", r#"{"mcpbash/sandbox":{"mode":"strict"},"x":1}"#))
        .tool("escaped", "#!/bin/sh\n:\n")
        .file("tools/escaped/tool.meta.json", &claim("escaped", r#"{"mcpbash\/s\u0061ndbox":{"mode":"strict"}}"#));
    let mut server = Server::ready(project.root());
    let tools = listed(&mut server);
    let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    assert_eq!(tool("plain")["_meta"], json!({ "x": 1 }));
    assert!(tool("escaped").get("_meta").is_none(), "{tools:#?}");
    assert_eq!(called(&mut server, "plain")["_meta"], json!({ "x": 1 }));
    server.finish();
}

#[test]
fn the_result_of_a_confined_failure_says_what_was_in_force_and_a_success_has_no_meta() {
    let project = confined(Project::new(), "fails", "#!/bin/sh\nexit 3\n");
    let project = confined(project, "works", "#!/bin/sh\necho fine\n").tool("free", "#!/bin/sh\nexit 3\n");
    let mut server = Server::ready(project.root());
    let failed = called(&mut server, "fails");
    assert_eq!(failed["_meta"]["exitCode"], 3, "{failed:#}");
    assert_eq!(failed["_meta"][KEY]["mode"], "on", "{failed:#}");
    let tools = listed(&mut server);
    let tool = tools.iter().find(|tool| tool["name"] == "fails").unwrap();
    assert_eq!(failed["_meta"][KEY], tool["_meta"][KEY]);
    let worked = called(&mut server, "works");
    assert!(worked.get("_meta").is_none() && worked["isError"] == false, "{worked:#}");
    let free = called(&mut server, "free");
    assert_eq!(free["_meta"], json!({ "exitCode": 3 }));
    server.finish();
}

#[test]
fn a_sandbox_that_is_not_known_is_a_refusal_in_the_list() {
    let project = Project::with_hi().file("server.d/server.meta.json", r#"{"name":"p","sandbox":"onn"}"#);
    let mut server = Server::ready(project.root());
    let tools = listed(&mut server);
    assert!(tools[0]["_meta"][KEY]["refused"].as_str().unwrap().contains("'onn'"), "{tools:#?}");
    server.finish();
}

/// The log of a server with two confined tools that is quiet but for this level.
fn log_of_two_calls(level: &str) -> (Value, String) {
    let project = confined(Project::new(), "one", "#!/bin/sh\necho 1\n");
    let project = confined(project, "two", "#!/bin/sh\necho 2\n");
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", level)], "2025-11-25");
    let tools = listed(&mut server);
    called(&mut server, "one");
    called(&mut server, "two");
    (tools[0]["_meta"][KEY].clone(), server.finish())
}

const SHORTFALL: &str = "this machine does not enforce all of a sandbox";

#[test]
fn what_a_machine_does_not_enforce_is_logged_once() {
    let (sandbox, log) = log_of_two_calls("debug");
    let is_short = sandbox.get("notEnforced").is_some() || sandbox.get("partlyEnforced").is_some();
    assert_eq!(log.matches(SHORTFALL).count(), usize::from(is_short), "{log}");
}

/// An agent that starts a server for each call would show its user this line for each.
#[test]
fn a_kernel_that_is_too_old_for_a_part_of_every_sandbox_is_no_warning() {
    let (sandbox, log) = log_of_two_calls("info");
    let missing = ["notEnforced", "partlyEnforced"].map(|key| sandbox[key].as_object().into_iter().flatten());
    let is_serious =
        missing.into_iter().flatten().any(|(name, _)| !["Unix sockets", "signals"].contains(&&**name));
    assert_eq!(log.contains(SHORTFALL), is_serious, "{log}");
}
