//! `subscriptions/listen`: how stateless clients receive changes.

use crate::harness::{Project, Server, code, stateless_meta};
use rustix::process::Signal;
use serde_json::{Value, json};

fn quiet(project: &Project) -> Server {
    Server::start_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")])
}

fn listen(server: &mut Server, id: impl Into<Value>, notifications: &Value) {
    server.request(
        id,
        "subscriptions/listen",
        &json!({ "_meta": stateless_meta(), "notifications": notifications }),
    );
}

fn notification(method: &str, id: &Value, rest: Value) -> Value {
    let mut params = rest;
    params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": id });
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn acknowledged(id: &Value, notifications: &Value) -> Value {
    notification("notifications/subscriptions/acknowledged", id, json!({ "notifications": notifications }))
}

/// The answer shows that no other message was pending.
fn expect_silence(server: &mut Server) {
    let answer = server.ask("silence?", "tools/list", &json!({ "_meta": stateless_meta() }));
    assert!(answer["result"]["tools"].is_array(), "{answer}");
}

// Shows: listen-acknowledged
#[test]
fn the_acknowledgement_comes_first_and_lists_the_accepted_subscriptions() {
    let project = Project::with_hi().file("resources/a.txt", "one");
    let mut server = quiet(&project);
    let uri = "file://./resources/a.txt";
    listen(
        &mut server,
        "l-1",
        &json!({
            "toolsListChanged": true, "resourcesListChanged": false,
            "resourceSubscriptions": [uri, "file://./resources/none.txt", "db://nobody"],
        }),
    );
    let honoured = json!({ "toolsListChanged": true, "resourceSubscriptions": [uri] });
    assert_eq!(server.receive(), acknowledged(&json!("l-1"), &honoured));
    listen(&mut server, 7, &json!({}));
    assert_eq!(server.receive(), acknowledged(&json!(7), &json!({})));
    // Kinds that were not requested are not sent.
    let project = project.file("resources/b.txt", "new");
    let project = project.file("resources/a.txt", "two");
    assert_eq!(
        server.receive(),
        notification("notifications/resources/updated", &json!("l-1"), json!({ "uri": uri }))
    );
    let _project = project.tool("new", "#!/bin/sh\n");
    assert_eq!(server.receive(), notification("notifications/tools/list_changed", &json!("l-1"), json!({})));
    expect_silence(&mut server);
}

// Shows: listen-kinds
#[test]
fn each_stream_receives_only_what_it_requested() {
    let project = Project::with_hi().file("resources/a.txt", "one");
    let mut server = quiet(&project);
    listen(&mut server, 1, &json!({ "resourcesListChanged": true }));
    assert_eq!(server.receive(), acknowledged(&json!(1), &json!({ "resourcesListChanged": true })));
    listen(&mut server, 2, &json!({ "resourcesListChanged": true, "toolsListChanged": true }));
    server.receive();
    let project = project.file("resources/b.txt", "new");
    for id in [1, 2] {
        let expected = notification("notifications/resources/list_changed", &json!(id), json!({}));
        assert_eq!(server.receive(), expected);
    }
    // A change that only one stream requested comes next, on that stream.
    let _project = project.tool("new", "#!/bin/sh\n");
    assert_eq!(server.receive(), notification("notifications/tools/list_changed", &json!(2), json!({})));
    expect_silence(&mut server);
}

#[test]
fn prompt_changes_are_sent_as_well() {
    let project = Project::with_hi();
    let mut server = quiet(&project);
    let wanted = json!({ "promptsListChanged": true });
    listen(&mut server, 1, &wanted);
    assert_eq!(server.receive(), acknowledged(&json!(1), &wanted));
    for name in ["new", "newer"] {
        project.write(&format!("prompts/{name}.txt"), "Say hello");
        assert_eq!(
            server.receive(),
            notification("notifications/prompts/list_changed", &json!(1), json!({}))
        );
    }
    expect_silence(&mut server);
}

// Shows: listen-cancelled
#[test]
fn a_stream_that_is_cancelled_is_silent_and_its_id_free() {
    let project = Project::with_hi().file("resources/a.txt", "one").file("resources/b.txt", "one");
    let (uri, other) = ("file://./resources/a.txt", "file://./resources/b.txt");
    let mut server = quiet(&project);
    let wanted = json!({ "toolsListChanged": true, "resourceSubscriptions": [uri] });
    listen(&mut server, "l", &wanted);
    server.receive();
    listen(&mut server, "l", &wanted);
    assert_eq!(code(&server.receive()), -32600);
    listen(&mut server, "other", &json!({ "toolsListChanged": true, "resourceSubscriptions": [other] }));
    server.receive();
    server.notify("notifications/cancelled", &json!({ "requestId": "l" }));
    project.write("resources/a.txt", "two");
    // Twice, because changes detected together are sent in any order.
    for text in ["two", "three"] {
        project.write("resources/b.txt", text);
        let updated =
            notification("notifications/resources/updated", &json!("other"), json!({ "uri": other }));
        assert_eq!(server.receive(), updated);
    }
    let project = project.tool("new", "#!/bin/sh\n");
    let changed = notification("notifications/tools/list_changed", &json!("other"), json!({}));
    assert_eq!(server.receive(), changed);
    expect_silence(&mut server);
    listen(&mut server, "l", &wanted);
    assert_eq!(server.receive(), acknowledged(&json!("l"), &wanted));
    drop(project);
}

// Shows: listen-end
#[test]
fn shutdown_answers_every_stream() {
    let project = Project::with_hi();
    let mut server = quiet(&project);
    listen(&mut server, "a", &json!({ "toolsListChanged": true }));
    listen(&mut server, "b", &json!({ "resourceSubscriptions": [] }));
    for _ in 0..2 {
        server.receive();
    }
    server.close_input();
    let mut ids = Vec::new();
    for message in server.rest() {
        // After the end of input, only answers are sent.
        let id = &message["id"];
        let own = &message["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!((own, &message["result"]["resultType"]), (id, &json!("complete")), "{message}");
        ids.push(id.to_string());
    }
    ids.sort();
    assert_eq!(ids, ["\"a\"", "\"b\""]);
    assert!(server.wait().success());
}

#[test]
fn a_signal_terminates_a_server_with_open_streams() {
    let project = Project::with_hi();
    let mut server = quiet(&project);
    listen(&mut server, "a", &json!({ "toolsListChanged": true }));
    server.receive();
    server.signal(Signal::TERM);
    server.wait();
}

#[test]
fn invalid_requests_are_refused() {
    let project = Project::with_hi();
    let mut server = quiet(&project);
    for notifications in [
        json!(null),
        json!([]),
        json!({ "toolsListChanged": "yes" }),
        json!({ "resourceSubscriptions": "file:///x" }),
        json!({ "resourceSubscriptions": [1] }),
    ] {
        listen(&mut server, 1, &notifications);
        assert_eq!(code(&server.receive()), -32602, "{notifications}");
    }
    let missing = server.ask(2, "subscriptions/listen", &json!({ "_meta": stateless_meta() }));
    assert_eq!(code(&missing), -32602);
    // The methods of one era do not exist in the other.
    let subscribe = json!({ "_meta": stateless_meta(), "uri": "echo://x" });
    assert_eq!(code(&server.ask(3, "resources/subscribe", &subscribe)), -32601);
    server.initialize("2025-11-25");
    assert_eq!(code(&server.ask(4, "subscriptions/listen", &json!({ "notifications": {} }))), -32602);
}
