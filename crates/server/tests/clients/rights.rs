//! Callers with some tools only: they see no others, and receive nothing about others.

use crate::print;
use crate::stage::{Stage, TestClient, answer, parsed, text};
use mcp_bash_runner::fake_child::Deed;
use mcp_bash_server::Rights;
use mcp_bash_settings::AllowedNames;
use serde_json::{Value, json};
use std::sync::Arc;

fn only(tools: &[&str]) -> Arc<Rights> {
    let tools = tools.iter().copied().collect::<AllowedNames>();
    Arc::new(Rights { tools: Some(tools), ..Rights::default() })
}

fn stateless(more: &Value) -> Value {
    let mut params = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
    } });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params
}

/// A page of tools: their names, the cursor, the total number, and the cache scope.
async fn page(client: &mut TestClient, more: &Value) -> (Vec<String>, Option<String>, u64, String) {
    let answer = client.ask(1, "tools/list", &stateless(more)).await;
    let result = &answer["result"];
    let names = result["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let names = names.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    let cursor = result["nextCursor"].as_str().map(str::to_owned);
    let total = result["_meta"]["mcpbash/total"].as_u64().unwrap();
    (names, cursor, total, result["cacheScope"].as_str().unwrap().to_owned())
}

/// The names of all tools, in pages of this many.
async fn all(client: &mut TestClient, limit: usize) -> Vec<String> {
    let (mut names, mut more) = (Vec::new(), json!({ "limit": limit }));
    loop {
        let (some, cursor, ..) = page(client, &more).await;
        assert!(some.len() <= limit);
        names.extend(some);
        let Some(cursor) = cursor else { return names };
        more["cursor"] = cursor.into();
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_sees_and_calls_only_the_tools_of_its_list() {
    let names = ["a1", "a2", "b1", "b2", "c1", "c2", "d1"];
    let stage = Stage::new(&names, &[], |_| vec![print("ran")]);
    let mut free = stage.client("free").await;
    let mut bound = stage.client("bound").await;
    bound.set_rights(&stage, Some(only(&["a2", "c1", "d1", "gone"])));
    for limit in 1..5 {
        assert_eq!(all(&mut bound, limit).await, ["a2", "c1", "d1"]);
        assert_eq!(all(&mut free, limit).await, names);
    }
    let (_, cursor, total, scope) = page(&mut bound, &json!({ "limit": 3 })).await;
    assert_eq!((cursor, total, &*scope), (None, 3, "private"), "nothing follows that it sees");

    assert_eq!(text(&answer(&mut bound.call(1, "c1")).await), "ran");
    assert_eq!(text(&answer(&mut free.call(1, "c2")).await), "ran");
    let started = stage.children.records().len();
    let hidden = answer(&mut bound.call(2, "c2")).await;
    assert_eq!(hidden["error"]["code"], -32602);
    let words = hidden["error"]["message"].as_str().unwrap();
    assert_eq!(words, "Tool 'c2' is not allowed: it is not in the list of tools of the caller `bound`");
    // A tool that does not exist is refused in the same words, which reveals nothing.
    let missing = answer(&mut bound.call(3, "zz")).await;
    assert_eq!(missing["error"]["message"].as_str().unwrap(), words.replace("c2", "zz"));
    let long = answer(&mut bound.call(4, &"x".repeat(100_000))).await;
    assert!(long.to_string().len() < 1000);
    assert_eq!(stage.children.records().len(), started, "nothing was run");
}

#[tokio::test(start_paused = true)]
async fn rights_change_while_their_caller_is_known() {
    let stage = Stage::new(&["a", "b", "c"], &[], |_| vec![print("ran")]);
    let mut client = stage.client("x").await;
    client.set_rights(&stage, Some(only(&["a", "b", "c"])));
    let (names, cursor, ..) = page(&mut client, &json!({ "limit": 1 })).await;
    assert_eq!(names, ["a"]);
    client.set_rights(&stage, Some(only(&["a", "c"])));
    // The rest of the list, as the caller sees it by now.
    let (names, rest, total, _) = page(&mut client, &json!({ "limit": 1, "cursor": cursor })).await;
    assert_eq!((names, rest, total), (vec!["c".to_owned()], None, 2));
    assert_eq!(answer(&mut client.call(1, "b")).await["error"]["code"], -32602);
    for everything in [Some(only(&["*"])), Some(only(&["all"])), None, Some(Arc::default())] {
        client.set_rights(&stage, everything);
        assert_eq!(all(&mut client, 2).await, ["a", "b", "c"]);
        assert_eq!(text(&answer(&mut client.call(1, "b")).await), "ran");
    }
    client.set_rights(&stage, Some(only(&[])));
    assert_eq!(all(&mut client, 2).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_parked_call_is_not_resumed_by_a_caller_that_may_not_call_its_tool_any_more() {
    let question = r#"{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}}"#;
    let stage = Stage::new(&["asks"], &[], move |_| vec![Deed::Ask(question.into()), print("done")]);
    let mut client = TestClient::new(&stage, "x");
    client.set_rights(&stage, Some(only(&["asks"])));
    let asked = parsed(&client.stateless_call(1, "asks", &json!({})).answer().await.unwrap());
    let token = asked["result"]["requestState"].clone();
    let key = asked["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let more = json!({ "requestState": token, "inputResponses": { key: { "action": "decline" } } });
    client.set_rights(&stage, Some(only(&["other"])));
    let refused = answer(&mut client.stateless_call(2, "asks", &more)).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    client.set_rights(&stage, Some(only(&["asks"])));
    assert_eq!(text(&answer(&mut client.stateless_call(3, "asks", &more)).await), "done");
}
