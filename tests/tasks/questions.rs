//! Questions of a task: it waits for input, and any later request brings the answers.

use super::{Stores, ask, call, get, metadata, text, wait_for};
use crate::harness::{Project, wait_until};
use serde_json::{Value, json};

const ASKS: &str = r#"#!/usr/bin/env bash
. "${MCP_SDK:?}/tool-sdk.sh"
echo $$ >>started
first=$(mcp_elicit_string "First?" name | jq -r .content.name)
second=$(mcp_elicit_string "Second?" name | jq -r .content.name)
echo "$first and $second by $$"
"#;

const ASKS_ALL: &str = r#"#!/usr/bin/env bash
question() { printf '{"method":"elicitation/create","params":{"message":"%s?","requestedSchema":{"type":"object","properties":{}}}}' "$1"; }
"$MCPBASH_BIN" ask all "{\"one\":$(question One),\"two\":$(question Two)}" | jq -r '[.result[].result.content.name] | join(" and ")'
"#;

fn project(name: &str, script: &str, more: &Value) -> Project {
    let project = Project::new().tool(name, script);
    project.write(&format!("tools/{name}/tool.meta.json"), &metadata(name, "optional", more));
    project
}

fn accept(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}

fn keys(task: &Value) -> Vec<String> {
    task["inputRequests"].as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
}

fn update(server: &mut crate::harness::Server, id: &str, responses: &Value) {
    let answer = ask(server, "tasks/update", json!({ "taskId": id, "inputResponses": responses }));
    let mut result = answer["result"].clone();
    result.as_object_mut().unwrap_or_else(|| panic!("{answer}")).remove("_meta");
    assert_eq!(result, json!({ "resultType": "complete" }), "{answer}");
}

// Shows: tasks-input
#[test]
fn one_question_after_the_other_each_with_a_key_of_its_own() {
    let (project, stores) = (project("asks", ASKS, &json!({})), Stores::new());
    let mut server = stores.start(&project);
    let id = call(&mut server, "asks");
    let asked = wait_for(&mut server, &id, "input_required");
    let [first] = &keys(&asked)[..] else { panic!("{asked}") };
    assert_eq!(asked["inputRequests"][first]["method"], "elicitation/create", "{asked}");
    assert_eq!(asked["inputRequests"][first]["params"]["message"], "First?", "{asked}");
    // Unknown keys and what is no answer are ignored.
    update(&mut server, &id, &json!({ "unknown": accept("x"), first: { "ignored": true } }));
    assert_eq!(keys(&get(&mut server, &id)), std::slice::from_ref(first));
    update(&mut server, &id, &json!({ first: accept("Ada") }));
    let asked = wait_until("the second question", || {
        let task = get(&mut server, &id);
        assert!(!keys(&task).contains(first), "it is answered: {task}");
        (task["status"] == "input_required").then_some(task)
    });
    let [second] = &keys(&asked)[..] else { panic!("{asked}") };
    assert_ne!(first, second, "no key is used twice");
    // An answer to the first one does not answer the second.
    update(&mut server, &id, &json!({ first: accept("Eve") }));
    assert_eq!(keys(&get(&mut server, &id)), std::slice::from_ref(second));
    update(&mut server, &id, &json!({ second: accept("Bob") }));
    let [process] = project.wait_for_started(1)[..] else { panic!("one process") };
    assert_eq!(text(&wait_for(&mut server, &id, "completed")), format!("Ada and Bob by {process}"));
}

// Shows: tasks-partial-input
#[test]
fn several_questions_are_answered_one_at_a_time() {
    let (project, stores) = (project("asks", ASKS_ALL, &json!({})), Stores::new());
    let mut server = stores.start(&project);
    let id = call(&mut server, "asks");
    assert_eq!(keys(&wait_for(&mut server, &id, "input_required")), ["one", "two"]);
    update(&mut server, &id, &json!({ "two": accept("B") }));
    let task = get(&mut server, &id);
    assert_eq!((keys(&task), &task["status"]), (vec!["one".to_owned()], &json!("input_required")), "{task}");
    update(&mut server, &id, &json!({ "one": accept("A") }));
    assert_eq!(text(&wait_for(&mut server, &id, "completed")), "A and B");
}

