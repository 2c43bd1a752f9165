//! Consent: a tool that declares `confirm` runs only after a person has allowed exactly this call of this caller.

use crate::print;
use crate::stage::{Stage, TestClient, answer, parsed, text};
use mcp_bash_runner::fake_child::Deed;
use mcp_bash_server::{
    Identity, InMemoryClient, InMemoryReply, KnownBy, Principal, Said, asks_for_consent, consent_answer,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

fn remove() -> Value {
    json!({
        "name": "remove",
        "title": "Remove a file",
        "confirm": "Remove {path}?",
        "inputSchema": { "type": "object", "properties": {
            "path": { "type": "string" }, "text": { "type": "string" },
        } },
    })
}

fn stage(settings: &[(&str, &str)]) -> Stage {
    let other = json!({ "name": "other", "confirm": true });
    Stage::with_metadata(&[remove(), other], &json!({}), settings, |_| vec![print("removed")])
}

fn at(path: &str) -> Value {
    json!({ "name": "remove", "arguments": { "path": path } })
}

fn chosen(choice: &str) -> Value {
    json!({ "action": "accept", "content": { "consent": choice } })
}

/// The question that a call of the handshake era asks next.
async fn question(reply: &mut InMemoryReply) -> Value {
    loop {
        match reply.next().await {
            Some(Said::Question(question)) => return parsed(&question),
            Some(Said::Notification(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}

fn respond(client: &TestClient, question: &Value, result: &Value) {
    let response = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
    client.client.send_as(&client.principal, response.to_string().as_bytes());
}

/// Calls, answers the question and returns the answer to the call.
async fn call_and_choose(client: &TestClient, id: u32, call: &Value, result: &Value) -> Value {
    let mut reply = client.request(id, "tools/call", call);
    let asked = question(&mut reply).await;
    assert!(asks_for_consent(&asked["params"]), "{asked}");
    respond(client, &asked, result);
    answer(&mut reply).await
}

/// The params of a call of the stateless era for `path`.
fn for_path(path: &str) -> Value {
    json!({ "arguments": { "path": path } })
}

/// The params of a call that brings a state and a choice.
fn continued(path: &str, asked: &Value, choice: &str) -> Value {
    json!({
        "arguments": { "path": path },
        "requestState": asked["result"]["requestState"],
        "inputResponses": { "consent": chosen(choice) },
    })
}

async fn stateless(client: &TestClient, id: u32, tool: &str, more: &Value) -> Value {
    answer(&mut client.stateless_call(id, tool, more)).await
}

fn is_refused(answer: &Value, reason: &str) -> bool {
    let error = &answer["result"]["structuredContent"]["error"];
    answer["result"]["isError"] == true && error["type"] == "not_confirmed" && error["reason"] == reason
}

fn is_asked(answer: &Value) -> bool {
    let params = &answer["result"]["inputRequests"]["consent"]["params"];
    answer["result"]["resultType"] == "input_required" && asks_for_consent(params)
}

const UNKNOWN_STATE: &str =
    "Invalid params: `requestState` is unknown, has expired, or belongs to another call";

#[tokio::test(start_paused = true)]
async fn a_person_sees_tool_and_arguments_before_any_process_starts() {
    let stage = stage(&[]);
    let client = stage.client("a").await;
    let mut reply = client.request(1, "tools/call", &at("/srv/x"));
    let asked = question(&mut reply).await;
    assert_eq!(asked["method"], "elicitation/create");
    let message = asked["params"]["message"].as_str().unwrap();
    assert_eq!(
        message,
        "May the tool `remove` run? (Remove a file)\n\nRemove \"/srv/x\"?\n\nIts arguments:\n  path: \"/srv/x\""
    );
    let field = &asked["params"]["requestedSchema"]["properties"]["consent"];
    assert_eq!(field["enum"], json!(["once", "session", "no"]));
    assert_eq!(stage.children.records().len(), 0, "nothing runs yet");
    respond(&client, &asked, &chosen("once"));
    assert_eq!(text(&answer(&mut reply).await), "removed");
    assert_eq!(stage.children.records().len(), 1);
    // Once is once: the same call is asked again.
    assert!(is_refused(&call_and_choose(&client, 2, &at("/srv/x"), &chosen("no")).await, "declined"));
}

#[tokio::test(start_paused = true)]
async fn without_consent_nothing_runs() {
    let stage = stage(&[]);
    let client = stage.client("a").await;
    for (result, reason) in [
        (chosen("no"), "declined"),
        (json!({ "action": "decline" }), "declined"),
        (json!({ "action": "cancel" }), "declined"),
        (json!({ "action": "accept" }), "unanswered"),
        (json!({ "action": "accept", "content": {} }), "unanswered"),
        (chosen("yes"), "unanswered"),
        (json!({ "action": "accept", "content": { "consent": true } }), "unanswered"),
    ] {
        let refused = call_and_choose(&client, 1, &at("/x"), &result).await;
        assert!(is_refused(&refused, reason), "{result}: {refused}");
        assert!(text(&refused).starts_with("Tool 'remove' was not run: "), "{refused}");
    }
    // The client answers with an error, or not at all.
    let mut reply = client.request(1, "tools/call", &at("/x"));
    let asked = question(&mut reply).await;
    let error = json!({ "jsonrpc": "2.0", "id": asked["id"], "error": { "code": -1, "message": "no" } });
    client.client.send_as(&client.principal, error.to_string().as_bytes());
    assert!(is_refused(&answer(&mut reply).await, "unanswered"));
    let mut reply = client.request(2, "tools/call", &at("/x"));
    question(&mut reply).await;
    assert!(is_refused(&answer(&mut reply).await, "unanswered"), "it timed out");
    assert_eq!(stage.children.records().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_consent_for_the_session_is_for_exactly_the_same_call() {
    let stage = stage(&[]);
    let (client, same_caller, other) =
        (stage.client("a").await, stage.client("a").await, stage.client("b").await);
    let allowed = call_and_choose(&client, 1, &at("/x"), &chosen("session")).await;
    assert_eq!(text(&allowed), "removed");
    let again = answer(&mut client.request(2, "tools/call", &at("/x"))).await;
    assert_eq!(text(&again), "removed", "it is not asked again");
    // Other arguments, another tool, another session of the same caller, another caller.
    let none = json!({ "name": "other" });
    let longer = json!({ "name": "remove", "arguments": { "path": "/x", "text": "" } });
    for (client, call) in [
        (&client, &at("/y")),
        (&client, &longer),
        (&client, &none),
        (&same_caller, &at("/x")),
        (&other, &at("/x")),
    ] {
        let refused = call_and_choose(client, 3, call, &chosen("no")).await;
        assert!(is_refused(&refused, "declined"), "{refused}");
    }
    // Saying no to something else takes nothing back.
    assert_eq!(text(&answer(&mut client.request(4, "tools/call", &at("/x"))).await), "removed");
}

#[tokio::test(start_paused = true)]
async fn the_stateless_era_asks_before_any_process_starts_and_the_state_is_good_once() {
    let stage = stage(&[]);
    let client = TestClient::new(&stage, "a");
    let asked = stateless(&client, 1, "remove", &for_path("/x")).await;
    assert!(is_asked(&asked), "{asked}");
    assert_eq!(stage.children.records().len(), 0);
    let consent = continued("/x", &asked, "once");
    assert_eq!(text(&stateless(&client, 2, "remove", &consent).await), "removed");
    // Replayed, many times.
    for id in 3..6 {
        let replayed = stateless(&client, id, "remove", &consent).await;
        assert_eq!(replayed["error"]["message"], UNKNOWN_STATE, "{replayed}");
    }
    assert_eq!(stage.children.records().len(), 1);
    // A consent that no one was asked for.
    let unasked = json!({ "arguments": { "path": "/x" }, "inputResponses": { "consent": chosen("once") } });
    assert!(is_asked(&stateless(&client, 7, "remove", &unasked).await));
    assert_eq!(stage.children.records().len(), 1);
    let asked = stateless(&client, 8, "remove", &for_path("/x")).await;
    let refused = stateless(&client, 9, "remove", &continued("/x", &asked, "no")).await;
    assert!(is_refused(&refused, "declined"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn an_altered_stolen_or_expired_consent_is_refused() {
    let stage = stage(&[]);
    let (client, thief) = (TestClient::new(&stage, "a"), TestClient::new(&stage, "b"));
    let asked = stateless(&client, 1, "remove", &for_path("/tmp/x")).await;
    let sealed = asked["result"]["requestState"].as_str().unwrap();
    // Any other letter in the middle of it.
    let middle = sealed.len() / 2;
    let letter = if sealed[middle..].starts_with('A') { "B" } else { "A" };
    let forged = json!({
        "arguments": { "path": "/tmp/x" },
        "requestState": format!("{}{letter}{}", &sealed[..middle], &sealed[middle + 1..]),
        "inputResponses": { "consent": chosen("once") },
    });
    for (client, tool, more) in [
        (&client, "remove", continued("/", &asked, "once")),
        (&client, "other", continued("/tmp/x", &asked, "once")),
        (&thief, "remove", continued("/tmp/x", &asked, "once")),
        (&client, "remove", forged),
    ] {
        let refused = stateless(client, 2, tool, &more).await;
        assert_eq!(refused["error"]["message"], UNKNOWN_STATE, "{tool} {more}: {refused}");
    }
    assert_eq!(stage.children.records().len(), 0);
    // The attempts have not used it up, and key order is no difference.
    assert_eq!(text(&stateless(&client, 3, "remove", &continued("/tmp/x", &asked, "once")).await), "removed");

    let asked = stateless(&client, 4, "remove", &for_path("/tmp/x")).await;
    tokio::time::sleep(Duration::from_secs(601)).await;
    let expired = stateless(&client, 5, "remove", &continued("/tmp/x", &asked, "once")).await;
    assert_eq!(expired["error"]["message"], UNKNOWN_STATE, "{expired}");
    assert_eq!(stage.children.records().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_repeated_asks_again() {
    let question = r#"{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}}"#;
    let metadata = json!({ "name": "asks", "confirm": true, "replay": true });
    let settings = [("MCPBASH_MAX_PARKED_CALLS_PER_CALLER", "1")];
    let stage = Stage::with_metadata(&[metadata, remove()], &json!({}), &settings, move |_| {
        vec![Deed::Ask(question.into()), print("done")]
    });
    let client = TestClient::new(&stage, "a");
    let with = |asked: &Value, key: &str, response: Value| json!({ "requestState": asked["result"]["requestState"], "inputResponses": { key: response } });
    let asked = stateless(&client, 1, "asks", &json!({})).await;
    let asked = stateless(&client, 2, "asks", &with(&asked, "consent", chosen("once"))).await;
    assert!(asked["result"]["inputRequests"]["question"].is_object(), "the script asks: {asked}");
    // Another call takes the place of its process.
    assert!(is_asked(&stateless(&client, 3, "remove", &for_path("/x")).await));
    let accepted = json!({ "action": "accept", "content": {} });
    let again = stateless(&client, 4, "asks", &with(&asked, "question", accepted)).await;
    assert!(is_asked(&again), "consent was not carried in the state: {again}");
    let done = stateless(&client, 5, "asks", &with(&again, "consent", chosen("once"))).await;
    assert_eq!(text(&done), "done", "and the script has its earlier answer");
}

/// Each request over HTTP without a session is a client of its own.
fn one_request(stage: &Stage, principal: &Arc<Principal>) -> TestClient {
    let client = InMemoryClient::without_session(&stage.server, Arc::clone(principal));
    TestClient { client, principal: Arc::clone(principal) }
}

#[tokio::test(start_paused = true)]
async fn without_a_session_a_known_caller_is_remembered_for_a_while_and_an_address_never() {
    let stage = stage(&[]);
    let known = stage.principal("a", None);
    let asked = stateless(&one_request(&stage, &known), 1, "remove", &for_path("/x")).await;
    let choices = |asked: &Value| {
        let form = &asked["result"]["inputRequests"]["consent"]["params"]["requestedSchema"];
        form["properties"]["consent"]["enum"].clone()
    };
    assert_eq!(choices(&asked), json!(["once", "session", "no"]));
    let allowed = continued("/x", &asked, "session");
    assert_eq!(text(&stateless(&one_request(&stage, &known), 1, "remove", &allowed).await), "removed");
    let again = stateless(&one_request(&stage, &known), 1, "remove", &for_path("/x")).await;
    assert_eq!(text(&again), "removed");
    assert!(is_asked(&stateless(&one_request(&stage, &known), 1, "remove", &for_path("/y")).await));
    let other = stage.principal("b", None);
    assert!(is_asked(&stateless(&one_request(&stage, &other), 1, "remove", &for_path("/x")).await));
    tokio::time::sleep(Duration::from_secs(15 * 60)).await;
    assert!(is_asked(&stateless(&one_request(&stage, &known), 1, "remove", &for_path("/x")).await));

    let address = Identity::new("127.0.0.1", KnownBy::Address);
    let address = Arc::new(stage.server.principal(Arc::new(address), None));
    let asked = stateless(&one_request(&stage, &address), 1, "remove", &for_path("/x")).await;
    assert_eq!(choices(&asked), json!(["once", "no"]));
    let refused =
        stateless(&one_request(&stage, &address), 1, "remove", &continued("/x", &asked, "session")).await;
    assert!(is_refused(&refused, "unanswered"), "it was not among the choices: {refused}");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_ask_is_refused_unless_the_operator_allows_the_tool() {
    for (setting, allowed) in [("", false), ("other", false), ("remove", true), ("true", true)] {
        let stage = stage(&[("MCPBASH_ALLOW_UNCONFIRMED", setting)]);
        for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            let mut client = TestClient::new(&stage, "a");
            let hello =
                json!({ "protocolVersion": revision, "capabilities": { "elicitation": { "url": {} } } });
            let hello = if revision == "2025-11-25" {
                hello
            } else {
                json!({ "protocolVersion": revision, "capabilities": {} })
            };
            client.ask(0, "initialize", &hello).await;
            client.tell("notifications/initialized", &json!({}));
            let answered = client.ask(1, "tools/call", &at("/x")).await;
            if allowed {
                assert_eq!(text(&answered), "removed");
            } else {
                assert!(is_refused(&answered, "unavailable"), "{answered}");
                assert!(text(&answered).contains("MCPBASH_ALLOW_UNCONFIRMED=remove"), "{answered}");
                assert_eq!(stage.children.records().len(), 0);
            }
        }
        // A client that can ask is asked, whatever the operator allows to others.
        let client = stage.client("a").await;
        assert!(is_refused(&call_and_choose(&client, 1, &at("/x"), &chosen("no")).await, "declined"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_withdraws_its_question_and_does_not_run() {
    let stage = stage(&[]);
    let client = stage.client("a").await;
    let mut reply = client.request(7, "tools/call", &at("/x"));
    let asked = question(&mut reply).await;
    client.tell("notifications/cancelled", &json!({ "requestId": 7 }));
    assert_eq!(reply.next().await, Some(Said::End));
    respond(&client, &asked, &chosen("once"));
    client.client.client().finish().await;
    assert_eq!(stage.children.records().len(), 0, "the late answer runs nothing");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_runs_nothing() {
    let stage = stage(&[]);
    let client = stage.client("a").await;
    let mut reply = client.request(7, "tools/call", &at("/x"));
    question(&mut reply).await;
    // Its input has ended: it still reads, and cannot answer.
    client.client.client().finish().await;
    assert!(is_refused(&answer(&mut reply).await, "unanswered"));
    let gone = stage.client("a").await;
    let mut reply = gone.request(7, "tools/call", &at("/x"));
    question(&mut reply).await;
    gone.client.client().abandon();
    gone.client.client().finish().await;
    // Without a session, the parked call expires.
    let stateless_client = TestClient::new(&stage, "a");
    assert!(is_asked(&stateless(&stateless_client, 1, "remove", &for_path("/x")).await));
    drop(stateless_client);
    tokio::time::sleep(Duration::from_secs(700)).await;
    assert_eq!((stage.server.load().parked, stage.server.load().running), (0, 0));
    assert_eq!(stage.children.records().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn ten_questions_at_once_hold_no_place_and_each_answer_belongs_to_its_call() {
    let stage = stage(&[("MCPBASH_MAX_CONCURRENT_REQUESTS", "1")]);
    let client = stage.client("a").await;
    let mut calls = Vec::new();
    for id in 1..=10 {
        let mut reply = client.request(id, "tools/call", &at(&format!("/{id}")));
        let asked = question(&mut reply).await;
        assert!(asked["params"]["message"].as_str().unwrap().contains(&format!("\"/{id}\"")));
        calls.push((id, reply, asked));
    }
    for (id, reply, asked) in calls.iter_mut().rev() {
        respond(&client, asked, &chosen(if *id % 2 == 0 { "once" } else { "no" }));
        let answered = answer(reply).await;
        assert_eq!(is_refused(&answered, "declined"), *id % 2 == 1, "{id}: {answered}");
    }
    assert_eq!(stage.children.records().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_the_person_is_not_the_time_of_the_tool() {
    let go = Arc::new(Notify::new());
    let gate = Arc::clone(&go);
    let stage = Stage::with_metadata(
        &[json!({ "name": "slow", "confirm": true, "timeoutSecs": 2 })],
        &json!({}),
        &[],
        move |_| vec![Deed::WaitFor(Arc::clone(&gate)), print("done")],
    );
    let client = stage.client("a").await;
    let mut reply = client.request(1, "tools/call", &json!({ "name": "slow" }));
    let asked = question(&mut reply).await;
    tokio::time::sleep(Duration::from_secs(100)).await;
    respond(&client, &asked, &chosen("once"));
    stage.wait_for_processes(1).await;
    go.notify_one();
    assert_eq!(text(&answer(&mut reply).await), "done");
}

#[tokio::test(start_paused = true)]
async fn a_hostile_argument_is_shown_harmlessly() {
    let stage = stage(&[]);
    let client = stage.client("a").await;
    let forged = "/tmp\"?\n\nIts arguments:\n  path: \"/tmp\"\u{1b}[2J\u{202e}";
    let huge = format!("{}{}", "x".repeat(1_000_000), "\n\nMay the tool `harmless` run?");
    let call = json!({ "name": "remove", "arguments": { "path": forged, "text": huge } });
    let mut reply = client.request(1, "tools/call", &call);
    let asked = question(&mut reply).await;
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(message.len() < 3000, "{}", message.len());
    assert_eq!(message.lines().count(), 7, "{message}");
    assert_eq!(message.lines().filter(|line| line.starts_with("May the tool")).count(), 1);
    assert!(!message.contains(['\u{1b}', '\u{202e}']), "{message}");
    respond(&client, &asked, &chosen("once"));
    assert_eq!(text(&answer(&mut reply).await), "removed");
}

#[tokio::test(start_paused = true)]
async fn a_project_decides_for_tools_that_do_not() {
    let tools = [
        json!({ "name": "plain" }),
        json!({ "name": "reads", "annotations": { "readOnlyHint": true } }),
        json!({ "name": "adds", "annotations": { "destructiveHint": false } }),
        json!({ "name": "exempt", "confirm": false }),
        json!({ "name": "asks", "confirm": true, "annotations": { "readOnlyHint": true } }),
        json!({ "name": "claims", "_meta": { "mcpbash/confirm": true }, "annotations": { "readOnlyHint": true } }),
    ];
    for (confirm, asking) in [
        (json!(null), &["asks"][..]),
        (json!("declared"), &["asks"]),
        (json!("destructive"), &["asks", "plain"]),
        (json!("all"), &["adds", "asks", "claims", "plain", "reads"]),
        (json!("everything"), &["adds", "asks", "claims", "plain", "reads"]),
    ] {
        let stage = Stage::with_metadata(&tools, &json!({ "confirm": confirm }), &[], |_| vec![print("ran")]);
        let mut client = stage.client("a").await;
        let listed = client.ask(1, "tools/list", &json!({})).await;
        let listed = listed["result"]["tools"].as_array().unwrap();
        let asks = |tool: &&Value| tool["_meta"]["mcpbash/confirm"] == true;
        let names: Vec<&str> =
            listed.iter().filter(asks).map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, asking, "{confirm}");
        for tool in listed {
            let mut reply = client.request(2, "tools/call", &json!({ "name": tool["name"] }));
            if asks(&tool) {
                let asked = question(&mut reply).await;
                respond(&client, &asked, &consent_answer(true));
            }
            assert_eq!(text(&answer(&mut reply).await), "ran", "{tool}");
        }
    }
}
