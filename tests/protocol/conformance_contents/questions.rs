//! Questions that the fixtures ask, in both eras.

use super::{everything, text, user_and_model, with_sessions, without_sessions};
use crate::harness::code;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[test]
fn a_session_is_asked_for_its_user_and_its_model() {
    with_sessions(&user_and_model(), |client| {
        let call = json!({ "name": "test_sampling", "arguments": { "prompt": "Say \"x\"" } });
        let mut exchange = client.send("tools/call", call);
        let question = client.question(&mut exchange, "sampling/createMessage");
        let message = json!({ "role": "user", "content": { "type": "text", "text": "Say \"x\"" } });
        assert_eq!(question["params"]["messages"], json!([message]));
        assert_eq!(question["params"]["maxTokens"], 100);
        client.reply(&question, &sampled("x"));
        let (before, answer) = client.finish(exchange);
        assert_eq!((before.len(), &client.complete(&answer)["content"]), (0, &text("LLM response: x")));

        let call = json!({ "name": "test_elicitation", "arguments": { "message": "Who?" } });
        let mut exchange = client.send("tools/call", call);
        let question = client.question(&mut exchange, "elicitation/create");
        assert_eq!(question["params"]["message"], "Who?");
        let schema = &question["params"]["requestedSchema"];
        assert_eq!(schema["required"], json!(["username", "email"]));
        let email = json!({ "type": "string", "description": "User's email address" });
        assert_eq!(schema["properties"]["email"], email);
        client.reply(&question, &accept(&json!({ "username": "testuser", "email": "test@example.com" })));
        let (before, answer) = client.finish(exchange);
        let said =
            r#"User response: action: accept, content: {"username":"testuser","email":"test@example.com"}"#;
        assert_eq!((before.len(), &client.complete(&answer)["content"]), (0, &text(said)));
    });
}

#[test]
fn forms_reach_the_user_as_they_were_written() {
    with_sessions(&user_and_model(), |client| {
        let call = json!({ "name": "test_elicitation_sep1034_defaults", "arguments": {} });
        let mut exchange = client.send("tools/call", call);
        let question = client.question(&mut exchange, "elicitation/create");
        let fields = &question["params"]["requestedSchema"]["properties"];
        let defaults = [
            ("name", "string", json!("John Doe")),
            ("age", "integer", json!(30)),
            ("score", "number", json!(95.5)),
            ("status", "string", json!("active")),
            ("verified", "boolean", json!(true)),
        ];
        for (field, kind, default) in defaults {
            assert_eq!(
                (&fields[field]["type"], &fields[field]["default"]),
                (&json!(kind), &default),
                "{field}"
            );
        }
        client.reply(&question, &accept(&json!({ "age": 25, "score": 88.5 })));
        let said = "Elicitation completed: action=accept, content={\"age\": 25, \"score\": 88.5}";
        assert_eq!(client.finish(exchange).1["result"]["content"], text(said));

        let call = json!({ "name": "test_elicitation_sep1330_enums", "arguments": {} });
        let mut exchange = client.send("tools/call", call);
        let question = client.question(&mut exchange, "elicitation/create");
        let fields = &question["params"]["requestedSchema"]["properties"];
        let options = json!(["option1", "option2", "option3"]);
        assert_eq!(fields["untitledSingle"]["enum"], options);
        assert_eq!(fields["titledSingle"]["oneOf"][0], json!({ "const": "value1", "title": "First Option" }));
        assert_eq!(fields["legacyEnum"]["enumNames"], json!(["Option One", "Option Two", "Option Three"]));
        assert_eq!(fields["untitledMulti"]["items"], json!({ "type": "string", "enum": options }));
        let third = json!({ "const": "value3", "title": "Third Choice" });
        assert_eq!(fields["titledMulti"]["items"]["anyOf"][2], third);
        client.reply(&question, &json!({ "action": "decline" }));
        let said = client.finish(exchange).1;
        assert_eq!(
            said["result"]["content"],
            text("Elicitation completed: action=decline, content=undefined")
        );
    });
}

#[test]
fn a_tool_that_needs_a_missing_capability_is_not_started() {
    without_sessions(&json!({}), |client| {
        let refused = client.call_with("test_missing_capability", &json!({}));
        assert_eq!(code(&refused), -32021);
        assert_eq!(refused["error"]["data"], json!({ "requiredCapabilities": { "sampling": {} } }));
    });
    without_sessions(&json!({ "sampling": {} }), |client| {
        let asked = client.call_with("test_missing_capability", &json!({}));
        assert_eq!(only_question(&asked).1["method"], "sampling/createMessage");
    });
}

