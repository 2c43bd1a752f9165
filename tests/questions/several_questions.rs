//! Named questions, and several questions at once.

use crate::harness::{Project, Server, code, stateless_meta};
use serde_json::{Value, json};

const FORM: &str = r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}"#;

/// Asks the user, the model, and for the roots.
fn asking_all() -> Project {
    Project::new().tool(
        "asks",
        &format!(
            r#"#!/usr/bin/env bash
. "${{MCP_SDK:?}}/tool-sdk.sh"
echo started >>runs
mcp_ask_all '{{
  "user_name": {{"method":"elicitation/create","params":{{"message":"What is your name?","requestedSchema":{FORM}}}}},
  "greeting": {{"method":"sampling/createMessage","params":{{"messages":[],"maxTokens":50}}}},
  "client_roots": {{"method":"roots/list"}}
}}'
"#
        ),
    )
}

/// Asks one named question.
fn asking_one() -> Project {
    Project::new().tool(
        "asks",
        &format!(
            r#"#!/usr/bin/env bash
. "${{MCP_SDK:?}}/tool-sdk.sh"
MCP_ASK_NAME=user_name mcp_elicit 'What is your name?' '{FORM}' | jq -r '"Hello, \(.content.name)!"'
"#
        ),
    )
}

fn all() -> Value {
    json!({ "elicitation": {}, "sampling": {}, "roots": {} })
}

fn call(server: &mut Server, id: impl Into<Value>, offered: &Value, more: &Value) -> Value {
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = offered.clone();
    let mut params = json!({ "name": "asks", "arguments": {}, "_meta": meta });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    server.ask(id, "tools/call", &params)
}

fn requests(answer: &Value) -> Vec<&str> {
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    answer["result"]["inputRequests"].as_object().unwrap().keys().map(String::as_str).collect()
}

fn accepted() -> Value {
    json!({ "action": "accept", "content": { "name": "Alice" } })
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

// Shows: input-required-keys
#[test]
fn all_are_asked_at_once_and_the_missing_ones_again() {
    let project = asking_all();
    let mut server = Server::start(project.root());
    let asked = call(&mut server, 1, &all(), &json!({}));
    assert_eq!(requests(&asked), ["user_name", "greeting", "client_roots"]);
    let methods = ["elicitation/create", "sampling/createMessage", "roots/list"];
    let asked_methods = asked["result"]["inputRequests"].as_object().unwrap().values();
    assert!(asked_methods.map(|request| request["method"].as_str().unwrap()).eq(methods));
    let sampled = json!({ "role": "assistant", "content": { "type": "text", "text": "Hi" }, "model": "m" });
    let some = json!({ "greeting": sampled, "user_name": 12345, "unknown": {} });
    let retry = json!({ "requestState": asked["result"]["requestState"], "inputResponses": some });
    let again = call(&mut server, 2, &all(), &retry);
    assert_eq!(requests(&again), ["user_name", "client_roots"]);
    assert_ne!(again["result"]["requestState"], asked["result"]["requestState"]);
    let folder = format!("file://{}", project.root().canonicalize().unwrap().display());
    let rest = json!({ "client_roots": { "roots": [{ "uri": folder }] }, "user_name": accepted() });
    let retry = json!({ "requestState": again["result"]["requestState"], "inputResponses": rest });
    let done = call(&mut server, 3, &all(), &retry);
    let answers: Value = serde_json::from_str(text(&done)).unwrap();
    assert_eq!(answers["user_name"]["result"], accepted());
    assert_eq!(answers["greeting"]["result"]["content"]["text"], "Hi");
    assert_eq!(answers["client_roots"]["result"]["roots"][0]["uri"], *folder);
    assert_eq!(project.read("runs"), "started\n");
}

// Shows: input-required-capabilities
#[test]
fn only_questions_within_the_clients_capabilities_are_asked() {
    let project = asking_all();
    let mut server = Server::start(project.root());
    let asked = call(&mut server, 1, &json!({ "sampling": {} }), &json!({}));
    assert_eq!(requests(&asked), ["greeting"]);
    let sampled = json!({ "role": "assistant", "content": { "type": "text", "text": "Hi" }, "model": "m" });
    let retry =
        json!({ "requestState": asked["result"]["requestState"], "inputResponses": { "greeting": sampled } });
    let answers: Value =
        serde_json::from_str(text(&call(&mut server, 2, &json!({ "sampling": {} }), &retry))).unwrap();
    assert_eq!(answers["user_name"]["result"]["action"], "decline");
    assert_eq!(answers["greeting"]["result"], sampled);
    assert!(answers["client_roots"]["result"]["roots"].is_array());
}

#[test]
fn with_a_session_they_are_asked_one_after_the_other() {
    let project = asking_all();
    let mut server = Server::start(project.root());
    server.initialize_offering("2025-11-25", &json!({ "elicitation": {}, "sampling": {} }));
    server.call(1, "asks");
    let first = server.receive();
    assert_eq!(first["method"], "elicitation/create", "{first}");
    server.reply(&first, &accepted());
    let second = server.receive();
    assert_eq!(second["method"], "sampling/createMessage", "{second}");
    server.reply(
        &second,
        &json!({ "role": "assistant", "content": { "type": "text", "text": "Hi" }, "model": "m" }),
    );
    let answers: Value = serde_json::from_str(text(&server.receive())).unwrap();
    assert_eq!(answers["user_name"]["result"], accepted());
    assert!(answers["client_roots"]["result"]["roots"].is_array());
}

// Shows: input-required-keys
#[test]
fn a_name_is_the_key_and_answers_may_come_with_the_call() {
    let project = asking_one();
    let mut server = Server::start(project.root());
    let asked = call(&mut server, 1, &all(), &json!({ "inputResponses": { "wrong_key": accepted() } }));
    assert_eq!(requests(&asked), ["user_name"]);
    let retry = json!({ "requestState": asked["result"]["requestState"], "inputResponses": { "user_name": accepted() } });
    assert_eq!(text(&call(&mut server, 2, &all(), &retry)), "Hello, Alice!");
    let early = json!({ "inputResponses": { "user_name": accepted(), "another": { "action": "accept" } } });
    assert_eq!(text(&call(&mut server, 3, &all(), &early)), "Hello, Alice!");
    for wrong in [json!({ "user_name": 12345 }), json!({ "user_name": {} }), json!(null), json!("x")] {
        let asked = call(&mut server, 4, &all(), &json!({ "inputResponses": wrong }));
        assert_eq!(requests(&asked), ["user_name"]);
    }
}

#[test]
fn duplicate_and_too_many_questions_are_refused() {
    let project = Project::new().tool(
        "asks",
        r#"#!/usr/bin/env bash
. "${MCP_SDK:?}/tool-sdk.sh"
for questions in '{}' '[]' '{"a":5}' '{"a":{"params":{}}}' \
	"{\"$(printf %200s x)\":{\"method\":\"roots/list\"}}" \
	"{$(printf '"%s":{"method":"roots/list"},' {1..40})\"x\":{\"method\":\"roots/list\"}}"; do
	"$MCPBASH_BIN" ask all "$questions" || echo
done
"#,
    );
    let mut server = Server::start(project.root());
    let done = call(&mut server, 1, &all(), &json!({}));
    assert_eq!(text(&done).matches("cannot be read").count(), 6, "{done}");
    assert_eq!(code(&call(&mut server, 2, &all(), &json!({ "requestState": "x" }))), -32602);
}
