//! Several clients on one server: each receives what is its own or concerns the project, and none can take what belongs
//! to another.

#![allow(clippy::disallowed_methods, reason = "tests use files of their own")]

mod consent;
mod headers;
mod meter;
mod rights;
mod roots;
mod stage;

use mcp_bash_project::Changes;
use mcp_bash_runner::fake_child::Deed;
use mcp_bash_server::{InMemoryReply, Owed, Said};
use serde_json::json;
use stage::{Stage, answer, parsed, text, tool, write_tool};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

fn print(text: &str) -> Deed {
    Deed::Print(text.as_bytes().to_vec())
}

#[tokio::test(start_paused = true)]
async fn two_clients_use_the_same_id_at_once_and_each_gets_its_own_answer() {
    let go = Arc::new(Notify::new());
    let gate = Arc::clone(&go);
    let stage = Stage::new(&["slow", "quick"], &[], move |started| match &*tool(started) {
        "slow" => vec![Deed::WaitFor(Arc::clone(&gate)), print("slow")],
        _ => vec![print("quick")],
    });
    let (first, second) = (stage.client("a").await, stage.client("b").await);
    let (mut slow, mut quick) = (first.call(1, "slow"), second.call(1, "quick"));
    assert_eq!((slow.owed, quick.owed), (Owed::Answer, Owed::Answer));
    assert_eq!(text(&answer(&mut quick).await), "quick");
    // Cancelling one's own request of that id does not affect the other client.
    second.tell("notifications/cancelled", &json!({ "requestId": 1 }));
    let mut refused = first.call(1, "quick");
    assert_eq!(answer(&mut refused).await["error"]["code"], -32600, "one's own id is taken");
    go.notify_one();
    assert_eq!(text(&answer(&mut slow).await), "slow");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_request_ends_its_reply_and_its_process() {
    let stage = Stage::new(&["endless"], &[], |_| vec![Deed::Wait(Duration::from_secs(1_000_000))]);
    let client = stage.client("a").await;
    let mut reply = client.call(7, "endless");
    stage.wait_for_processes(1).await;
    client.tell("notifications/cancelled", &json!({ "requestId": 7 }));
    assert_eq!(reply.next().await, Some(Said::End));
    client.client.client().finish().await;
    assert!(stage.children.records()[0].ending.is_some(), "nothing is left of it");
}

#[tokio::test(start_paused = true)]
async fn progress_and_questions_travel_with_their_request() {
    let line = r#"{"method":"notifications/progress","params":{"progress":1}}"#;
    let question = r#"{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}}"#;
    let stage = Stage::new(&["asks"], &[], move |_| {
        vec![Deed::WriteLine(line.into()), Deed::Ask(question.into()), print("done")]
    });
    let (asked, mut other) = (stage.client("a").await, stage.client("b").await);
    let mut reply = asked.call(3, "asks");
    let Some(Said::Notification(progress)) = reply.next().await else { panic!("no progress") };
    assert_eq!(parsed(&progress)["params"]["progressToken"], 3);
    let Some(Said::Question(question)) = reply.next().await else { panic!("no question") };
    let id = parsed(&question)["id"].clone();
    // An answer in the name of another client is ignored.
    let response = json!({ "jsonrpc": "2.0", "id": id, "result": { "action": "accept", "content": {} } });
    assert_eq!(other.client.send(response.to_string().as_bytes()).owed, Owed::Nothing);
    let unexpected = other.unasked().await;
    assert_eq!(unexpected["params"]["data"]["message"], "unexpected answer", "{unexpected}");
    assert_eq!(reply.try_next(), None, "it still waits");
    asked.client.send(response.to_string().as_bytes());
    assert_eq!(text(&answer(&mut reply).await), "done");
    let answers = &stage.children.records()[0].answers;
    assert!(String::from_utf8_lossy(answers[0].as_ref().unwrap()).contains("accept"));
}

#[tokio::test(start_paused = true)]
async fn clients_receive_nothing_of_each_other_and_all_changes_of_the_project() {
    let stage = Stage::new(&["fails"], &[], |_| vec![Deed::Exit(3)]);
    let (busy, mut quiet) = (stage.client("a").await, stage.client("b").await);
    answer(&mut busy.call(1, "fails")).await;
    busy.tell("notifications/cancelled", &json!({ "requestId": 99 }));
    busy.client.send(b"not json");
    let _third = stage.client("c").await;
    write_tool(stage.folder.path(), "fresh");
    stage.server.served().reload(&Changes::anywhere());
    let first = quiet.unasked().await;
    let data = first["params"]["data"]["message"].as_str().unwrap_or_default();
    assert!(data.contains("tools have changed"), "something else came first: {first}");
    assert_eq!(quiet.unasked().await["method"], "notifications/tools/list_changed");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_about_to_be_read_is_waited_for() {
    let stage = Stage::new(&["known"], &[], |_| vec![print("done")]);
    let client = stage.client("a").await;
    stage.server.served().note_change();
    let mut reply = client.call(1, "fresh");
    tokio::task::yield_now().await;
    assert_eq!(reply.try_next(), None, "it waits");
    assert_eq!(text(&answer(&mut client.call(2, "known")).await), "done", "what is there waits for nothing");
    write_tool(stage.folder.path(), "fresh");
    stage.server.served().reload(&Changes::anywhere());
    assert_eq!(text(&answer(&mut reply).await), "done");
    // If the change is never read, the wait ends; without changes there is no wait.
    stage.server.served().note_change();
    let start = tokio::time::Instant::now();
    let refused = answer(&mut client.call(3, "none")).await;
    assert_eq!(refused["error"]["message"], "Unknown tool: none", "{refused}");
    assert_eq!(start.elapsed().as_secs(), 2);
    stage.server.served().reload(&Changes::anywhere());
    let start = tokio::time::Instant::now();
    answer(&mut client.call(4, "none")).await;
    assert_eq!(start.elapsed().as_secs(), 0);
}

#[tokio::test(start_paused = true)]
async fn results_kept_for_one_caller_are_not_visible_to_another() {
    let long = "x".repeat(5000);
    let stage =
        Stage::new(&["long"], &[("MCPBASH_MAX_RESULT_TEXT_BYTES", "100")], move |_| vec![print(&long)]);
    let (mut first, mut other, mut again) =
        (stage.client("a").await, stage.client("b").await, stage.client("a").await);
    let cut = answer(&mut first.call(1, "long")).await;
    let uri = cut["result"]["content"][0]["_meta"]["mcpbash/wholeText"]["uri"].as_str().unwrap();
    let read = json!({ "uri": uri });
    assert_eq!(other.ask(1, "resources/read", &read).await["error"]["code"], -32002);
    for client in [&mut first, &mut again] {
        let kept = client.ask(2, "resources/read", &read).await;
        assert_eq!(kept["result"]["contents"][0]["text"].as_str().unwrap().len(), 5000, "{kept}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_parked_process_is_resumed_by_its_caller_alone() {
    let question = r#"{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}}"#;
    let stage = Stage::new(&["asks"], &[], move |_| vec![Deed::Ask(question.into()), print("went on")]);
    let (first, thief, again) = (stage.client("a").await, stage.client("b").await, stage.client("a").await);
    let asked = answer(&mut first.stateless_call(1, "asks", &json!({}))).await;
    let resume_token = asked["result"]["requestState"].as_str().unwrap_or_else(|| panic!("{asked}"));
    let accepted = json!({ "question": { "action": "accept", "content": {} } });
    let more = json!({ "requestState": resume_token, "inputResponses": accepted });
    let refused = answer(&mut thief.stateless_call(1, "asks", &more)).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    // The same caller may come back on another connection, and finds the same process.
    assert_eq!(text(&answer(&mut again.stateless_call(9, "asks", &more)).await), "went on");
    assert_eq!(stage.children.records().len(), 1);
    let replayed = answer(&mut first.stateless_call(2, "asks", &more)).await;
    assert_eq!(replayed["error"]["code"], -32602, "a token is good once: {replayed}");
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_floods_delays_itself() {
    let go = Arc::new(Notify::new());
    let gate = Arc::clone(&go);
    let stage = Stage::new(&["slow", "quick"], &[("MCPBASH_MAX_CONCURRENT_REQUESTS", "2")], move |started| {
        match &*tool(started) {
            "slow" => vec![Deed::WaitFor(Arc::clone(&gate)), print("slow")],
            _ => vec![print("quick")],
        }
    });
    let (flood, modest) = (stage.client("flood").await, stage.client("modest").await);
    let mut flooded: Vec<_> = (1..=10).map(|id| flood.call(id, "slow")).collect();
    let mut quick = modest.call(1, "quick");
    stage.wait_for_processes(2).await;
    go.notify_one();
    assert_eq!(
        text(&answer(&mut quick).await),
        "quick",
        "with one place free, ahead of eight that waited longer"
    );
    let done = flooded.iter_mut().filter_map(InMemoryReply::try_next).count();
    assert_eq!(done, 1);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_takes_no_time_in_a_test() {
    let stage = Stage::new(&["hangs"], &[], |_| vec![Deed::IgnoreTermination, Deed::Wait(Duration::MAX)]);
    let client = stage.client("a").await;
    let timed_out = answer(&mut client.call(1, "hangs")).await;
    assert!(text(&timed_out).contains("timed out after 30 s"), "{timed_out}");
}
