//! Calls of the stateless era that wait for an answer: who may continue them, and what happens if no client
//! does.

use crate::harness::{Project, Server, code, exists, stateless_meta, wait_until_asleep, wait_until_gone};
use serde_json::{Value, json};

/// A tool that runs `body`, with the SDK loaded.
fn asking(project: Project, name: &str, body: &str) -> Project {
    project.tool(name, &format!("#!/usr/bin/env bash\n. \"${{MCP_SDK:?}}/tool-sdk.sh\"\n{body}\n"))
}

fn meta() -> Value {
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": { "form": {} } });
    meta
}

/// The params of a call, with more members.
fn params(tool: &str, more: &Value) -> Value {
    let mut params = json!({ "name": tool, "arguments": { "n": 1 }, "_meta": meta() });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    params
}

fn call(server: &mut Server, id: impl Into<Value>, tool: &str, more: &Value) -> Value {
    server.ask(id, "tools/call", &params(tool, more))
}

fn answered(state: &Value, text: &str) -> Value {
    let answer = json!({ "action": "accept", "content": { "value": text } });
    json!({ "requestState": state, "inputResponses": { "question": answer } })
}

fn question(answer: &Value) -> &str {
    let question = &answer["result"]["inputRequests"]["question"]["params"]["message"];
    question.as_str().unwrap_or_else(|| panic!("{answer}"))
}

