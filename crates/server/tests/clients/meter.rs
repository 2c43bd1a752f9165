//! Metrics: the meter receives each request once, under known names, with its outcome.

use crate::print;
use crate::stage::{Stage, TestClient, answer, tool};
use mcp_bash_runner::fake_child::{Deed, StartedWith};
use mcp_bash_server::{EndedSession, ErrorType, Meter, Operation};
use parking_lot::Mutex;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Every measurement, in words.
#[derive(Default)]
struct Notebook(Mutex<Vec<String>>);

impl Notebook {
    fn write(&self, line: String) {
        self.0.lock().push(line);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock())
    }
}

impl Meter for Notebook {
    fn served(&self, operation: &Operation<'_>) {
        let Operation { method, name, revision, duration, error } = operation;
        assert!(*duration < Duration::from_secs(60));
        let revision = revision.map_or("-", |revision| revision.as_str());
        let error = match error {
            None => "ok".to_owned(),
            Some(ErrorType::Code(code)) => code.to_string(),
            Some(ErrorType::Tool) => "tool".to_owned(),
            Some(ErrorType::Cancelled) => "cancelled".to_owned(),
        };
        self.write(format!("{method} {} {revision} {error}", name.unwrap_or("-")));
    }

    fn session_began(&self) {
        self.write("session began".to_owned());
    }

    fn session_ended(&self, session: &EndedSession) {
        self.write(format!("session ended {}", session.revision.as_str()));
    }
}

fn measured(script: impl Fn(&StartedWith) -> Vec<Deed> + Send + Sync + 'static) -> (Stage, Arc<Notebook>) {
    let notebook = Arc::new(Notebook::default());
    let stage = Stage::new(&["run", "fails", "endless", "asks", "admits", "quotes"], &[], script);
    stage.server.measure_by(Arc::clone(&notebook) as _);
    (stage, notebook)
}

fn deeds(started: &StartedWith) -> Vec<Deed> {
    match &*tool(started) {
        "run" => vec![print("\"isError\":true")],
        "fails" => vec![Deed::Exit(3)],
        "admits" => vec![print(r#"{"content":[],"isError":true,"structuredContent":{"isError":false}}"#)],
        "quotes" => vec![print(
            r#"{"content":[{"type":"text","text":"\"isError\":true"}],"structuredContent":{"isError":true}}"#,
        )],
        "asks" => vec![
            Deed::Ask(r#"{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}}"#.into()),
            print("done"),
        ],
        _ => vec![Deed::Wait(Duration::from_secs(1_000_000))],
    }
}

async fn greeted(stage: &Stage, notebook: &Notebook) -> TestClient {
    let client = stage.client("a").await;
    assert_eq!(
        notebook.take(),
        ["session began", "initialize - 2025-11-25 ok", "logging/setLevel - 2025-11-25 ok"]
    );
    client
}

#[tokio::test(start_paused = true)]
async fn each_request_is_metered_once_with_its_outcome() {
    let (stage, notebook) = measured(deeds);
    let mut client = greeted(&stage, &notebook).await;
    answer(&mut client.call(1, "run")).await;
    assert_eq!(notebook.take(), ["tools/call run 2025-11-25 ok"], "what a tool prints is not how it ended");
    answer(&mut client.call(1, "fails")).await;
    assert_eq!(notebook.take(), ["tools/call fails 2025-11-25 tool"]);
    let mut endless = client.call(7, "endless");
    stage.wait_for_processes(3).await;
    client.tell("notifications/cancelled", &json!({ "requestId": 7 }));
    while endless.next().await.is_some() {}
    client.ask(1, "ping", &json!({})).await;
    assert_eq!(notebook.take(), ["tools/call endless 2025-11-25 cancelled", "ping - 2025-11-25 ok"]);
    client.client.client().finish().await;
    assert_eq!(notebook.take(), [""; 0], "nothing twice");
    drop(client);
    assert_eq!(notebook.take(), ["session ended 2025-11-25"]);
}

#[tokio::test(start_paused = true)]
async fn only_the_result_itself_says_whether_a_tool_failed() {
    let (stage, notebook) = measured(deeds);
    let client = greeted(&stage, &notebook).await;
    for (tool, expected) in [("admits", "tool"), ("quotes", "ok")] {
        let answer = answer(&mut client.call(1, tool)).await;
        assert_eq!(answer["result"]["isError"], expected == "tool", "{answer}");
        assert_eq!(notebook.take(), [format!("tools/call {tool} 2025-11-25 {expected}")]);
    }
}

#[tokio::test(start_paused = true)]
async fn names_made_up_by_clients_are_not_counted() {
    let (stage, notebook) = measured(deeds);
    let mut client = greeted(&stage, &notebook).await;
    answer(&mut client.call(1, "made up")).await;
    client.ask(1, "made/up", &json!({})).await;
    client.ask(1, "prompts/get", &json!({ "name": "made up" })).await;
    client.ask(1, "tools/call", &json!({ "name": 7 })).await;
    for message in ["no json", r#"{"jsonrpc":"2.0","id":1}"#, r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#]
    {
        answer(&mut client.client.send(message.as_bytes())).await;
    }
    let expected = [
        "tools/call - 2025-11-25 -32602",
        "_OTHER - 2025-11-25 -32601",
        "prompts/get - 2025-11-25 -32602",
        "tools/call - 2025-11-25 -32602",
        "_OTHER - - -32700",
        "_OTHER - - -32600",
        "_OTHER - - -32600",
    ];
    assert_eq!(notebook.take(), expected);
}

#[tokio::test(start_paused = true)]
async fn requests_of_the_stateless_era_are_metered_one_by_one() {
    let (stage, notebook) = measured(deeds);
    let client = greeted(&stage, &notebook).await;
    let asked = answer(&mut client.stateless_call(1, "asks", &json!({}))).await;
    let more = json!({
        "requestState": asked["result"]["requestState"],
        "inputResponses": { "question": { "action": "decline" } },
    });
    answer(&mut client.stateless_call(2, "asks", &more)).await;
    assert_eq!(notebook.take(), ["tools/call asks 2026-07-28 ok", "tools/call asks 2026-07-28 ok"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut listening =
        client.request(3, "subscriptions/listen", &json!({ "notifications": {}, "_meta": meta }));
    assert!(listening.next().await.is_some(), "it is acknowledged");
    assert_eq!(notebook.take(), [""; 0], "it goes on");
    client.client.client().finish().await;
    assert_eq!(notebook.take(), ["subscriptions/listen - 2026-07-28 ok"]);
}