/// The questions of an answer, by their keys, and the state with them.
fn asked(answer: &Value) -> (serde_json::Map<String, Value>, Value) {
    let result = &answer["result"];
    assert_eq!(result["resultType"], "input_required", "{answer}");
    assert!(result["requestState"].as_str().is_some_and(|state| !state.is_empty()), "{answer}");
    (result["inputRequests"].as_object().expect("questions").clone(), result["requestState"].clone())
}

/// The name of the only question, the question, and the state.
fn only_question(answer: &Value) -> (String, Value, Value) {
    let (questions, state) = asked(answer);
    assert_eq!(questions.len(), 1, "{answer}");
    let (name, question) = questions.into_iter().next().expect("a question");
    (name, question, state)
}

fn accept(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}

fn sampled(text: &str) -> Value {
    json!({ "role": "assistant", "content": { "type": "text", "text": text }, "model": "test-model" })
}

/// The members that a retry adds to the call.
fn responses(name: &str, response: &Value, state: &Value) -> Value {
    json!({ "inputResponses": { name: response }, "requestState": state })
}

#[test]
fn a_question_is_asked_by_its_name_and_its_answer_completes_the_call() {
    without_sessions(&everything(), |client| {
        let tool = "test_input_required_result_elicitation";
        let (name, question, state) = only_question(&client.call_with(tool, &json!({})));
        assert_eq!((&*name, &question["method"]), ("user_name", &json!("elicitation/create")));
        assert_eq!(question["params"]["message"], "What is your name?");
        assert_eq!(question["params"]["requestedSchema"]["required"], json!(["name"]));
        let done = client.call_with(tool, &responses(&name, &accept(&json!({ "name": "Alice" })), &state));
        assert_eq!(client.complete(&done)["content"], text("Hello, Alice!"));

        let tool = "test_input_required_result_sampling";
        let (name, question, state) = only_question(&client.call_with(tool, &json!({})));
        assert_eq!((&*name, &question["method"]), ("capital_question", &json!("sampling/createMessage")));
        assert_eq!(question["params"]["messages"][0]["content"]["text"], "What is the capital of France?");
        assert_eq!(question["params"]["maxTokens"], 100);
        let done = client.call_with(tool, &responses(&name, &sampled("Paris"), &state));
        assert_eq!(client.complete(&done)["content"], text("Paris"));

        let tool = "test_input_required_result_list_roots";
        let (name, question, state) = only_question(&client.call_with(tool, &json!({})));
        assert_eq!((&*name, &question["method"]), ("client_roots", &json!("roots/list")));
        let root = format!("file://{}", client.project.root().canonicalize().unwrap().display());
        let roots = json!({ "roots": [{ "uri": root, "name": "Test Root" }] });
        let done = client.call_with(tool, &responses(&name, &roots, &state));
        assert_eq!(client.complete(&done)["content"], text(&format!("Roots: {root}")));
    });
}

#[test]
fn several_questions_are_asked_in_one_answer() {
    without_sessions(&everything(), |client| {
        let tool = "test_input_required_result_multiple_inputs";
        let (questions, state) = asked(&client.call_with(tool, &json!({})));
        let methods: BTreeMap<_, _> =
            questions.iter().map(|(name, asked)| (&**name, asked["method"].as_str())).collect();
        let expected = [
            ("user_name", Some("elicitation/create")),
            ("greeting", Some("sampling/createMessage")),
            ("client_roots", Some("roots/list")),
        ];
        assert_eq!(methods, BTreeMap::from(expected));
        let answers = json!({
            "user_name": accept(&json!({ "name": "Alice" })),
            "greeting": sampled("Hello there!"),
            "client_roots": { "roots": [] },
        });
        let done = client.call_with(tool, &json!({ "inputResponses": answers, "requestState": state }));
        let said = client.complete(&done)["content"][0]["text"].clone();
        assert!(said.as_str().unwrap().starts_with("Hello there! Alice, of the roots ["), "{said}");
    });
}

#[test]
fn each_round_has_its_own_state_and_an_old_one_is_refused() {
    without_sessions(&everything(), |client| {
        let tool = "test_input_required_result_multi_round";
        let (first, question, state) = only_question(&client.call_with(tool, &json!({})));
        assert_eq!(
            (&*first, &question["params"]["message"]),
            ("step1", &json!("Step 1: What is your name?"))
        );
        let named = responses(&first, &accept(&json!({ "name": "Alice" })), &state);
        let (second, question, next_state) = only_question(&client.call_with(tool, &named));
        assert_eq!(
            (&*second, &question["params"]["requestedSchema"]["required"]),
            ("step2", &json!(["color"]))
        );
        assert_ne!(state, next_state);
        assert!(client.call_with(tool, &named)["error"].is_object(), "a state is good once");
        let colored = responses(&second, &accept(&json!({ "color": "blue" })), &next_state);
        let done = client.call_with(tool, &colored);
        assert_eq!(client.complete(&done)["content"], text("Alice likes blue"));
    });
}

