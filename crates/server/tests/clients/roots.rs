//! Folders of clients without a session: a confined tool that has asked for them once is not started without them again.

use crate::print;
use crate::stage::{Stage, TestClient, answer, text, write_tool};
use mcp_bash_project::Changes;
use mcp_bash_runner::fake_child::Deed;
use mcp_bash_server::{Identity, InMemoryClient, KnownBy};
use serde_json::{Value, json};
use std::sync::Arc;

const QUESTION: &str = r#"{"method":"roots/list"}"#;

/// The text of its script names no roots, and its process asks for them.
fn stage() -> Stage {
    let tools = [json!({ "name": "confined", "sandbox": "on" }), json!({ "name": "free" })];
    Stage::with_metadata(&tools, &json!({}), &[], |_| vec![Deed::Ask(QUESTION.into()), print("done")])
}

fn client(stage: &Stage, known_by: KnownBy) -> TestClient {
    let principal = Arc::new(stage.server.principal(Arc::new(Identity::new("a", known_by)), None));
    TestClient { client: InMemoryClient::new(&stage.server, Arc::clone(&principal)), principal }
}

async fn call(client: &TestClient, id: u32, tool: &str, more: &Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "roots": {} },
    });
    let mut params = json!({ "name": tool, "_meta": meta });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    answer(&mut client.request(id, "tools/call", &params)).await
}

/// Calls a tool as a new client, which is asked for its roots and answers after the project has changed. Returns the name of
/// the question, and how many processes were started before the answer.
async fn asked_as(stage: &Stage, known_by: KnownBy, tool: &str) -> (String, usize) {
    let (client, before) = (client(stage, known_by), stage.children.records().len());
    let asked = call(&client, 1, tool, &json!({})).await;
    let Some(questions) = asked["result"]["inputRequests"].as_object() else { panic!("{asked}") };
    let (name, question) = questions.iter().next().unwrap();
    assert_eq!((questions.len(), &question["method"]), (1, &json!("roots/list")), "{asked}");
    let started = stage.children.records().len() - before;
    write_tool(stage.folder.path(), &format!("fresh{before}"));
    stage.server.served().reload(&Changes::anywhere());
    let answers = json!({ name: { "roots": [] } });
    let resumed = json!({ "requestState": asked["result"]["requestState"], "inputResponses": answers });
    let done = call(&client, 2, tool, &resumed).await;
    assert_eq!(text(&done), "done");
    (name.clone(), started)
}

#[tokio::test(start_paused = true)]
async fn a_confined_tool_that_has_asked_for_roots_is_given_them_before_it_starts() {
    let stage = stage();
    let (in_mid_call, before_start) = (("question".to_owned(), 1), ("roots".to_owned(), 0));
    assert_eq!(asked_as(&stage, KnownBy::Local, "confined").await, in_mid_call);
    assert_eq!(asked_as(&stage, KnownBy::Local, "confined").await, before_start);
    // The sandbox opens no folder of another caller, so that there is nothing to ask for before the start.
    assert_eq!(asked_as(&stage, KnownBy::Token, "confined").await, in_mid_call);
    // A tool without a sandbox can be told at any time.
    for _ in 0..2 {
        assert_eq!(asked_as(&stage, KnownBy::Local, "free").await, in_mid_call);
    }
}
