//! Tasks of 2025-11-25: a client asks for one with its call, and fetches the result.

use super::{Stores, metadata, waiting};
use crate::harness::{Project, Server, code, wait_until_gone};
use serde_json::{Value, json};

const RELATED: &str = "io.modelcontextprotocol/related-task";

fn ready(stores: &Stores, project: &Project, revision: &str) -> (Server, Value) {
    let mut server = stores.start(project);
    let initialized = server.initialize_offering(revision, &json!({ "elicitation": {} }));
    server.told_so_far();
    (server, initialized["capabilities"].clone())
}

fn call(server: &mut Server, tool: &str, ttl: u32) -> Value {
    let params = json!({ "name": tool, "arguments": {}, "task": { "ttl": ttl } });
    let answer = server.ask("call", "tools/call", &params);
    assert!(answer["result"]["task"]["taskId"].is_string(), "{answer}");
    answer["result"]["task"].clone()
}

/// The next message that is no news of a task, and the statuses that came before it.
fn past_news(server: &mut Server) -> (Value, Vec<String>) {
    let mut statuses = Vec::new();
    loop {
        let message = server.receive();
        if message["method"] != "notifications/tasks/status" {
            return (message, statuses);
        }
        statuses.push(message["params"]["status"].as_str().unwrap().to_owned());
    }
}

// Shows: requested-tasks, requested-tasks-status
#[test]
fn a_client_asks_for_a_task_and_fetches_its_result() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    let (mut server, capabilities) = ready(&stores, &project, "2025-11-25");
    let tasks = json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } });
    assert_eq!(capabilities["tasks"], tasks, "{capabilities}");
    let listed = server.ask(1, "tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"][0]["execution"], json!({ "taskSupport": "optional" }), "{listed}");
    let task = call(&mut server, "waits", 60_000);
    assert_eq!((&task["status"], &task["ttl"]), (&json!("working"), &json!(60_000)), "{task}");
    let id = &task["taskId"];
    assert_eq!(server.ask(2, "tasks/get", &json!({ "taskId": id }))["result"]["status"], "working");
    let all = server.ask(3, "tasks/list", &json!({}));
    assert_eq!(all["result"]["tasks"][0]["taskId"], *id, "{all}");
    // It waits until the task has ended.
    server.request("result", "tasks/result", &json!({ "taskId": id }));
    server.expect_silence();
    project.wait_for_started(1);
    project.open_gate();
    let (result, mut statuses) = past_news(&mut server);
    assert_eq!(result["result"]["content"][0]["text"], "went", "{result}");
    assert_eq!(result["result"]["_meta"][RELATED], json!({ "taskId": id }), "{result}");
    if statuses.is_empty() {
        statuses = vec![server.receive()["params"]["status"].as_str().unwrap().to_owned()];
    }
    assert_eq!(statuses, ["completed"], "the session is told of the end, once");
    assert_eq!(server.ask(4, "tasks/get", &json!({ "taskId": id }))["result"]["status"], "completed");
    assert_eq!(code(&server.ask(5, "tasks/cancel", &json!({ "taskId": id }))), -32602, "it has ended");
    let plain = server.ask(6, "tools/call", &json!({ "name": "waits", "arguments": {} }));
    assert_eq!(plain["result"]["content"][0]["text"], "went", "{plain}");
}

// Shows: requested-tasks-cancel
#[test]
fn cancelling_answers_with_the_cancelled_task() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    let (mut server, _) = ready(&stores, &project, "2025-11-25");
    let id = call(&mut server, "waits", 60_000)["taskId"].clone();
    let [process] = project.wait_for_started(1)[..] else { panic!("one process") };
    let cancelled = server.ask_past_news(1, "tasks/cancel", &json!({ "taskId": id }));
    assert_eq!(cancelled["result"]["status"], "cancelled", "{cancelled}");
    wait_until_gone(process);
}

// Shows: requested-tasks-misuse
#[test]
fn misuse_is_refused_and_older_revisions_know_nothing_of_it() {
    let project = waiting(&json!({})).tool("never", "#!/bin/sh\necho now\n");
    let project = project.tool("always", "#!/bin/sh\necho now\n");
    project.write("tools/always/tool.meta.json", &metadata("always", "required", &json!({})));
    let stores = Stores::new();
    let (mut server, _) = ready(&stores, &project, "2025-11-25");
    for (tool, task) in [("never", json!({ "ttl": 1000 })), ("always", Value::Null)] {
        let params = json!({ "name": tool, "arguments": {}, "task": task });
        assert_eq!(code(&server.ask(tool, "tools/call", &params)), -32601, "{tool}");
    }
    for ttl in [json!(0), json!(-1), json!("long"), json!(1e300)] {
        let params = json!({ "name": "waits", "arguments": {}, "task": { "ttl": ttl } });
        assert_eq!(code(&server.ask(1, "tools/call", &params)), -32602, "{ttl}");
    }
    assert_eq!(code(&server.ask(2, "tasks/list", &json!({ "cursor": "../x" }))), -32602);
    let (mut old, capabilities) = ready(&Stores::new(), &project, "2025-06-18");
    assert!(capabilities.get("tasks").is_none(), "{capabilities}");
    assert_eq!(code(&old.ask(1, "tasks/get", &json!({ "taskId": "x" }))), -32601);
    let params = json!({ "name": "always", "arguments": {}, "task": { "ttl": 1000 } });
    assert_eq!(old.ask(2, "tools/call", &params)["result"]["content"][0]["text"], "now");
}

// Shows: requested-tasks-input
#[test]
fn questions_reach_the_client_while_it_waits_for_the_result() {
    let script =
        "#!/bin/bash\n. \"${MCP_SDK:?}/tool-sdk.sh\"\nmcp_elicit_string 'Who?' name | jq -r .content.name\n";
    let project = Project::new().tool("asks", script);
    project.write("tools/asks/tool.meta.json", &metadata("asks", "required", &json!({})));
    let stores = Stores::new();
    let (mut server, _) = ready(&stores, &project, "2025-11-25");
    let id = call(&mut server, "asks", 60_000)["taskId"].clone();
    crate::harness::wait_until("a question", || {
        let task = server.ask_past_news(1, "tasks/get", &json!({ "taskId": id }));
        (task["result"]["status"] == "input_required").then_some(())
    });
    server.request("result", "tasks/result", &json!({ "taskId": id }));
    let (question, _) = past_news(&mut server);
    assert_eq!(question["method"], "elicitation/create", "{question}");
    assert_eq!(question["params"]["_meta"][RELATED], json!({ "taskId": id }), "{question}");
    server.reply(&question, &json!({ "action": "accept", "content": { "name": "Zoë" } }));
    let (result, _) = past_news(&mut server);
    assert_eq!(result["result"]["content"][0]["text"], "Zoë", "{result}");
}