#[test]
fn the_state_continues_the_call_and_a_tampered_one_is_refused() {
    without_sessions(&everything(), |client| {
        for tool in ["test_input_required_result_request_state", "test_input_required_result_tampered_state"]
        {
            let (name, _, state) = only_question(&client.call_with(tool, &json!({})));
            let changed = json!(format!("{}-TAMPERED", state.as_str().unwrap()));
            let refused =
                client.call_with(tool, &responses(&name, &accept(&json!({ "ok": true })), &changed));
            assert_eq!(code(&refused), -32602, "{tool}");
            let done = client.call_with(tool, &responses(&name, &accept(&json!({ "ok": true })), &state));
            let said = client.complete(&done)["content"][0]["text"].clone();
            assert!(
                ["state-ok: confirmed is true", "Confirmed: true"].contains(&said.as_str().unwrap()),
                "{said}"
            );
        }
    });
}

#[test]
fn answers_without_a_state_are_matched_by_name_and_checked() {
    without_sessions(&everything(), |client| {
        let tool = "test_input_required_result_elicitation";
        let wrong = client
            .call_with(tool, &json!({ "inputResponses": { "wrong_key": accept(&json!({ "data": 1 })) } }));
        assert_eq!(only_question(&wrong).0, "user_name");
        let more = json!({
            "user_name": accept(&json!({ "name": "Alice" })),
            "unknown_extra_key": accept(&json!({ "foo": "bar" })),
            "another_unexpected": accept(&json!({ "baz": 123 })),
        });
        let done = client.call_with(tool, &json!({ "inputResponses": more }));
        assert_eq!(client.complete(&done)["content"], text("Hello, Alice!"));
        for broken in [json!({ "user_name": 12345 }), Value::Null] {
            let answer = client.call_with(tool, &json!({ "inputResponses": broken }));
            assert_ne!(answer["result"]["resultType"], "complete", "{broken}: {answer}");
        }
    });
}

#[test]
fn a_client_is_asked_only_within_its_capabilities() {
    let tool = "test_input_required_result_capabilities";
    without_sessions(&json!({ "sampling": {} }), |client| {
        let (name, question, state) = only_question(&client.call_with(tool, &json!({})));
        assert_eq!(question["method"], "sampling/createMessage");
        let done = client.call_with(tool, &responses(&name, &sampled("Bob"), &state));
        assert_eq!(client.complete(&done)["content"], text("The model says Bob"));
    });
    without_sessions(&json!({ "elicitation": {} }), |client| {
        let (_, question, _) = only_question(&client.call_with(tool, &json!({})));
        assert_eq!(question["method"], "elicitation/create");
    });
}

#[test]
fn a_prompt_asks_as_a_tool_does() {
    without_sessions(&everything(), |client| {
        let prompt = json!({ "name": "test_input_required_result_prompt" });
        let (name, question, state) = only_question(&client.answer("prompts/get", prompt.clone()));
        assert_eq!(
            (&*name, &question["params"]["message"]),
            ("user_context", &json!("What context should the prompt use?"))
        );
        let mut retry = prompt;
        retry["inputResponses"] = json!({ name: accept(&json!({ "context": "test context" })) });
        retry["requestState"] = state;
        let done = client.result("prompts/get", retry);
        let content = json!({ "type": "text", "text": "Use this context: test context" });
        assert_eq!(done["messages"], json!([{ "role": "user", "content": content }]));
    });
}

#[test]
fn lists_ask_nothing_and_a_tool_that_asks_sends_no_request() {
    without_sessions(&everything(), |client| {
        for method in ["tools/list", "prompts/list"] {
            client.result(method, json!({}));
        }
        let (before, answer) = client.exchange(
            "tools/call",
            json!({ "name": "test_streaming_elicitation", "arguments": {}, "_meta": { "progressToken": 7 } }),
        );
        assert_eq!(before.len(), 1, "{before:?}");
        assert_eq!(before[0]["method"], "notifications/progress");
        let (name, _, state) = only_question(&answer);
        let retry = responses(&name, &accept(&json!({ "confirmed": true })), &state);
        let done = client.call_with("test_streaming_elicitation", &retry);
        assert_eq!(client.complete(&done)["content"], text("Confirmed: true"));
    });
}
