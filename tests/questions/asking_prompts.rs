//! Prompts whose scripts ask before they answer.

use crate::harness::{Project, Server, code, stateless_meta};
use serde_json::{Value, json};

fn project() -> Project {
    Project::with_hi().script(
        "prompts/asks.sh",
        r#"#!/usr/bin/env bash
# mcp: {"description": "Asks for its context", "replay": true}
. "${MCP_SDK:?}/tool-sdk.sh"
form='{"type":"object","properties":{"context":{"type":"string"}},"required":["context"]}'
context=$(MCP_ASK_NAME=user_context mcp_elicit 'What context should the prompt use?' "$form" | jq -r .content.context)
echo "Consider $context"
"#,
    )
}

fn get(server: &mut Server, id: u32, more: &Value) -> Value {
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    let mut params = json!({ "name": "asks", "_meta": meta });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    server.ask(id, "prompts/get", &params)
}

fn answered(state: &Value) -> Value {
    let answer = json!({ "action": "accept", "content": { "context": "the test" } });
    json!({ "requestState": state, "inputResponses": { "user_context": answer } })
}

// Shows: input-required-prompts
#[test]
fn a_prompt_asks_and_another_request_brings_the_answer() {
    let project = project();
    let mut server = Server::start(project.root());
    let asked = get(&mut server, 1, &json!({}));
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let request = &asked["result"]["inputRequests"]["user_context"];
    assert_eq!(request["method"], "elicitation/create", "{asked}");
    let state = &asked["result"]["requestState"];
    let mut of_a_tool = answered(state);
    of_a_tool["name"] = json!("asks");
    of_a_tool["_meta"] = stateless_meta();
    assert_eq!(code(&server.ask(2, "tools/call", &of_a_tool)), -32602, "it belongs to another method");
    let mut other_arguments = answered(state);
    other_arguments["arguments"] = json!({ "more": "x" });
    assert_eq!(code(&get(&mut server, 3, &other_arguments)), -32602);
    let done = get(&mut server, 4, &answered(state));
    assert_eq!(done["result"]["messages"][0]["content"]["text"], "Consider the test", "{done}");
    assert_eq!(done["result"]["resultType"], "complete");
    assert_eq!(code(&get(&mut server, 5, &answered(state))), -32602, "a state is good once");
}

// Shows: elicitation-form
#[test]
fn a_prompt_asks_in_a_session_and_lets_others_run() {
    let project = project();
    let mut server = Server::start_with(project.root(), &[("MCPBASH_MAX_CONCURRENT_REQUESTS", "1")]);
    server.initialize_offering("2025-11-25", &json!({ "elicitation": {} }));
    server.request(1, "prompts/get", &json!({ "name": "asks" }));
    let question = server.receive();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let meanwhile = server.ask("hi", "tools/call", &json!({ "name": "hi" }));
    assert_eq!(meanwhile["result"]["content"][0]["text"], "hi", "who waits for a person is in nobody's way");
    server.reply(&question, &json!({ "action": "accept", "content": { "context": "people" } }));
    let done = server.receive();
    assert_eq!(done["result"]["messages"][0]["content"]["text"], "Consider people", "{done}");
}

#[test]
fn a_client_without_elicitation_fails_the_question_at_once() {
    let project = project();
    let mut server = Server::start(project.root());
    server.initialize_offering("2025-11-25", &json!({}));
    let done = server.ask(1, "prompts/get", &json!({ "name": "asks" }));
    let message = done["error"]["message"].as_str().unwrap_or_else(|| panic!("{done}"));
    assert!(message.contains("Client does not support elicitation"), "{message}");
}