fn state(answer: &Value) -> Value {
    assert!(answer["result"]["requestState"].is_string(), "{answer}");
    answer["result"]["requestState"].clone()
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn an_invalid_state_does_not_bypass_the_limit() {
    let project = Project::new()
        .waiting_tool("wait")
        .script(
            "prompts/ask.sh",
            "#!/bin/sh\n# mcp: {}\necho started >>\"$MCPBASH_PROJECT_ROOT/prompts.log\"\n",
        )
        .file("resources/a.txt", "text");
    let environment = [("MCPBASH_MAX_CONCURRENT_REQUESTS", "1"), ("MCPBASH_MAX_WAITING_REQUESTS", "1")];
    let mut server = Server::start_with(project.root(), &environment);
    server.request("runs", "tools/call", &params("wait", &json!({ "requestState": null })));
    project.wait_for_started(1);
    server.request("waits", "tools/call", &params("wait", &json!({ "requestState": null })));
    let uri = "file://./resources/a.txt";
    let nulls = [
        ("tools/call", json!({ "name": "wait", "arguments": {}, "requestState": null, "_meta": meta() })),
        ("prompts/get", json!({ "name": "ask", "requestState": null, "_meta": meta() })),
        ("resources/read", json!({ "uri": uri, "requestState": null, "_meta": meta() })),
        ("completion/complete", json!({ "requestState": "x", "_meta": meta() })),
    ];
    for (method, params) in &nulls {
        let busy = server.ask("busy", method, params);
        assert_eq!(code(&busy), -32603, "{method}: {busy}");
    }
    for (method, params) in &nulls[..3] {
        for state in [json!("x"), json!("")] {
            let mut params = params.clone();
            params["requestState"] = state;
            let refused = server.ask("unknown", method, &params);
            assert_eq!(code(&refused), -32602, "{method}: {refused}");
            assert!(refused["error"]["message"].as_str().unwrap().contains("requestState"), "{refused}");
        }
    }
    assert_eq!((project.wait_for_started(1).len(), &*project.read("prompts.log")), (1, ""));
    project.open_gate();
    assert_eq!(text(&server.receive()), "went");
    assert_eq!(text(&server.receive()), "went");
}

#[test]
fn a_parked_call_frees_its_slot_and_queues_to_continue() {
    let project = asking(Project::with_hi().waiting_tool("wait"), "asks", "mcp_elicit_string 'Who?' value");
    let mut server = Server::start_with(project.root(), &[("MCPBASH_MAX_CONCURRENT_REQUESTS", "1")]);
    let asked = call(&mut server, 1, "asks", &json!({}));
    assert_eq!(text(&call(&mut server, "hi", "hi", &json!({}))), "hi", "the place is free");
    server.request("wait", "tools/call", &params("wait", &json!({})));
    project.wait_for_started(1);
    server.request(2, "tools/call", &params("asks", &answered(&state(&asked), "me")));
    server.request("later", "tools/call", &params("hi", &json!({})));
    server.ask("list", "tools/list", &json!({ "_meta": meta() }));
    wait_until_asleep(server.child.id());
    assert!(server.told_so_far().is_empty(), "somebody else has the place");
    project.open_gate();
    assert_eq!(text(&server.receive()), "went");
    let done = server.receive();
    assert!(done["id"] == 2 && text(&done).contains("me"), "{done}");
    assert_eq!(server.receive()["id"], "later");
}

#[test]
fn a_call_that_queues_to_continue_can_be_cancelled() {
    let project = Project::with_hi().waiting_tool("wait");
    let project = asking(project, "asks", "echo $$ >>asking; mcp_elicit_string 'Who?' value; touch went-on");
    let mut server = Server::start_with(project.root(), &[("MCPBASH_MAX_CONCURRENT_REQUESTS", "1")]);
    let asked = call(&mut server, 1, "asks", &json!({}));
    let asking: u32 = project.read("asking").trim().parse().unwrap();
    server.request("wait", "tools/call", &params("wait", &json!({})));
    project.wait_for_started(1);
    server.request(2, "tools/call", &params("asks", &answered(&state(&asked), "me")));
    server.notify("notifications/cancelled", &json!({ "requestId": 2 }));
    wait_until_gone(asking);
    project.open_gate();
    assert_eq!(text(&server.receive()), "went");
    assert_eq!(text(&call(&mut server, "hi", "hi", &json!({}))), "hi", "no place is lost");
    assert!(!project.path("went-on").exists());
}

#[test]
fn a_thousand_parked_calls_block_no_other() {
    let project = Project::with_hi().tool(
        "asks",
        "#!/bin/sh\nprintf '{\"message\":\"?\"}' >\"$MCP_ELICIT_REQUEST_FILE\"\nread _ <gate\n",
    );
    let project = project.gate();
    let limits = [
        ("MCPBASH_MAX_CONCURRENT_REQUESTS", "4"),
        ("MCPBASH_MAX_PARKED_CALLS", "1000"),
        ("MCPBASH_MAX_PARKED_CALLS_PER_CALLER", "1000"),
    ];
    let mut server = Server::start_with(project.root(), &limits);
    for id in 0..1000 {
        server.request(id, "tools/call", &params("asks", &json!({})));
    }
    for _ in 0..1000 {
        state(&server.receive());
    }
    assert_eq!(text(&call(&mut server, "hi", "hi", &json!({}))), "hi");
}

// Shows: state-hostile
#[test]
fn a_refusal_reveals_nothing_and_keeps_the_call_parked() {
    let project = asking(Project::with_hi(), "asks", "mcp_elicit_string 'Who?' value");
    let project = asking(project, "other", "mcp_elicit_string 'Who else?' value");
    let mut server = Server::start(project.root());
    let asked = call(&mut server, 1, "asks", &json!({}));
    let state = state(&asked);
    let mut wrong_arguments = answered(&state, "stolen");
    wrong_arguments["arguments"] = json!({ "n": 2 });
    let refusals = [
        call(&mut server, 2, "asks", &wrong_arguments),
        call(&mut server, 3, "other", &answered(&state, "stolen")),
        call(&mut server, 4, "hi", &answered(&state, "stolen")),
        call(&mut server, 5, "no such tool", &answered(&state, "stolen")),
        call(&mut server, 6, "asks", &answered(&json!("forged"), "stolen")),
        server.ask(7, "prompts/get", &params("asks", &answered(&state, "stolen"))),
    ];
    for refused in &refusals {
        assert_eq!(refused["error"], refusals[0]["error"]);
        assert_eq!(code(refused), -32602);
    }
    // The order and the spelling of members do not matter.
    let mut again = answered(&state, "mine");
    again["arguments"] = json!({ "n": 1 });
    let done = call(&mut server, 8, "asks", &again);
    assert!(text(&done).contains("mine"), "{done}");
    let used = call(&mut server, 9, "asks", &again);
    assert_eq!(used["error"], refusals[0]["error"], "a state is good once");
}

// Shows: client-never-returns
#[test]
fn the_oldest_of_too_many_parked_calls_is_terminated() {
    let project = Project::new().tool(
        "asks",
        "#!/bin/sh\necho $$ >>started\nprintf '{\"message\":\"?\"}' >\"$MCP_ELICIT_REQUEST_FILE\"\nexec sleep 1000\n",
    );
    let mut server = Server::start_with(project.root(), &[("MCPBASH_MAX_PARKED_CALLS_PER_CALLER", "3")]);
    let first = call(&mut server, 0, "asks", &json!({}));
    for id in 1..=3 {
        state(&call(&mut server, id, "asks", &json!({})));
    }
    let pids = project.wait_for_started(4);
    wait_until_gone(pids[0]);
    assert!(pids[1..].iter().all(|pid| exists(*pid)));
    assert_eq!(code(&call(&mut server, "late", "asks", &answered(&state(&first), "x"))), -32602);
}

// Shows: client-never-returns
#[test]
fn parked_calls_end_with_the_server() {
    let project = asking(Project::new(), "asks", "echo $$ >>started; mcp_elicit 'Who?' '' 1000");
    let mut server = Server::start(project.root());
    state(&call(&mut server, 1, "asks", &json!({})));
    let pids = project.wait_for_started(1);
    server.finish();
    wait_until_gone(pids[0]);
}

#[test]
fn a_cancelled_continuation_kills_the_process() {
    let project = asking(
        Project::new(),
        "asks",
        "echo $$ >>started; mcp_elicit_string 'Who?' value; touch answered; sleep 1000",
    );
    let mut server = Server::start(project.root());
    let asked = call(&mut server, 1, "asks", &json!({}));
    let pids = project.wait_for_started(1);
    server.request(2, "tools/call", &params("asks", &answered(&state(&asked), "me")));
    project.wait_for_file("answered");
    server.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    server.ask("list", "tools/list", &json!({ "_meta": meta() }));
    wait_until_asleep(server.child.id());
    assert!(exists(pids[0]), "the first request was answered long ago");
    server.notify("notifications/cancelled", &json!({ "requestId": 2 }));
    wait_until_gone(pids[0]);
}

/// A tool that asks a second question, through a file, while its first one is open, and runs `before` before
/// it records that it has.
fn asking_twice(before: &str) -> Project {
    let body = r#"form='{"mode":"form","message":"First?","requestedSchema":{"type":"object","properties":{}}}'
"$MCPBASH_BIN" ask elicitation/create "$form" --timeout 1000 & first=$!
read _ <gate
printf '{"message":"Second?"}' >"$MCP_ELICIT_REQUEST_FILE"
while [ -e "$MCP_ELICIT_REQUEST_FILE" ]; do sleep 0.02; done
BEFORE
touch asked
wait $first || :
while [ ! -f "$MCP_ELICIT_RESPONSE_FILE" ]; do sleep 0.02; done
cat "$MCP_ELICIT_RESPONSE_FILE""#;
    asking(Project::new().gate(), "asks", &body.replace("BEFORE", before))
}

#[test]
fn questions_at_the_same_time_are_asked_one_after_the_other() {
    let project = asking_twice(":");
    let mut server = Server::start(project.root());
    let first = call(&mut server, 1, "asks", &json!({}));
    assert_eq!(question(&first), "First?");
    project.open_gate();
    project.wait_for_file("asked");
    let second = call(&mut server, 2, "asks", &answered(&state(&first), "one"));
    assert_eq!(question(&second), "Second?", "{second}");
    let done = call(&mut server, 3, "asks", &answered(&state(&second), "two"));
    assert!(text(&done).contains("one") && text(&done).contains("two"), "{done}");
}

#[test]
fn a_question_after_a_withdrawn_one_is_still_asked() {
    let project = asking_twice("kill $first");
    let mut server = Server::start(project.root());
    let first = call(&mut server, 1, "asks", &json!({}));
    assert_eq!(question(&first), "First?");
    project.open_gate();
    project.wait_for_file("asked");
    let second = call(&mut server, 2, "asks", &answered(&state(&first), "too late"));
    assert_eq!(question(&second), "Second?", "{second}");
    let done = call(&mut server, 3, "asks", &answered(&state(&second), "in time"));
    assert!(text(&done).contains("in time") && !text(&done).contains("too late"), "{done}");
}

// Shows: client-never-returns
#[test]
fn a_parked_call_times_out() {
    let project =
        asking(Project::new(), "asks", "echo $$ >>started; mcp_elicit 'Who?' '' 1000; touch went-on");
    let mut server = Server::start_with(project.root(), &[("MCPBASH_PARKED_TIMEOUT_SECS", "1")]);
    let asked = call(&mut server, 1, "asks", &json!({}));
    wait_until_gone(project.wait_for_started(1)[0]);
    assert_eq!(code(&call(&mut server, 2, "asks", &answered(&state(&asked), "late"))), -32602);
    assert!(!project.path("went-on").exists());
    let metadata = json!({ "name": "asks", "description": "Asks", "replay": true });
    project.write("tools/asks/tool.meta.json", &metadata.to_string());
    server.finish();
    let mut server = Server::start_with(project.root(), &[("MCPBASH_PARKED_TIMEOUT_SECS", "1")]);
    let asked = call(&mut server, 1, "asks", &json!({}));
    wait_until_gone(project.wait_for_started(2)[1]);
    let done = call(&mut server, 2, "asks", &answered(&state(&asked), "late"));
    assert!(text(&done).contains("late"), "a script that may be run again is: {done}");
}