#[test]
fn consent_is_asked_through_the_task_and_nothing_runs_before() {
    let more = json!({ "confirm": "Really?" });
    let (project, stores) =
        (project("acts", "#!/bin/sh\necho $$ >>started\necho acted\n", &more), Stores::new());
    let mut server = stores.start(&project);
    for (answer, has_run) in [("decline", false), ("accept", true)] {
        let id = call(&mut server, "acts");
        let asked = wait_for(&mut server, &id, "input_required");
        assert!(asked.to_string().contains("Really?"), "{asked}");
        assert_eq!(project.read("started"), "");
        let [key] = &keys(&asked)[..] else { panic!("{asked}") };
        let schema = &asked["inputRequests"][key]["params"]["requestedSchema"]["properties"];
        let mut content = json!({});
        for (name, property) in schema.as_object().unwrap() {
            content[name] = property["default"].clone();
            if let Some(first) = property["enum"].get(0).or(property["oneOf"][0].get("const")) {
                content[name] = first.clone();
            }
        }
        update(&mut server, &id, &json!({ key: { "action": answer, "content": content } }));
        let task = wait_for(&mut server, &id, "completed");
        assert_eq!(task["result"]["isError"].as_bool().unwrap_or_default(), !has_run, "{task}");
        assert_eq!(!project.read("started").is_empty(), has_run);
    }
}

#[test]
fn a_task_that_waits_for_input_can_be_cancelled() {
    let (project, stores) = (project("asks", ASKS, &json!({})), Stores::new());
    let mut server = stores.start(&project);
    let id = call(&mut server, "asks");
    wait_for(&mut server, &id, "input_required");
    ask(&mut server, "tasks/cancel", json!({ "taskId": id }));
    let task = wait_for(&mut server, &id, "cancelled");
    assert!(task.get("inputRequests").is_none(), "{task}");
    project.wait_for_started(1).into_iter().for_each(crate::harness::wait_until_gone);
}

// Shows: tasks-after-questions
#[test]
fn a_tool_can_ask_first_and_become_a_task_with_the_answers() {
    let (project, stores) = (project("asks", ASKS, &json!({})), Stores::new());
    let execution = json!({ "taskSupport": "required", "asksFirst": true });
    let metadata = json!({ "name": "asks", "description": "Asks", "execution": execution });
    project.write("tools/asks/tool.meta.json", &metadata.to_string());
    let mut server = stores.start(&project);
    let asked = ask(&mut server, "tools/call", json!({ "name": "asks", "arguments": {} }));
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    assert!(asked["result"].get("taskId").is_none(), "{asked}");
    let [key] = &keys(&asked["result"])[..] else { panic!("{asked}") };
    let params = json!({
        "name": "asks", "arguments": {},
        "requestState": asked["result"]["requestState"], "inputResponses": { key: accept("Ada") },
    });
    let made = ask(&mut server, "tools/call", params.clone());
    assert_eq!(made["result"]["resultType"], "task", "{made}");
    let id = made["result"]["taskId"].as_str().unwrap().to_owned();
    let asked = wait_for(&mut server, &id, "input_required");
    let [key] = &keys(&asked)[..] else { panic!("{asked}") };
    update(&mut server, &id, &json!({ key: accept("Bob") }));
    let [process] = project.wait_for_started(1)[..] else { panic!("one process") };
    assert_eq!(text(&wait_for(&mut server, &id, "completed")), format!("Ada and Bob by {process}"));
    // The state is good once: a second task with it fails.
    let again = ask(&mut server, "tools/call", params);
    let id = again["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{again}")).to_owned();
    assert_eq!(wait_for(&mut server, &id, "failed")["error"]["code"], -32602);
}
