//! Event streams of calls: a client that has lost one resumes it at any server.

use super::Fleet;
use crate::harness::http::{Events, Http, initialize, post, request};
use crate::harness::{Project, code, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};

/// `steps` reports two steps and ends; `waits` reports one, and the other when the gate is open.
fn project() -> Project {
    let step = r#"step() {
    printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":%s}}\n' \
        "$1" >>"$MCP_PROGRESS_STREAM"
}
"#;
    let wait = "echo $$ >>started\nread _ <gate\n";
    Project::new()
        .gate()
        .tool("steps", &format!("#!/bin/sh\n{step}step 1\nstep 2\necho done\n"))
        .tool("waits", &format!("#!/bin/sh\n{step}step 1\n{wait}step 2\necho done\n"))
}

/// A client with a session that any server of a fleet continues.
struct Roaming<'a> {
    fleet: &'a Fleet,
    token: &'a str,
    session: String,
}

impl<'a> Roaming<'a> {
    fn begin(fleet: &'a Fleet, token: &'a str) -> Self {
        let hello = initialize("2025-11-25", &json!({})).to_string();
        let greeted = fleet.servers[0].send(&post(&[("Authorization", token)], &hello));
        let session = greeted.header("mcp-session-id").expect("a session").to_owned();
        let client = Self { fleet, token, session };
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.send(0, &ready).response().status, 202);
        client
    }

    fn send(&self, server: usize, message: &Value) -> Http {
        let headers = [("Authorization", self.token), ("Mcp-Session-Id", &self.session)];
        let mut http = self.fleet.servers[server].connect();
        http.send(&post(&headers, &message.to_string()));
        http
    }

    /// Calls a tool that reports progress, and reads its stream until `count` messages came. Returns the id of the last event.
    fn call(&self, server: usize, id: &Value, tool: &str, count: usize) -> (String, Events) {
        let params = json!({ "name": tool, "arguments": {}, "_meta": { "progressToken": "x" } });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        let mut events = self.send(server, &call).events();
        let mut last = events.next().expect("an event").id.expect("the priming event has an id");
        for _ in 0..count {
            last = events.next_message().expect("a message").id.expect("events have ids");
        }
        (last, events)
    }

    fn get(&self, server: usize, last: &str) -> Http {
        let accept = ("Accept", "text/event-stream");
        let headers = [
            accept,
            ("Authorization", self.token),
            ("Mcp-Session-Id", &self.session),
            ("Last-Event-ID", last),
        ];
        let mut http = self.fleet.servers[server].connect();
        http.send(&request("GET", "/mcp", &headers, b""));
        http
    }

    fn resume(&self, server: usize, last: &str) -> Events {
        self.get(server, last).events()
    }
}

/// The progress of a message, or the text of a result.
fn short(message: &Value) -> String {
    match message["method"].as_str() {
        Some(_) => message["params"]["progress"].to_string(),
        None => message["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned(),
    }
}

fn shorts(events: Events) -> Vec<String> {
    events.messages().iter().map(short).collect()
}

/// Waits until that many streams of a fleet are over in the store.
fn wait_for_written(fleet: &Fleet, count: usize) {
    let written = || fleet.database.query("SELECT count(*) FROM fleet.streams WHERE is_over");
    wait_until("the stream to be written", || (written() == count.to_string()).then_some(()));
}

fn end_leases(fleet: &Fleet) {
    fleet.database.query("UPDATE fleet.streams SET lease_until = now() - interval '1 second'");
}

#[test]
fn a_stream_goes_on_at_another_server_while_its_call_runs() {
    let project = project();
    let fleet = Fleet::start(&project, 2);
    let client = Roaming::begin(&fleet, fleet.token());
    let (last, stream) = client.call(0, &json!(1), "waits", 1);
    drop(stream);
    project.wait_for_started(1);
    let mut resumed = client.resume(1, &last);
    project.open_gate();
    let next = resumed.next_message().expect("a message");
    assert_eq!(short(&next.message()), "2");
    assert_eq!(shorts(resumed), ["done"]);
    // At either server the rest is the same.
    let next = next.id.expect("events have ids");
    assert_eq!(shorts(client.resume(0, &next)), ["done"]);
    assert_eq!(shorts(client.resume(1, &next)), ["done"]);
}

/// A server does not notice at once that a client is gone.
#[test]
fn a_stream_goes_on_at_another_server_while_its_first_connection_is_open() {
    let project = project();
    let fleet = Fleet::start(&project, 2);
    let client = Roaming::begin(&fleet, fleet.token());
    let (last, _kept) = client.call(0, &json!(1), "waits", 0);
    project.wait_for_started(1);
    let mut resumed = client.resume(1, &last);
    assert_eq!(short(&resumed.next_message().expect("a message").message()), "1");
    project.open_gate();
    assert_eq!(shorts(resumed), ["2", "done"]);
}

#[test]
fn a_stream_is_replayed_when_the_server_that_ran_its_call_is_gone() {
    let project = project();
    let mut fleet = Fleet::start(&project, 2);
    let client = Roaming::begin(&fleet, fleet.token());
    let (first, stream) = client.call(0, &json!(1), "steps", 0);
    drop(stream);
    let (second, read) = client.call(0, &json!(2), "steps", 1);
    assert_eq!(shorts(read), ["2", "done"]);
    wait_for_written(&fleet, 2);
    let session = client.session;
    drop(fleet.servers.remove(0));
    fleet.add(&project);
    let client = Roaming { fleet: &fleet, token: fleet.token(), session };
    for server in [0, 1] {
        assert_eq!(shorts(client.resume(server, &first)), ["1", "2", "done"]);
        assert_eq!(shorts(client.resume(server, &second)), ["2", "done"]);
    }
}

#[test]
fn a_request_whose_server_was_killed_gets_an_error() {
    let project = project();
    let mut fleet = Fleet::start(&project, 2);
    let client = Roaming::begin(&fleet, fleet.token());
    let (last, connection) = client.call(0, &json!("the call"), "waits", 1);
    project.wait_for_started(1);
    let written = || fleet.database.query("SELECT count(*) FROM fleet.streams");
    wait_until("the stream to be written", || (written() == "1").then_some(()));
    let session = client.session;
    fleet.servers[0].child.kill().expect("a signal");
    drop(connection);
    let client = Roaming { fleet: &fleet, token: fleet.token(), session };
    let mut resumed = client.resume(1, &last);
    end_leases(&fleet);
    let answer = resumed.next_message().expect("an answer").message();
    assert_eq!((&answer["id"], code(&answer)), (&json!("the call"), -32603), "{answer}");
    let words = answer["error"]["message"].as_str().expect("words");
    assert!(words.contains("server that ran this request is gone"), "{words}");
    assert_eq!(resumed.next(), None);
}

#[test]
fn no_other_caller_and_no_other_session_reads_a_stream() {
    let project = project();
    let fleet = Fleet::start(&project, 2);
    let client = Roaming::begin(&fleet, fleet.token());
    let (first, read) = client.call(0, &json!(1), "steps", 0);
    assert_eq!(shorts(read), ["1", "2", "done"]);
    wait_for_written(&fleet, 1);
    let strangers = Roaming::begin(&fleet, fleet.strangers_token());
    let another = Roaming::begin(&fleet, fleet.token());
    let stolen = Roaming { fleet: &fleet, token: fleet.strangers_token(), session: client.session.clone() };
    let (stream, _) = first.split_once('-').expect("a number");
    for server in [0, 1] {
        for id in [&*first, &format!("{stream}-2")] {
            assert_eq!(strangers.get(server, id).response().status, 400, "{id}");
            assert_eq!(another.get(server, id).response().status, 400, "{id}");
            assert_eq!(stolen.get(server, id).response().status, 404, "{id}");
        }
    }
    for id in ["1-0", "0-1-2", "-", &format!("{}-0", u64::MAX), &format!("{stream}-{}", u64::MAX)] {
        assert_eq!(client.get(1, id).response().status, 400, "{id}");
    }
    assert_eq!(shorts(client.resume(1, &first)), ["1", "2", "done"]);
}

#[test]
fn an_event_id_means_the_same_stream_at_every_server() {
    let project = project();
    let fleet = Fleet::start(&project, 2);
    let client = Roaming::begin(&fleet, fleet.token());
    let ids: Vec<String> = [0, 1, 0, 1]
        .into_iter()
        .map(|server| {
            let (first, read) = client.call(server, &json!(server), "steps", 0);
            assert_eq!(read.messages().last().map(|answer| answer["id"].clone()), Some(json!(server)));
            first
        })
        .collect();
    wait_for_written(&fleet, 4);
    for (at, id) in ids.iter().enumerate() {
        for server in [0, 1] {
            let messages = client.resume(server, id).messages();
            assert_eq!((messages.len(), &messages[2]["id"]), (3, &json!(at % 2)), "{messages:?}");
        }
    }
}

#[test]
fn a_stream_that_its_server_closed_early_is_resumed_at_another() {
    let project = project();
    let fleet = Fleet::start_with(&project, 2, &[("MCPBASH_HTTP_STREAM_SECS", "1")]);
    let client = Roaming::begin(&fleet, fleet.token());
    let (mut last, mut closed) = client.call(0, &json!(1), "waits", 1);
    while let Some(event) = closed.next() {
        last = event.id.unwrap_or(last);
    }
    project.open_gate();
    assert_eq!(shorts(client.resume(1, &last)), ["2", "done"]);
}

#[test]
fn a_server_that_ends_lets_calls_end_whose_clients_have_gone() {
    let project = project();
    let mut fleet = Fleet::start(&project, 2);
    let client = Roaming::begin(&fleet, fleet.token());
    let (last, stream) = client.call(0, &json!(1), "waits", 1);
    drop(stream);
    project.wait_for_started(1);
    let resumed = client.resume(1, &last);
    let session = client.session;
    fleet.servers[0].signal(Signal::TERM);
    project.open_gate();
    assert_eq!(shorts(resumed), ["2", "done"]);
    assert_eq!(fleet.servers.remove(0).wait().code(), Some(0));
    let client = Roaming { fleet: &fleet, token: fleet.token(), session };
    assert_eq!(shorts(client.resume(0, &last)), ["2", "done"]);
}

#[test]
fn a_server_that_stops_a_call_at_its_end_says_so_elsewhere() {
    let project = project();
    let mut fleet = Fleet::start_with(&project, 2, &[("MCPBASH_HTTP_DRAIN_TIMEOUT", "0")]);
    let client = Roaming::begin(&fleet, fleet.token());
    let (last, stream) = client.call(0, &json!(7), "waits", 1);
    drop(stream);
    project.wait_for_started(1);
    let mut resumed = client.resume(1, &last);
    fleet.servers[0].signal(Signal::TERM);
    assert_eq!(fleet.servers[0].wait().code(), Some(0));
    let answer = resumed.next_message().expect("an answer").message();
    assert_eq!(answer["id"], 7, "{answer}");
    assert!(short(&answer).contains("the server is shutting down"), "{answer}");
}

#[test]
fn a_server_that_ends_lets_its_clients_resume_streams_of_others_elsewhere() {
    let project = project();
    let mut fleet = Fleet::start(&project, 3);
    let client = Roaming::begin(&fleet, fleet.token());
    let (last, stream) = client.call(0, &json!(1), "waits", 1);
    drop(stream);
    project.wait_for_started(1);
    let mut resumed = client.resume(1, &last);
    fleet.servers[1].signal(Signal::TERM);
    assert_eq!(resumed.next_message(), None, "it ends without an answer");
    let resumed = client.resume(2, &last);
    project.open_gate();
    assert_eq!(shorts(resumed), ["2", "done"]);
    assert_eq!(fleet.servers[1].wait().code(), Some(0));
}

#[test]
fn an_ended_session_leaves_nothing_in_the_store() {
    let project = project();
    let fleet = Fleet::start(&project, 2);
    let client = Roaming::begin(&fleet, fleet.token());
    let (_, read) = client.call(0, &json!(1), "steps", 0);
    assert_eq!(read.messages().len(), 3);
    wait_for_written(&fleet, 1);
    let headers = [("Authorization", client.token), ("Mcp-Session-Id", &*client.session)];
    assert_eq!(fleet.servers[1].send(&request("DELETE", "/mcp", &headers, b"")).status, 200);
    let left = "SELECT (SELECT count(*) FROM fleet.streams) + (SELECT count(*) FROM fleet.events)";
    assert_eq!(fleet.database.query(left), "0");
}

#[test]
fn without_the_database_calls_are_answered_and_streams_are_resumed_elsewhere_when_it_is_back() {
    let project = project();
    let mut fleet = Fleet::start(&project, 2);
    let client = Roaming::begin(&fleet, fleet.token());
    // Both servers know the session.
    let (_, read) = client.call(1, &json!(1), "steps", 0);
    assert_eq!(read.messages().len(), 3);
    let session = client.session;
    fleet.database.kill();
    let client = Roaming { fleet: &fleet, token: fleet.token(), session };
    let (first, read) = client.call(0, &json!(2), "steps", 0);
    assert_eq!(shorts(read), ["1", "2", "done"]);
    assert_eq!(shorts(client.resume(0, &first)), ["1", "2", "done"], "its server has them");
    let refused = client.get(1, &first).response();
    assert_eq!((refused.status, refused.header("retry-after").is_some()), (503, true), "{refused:?}");
    let session = client.session;
    fleet.database.start_again();
    wait_for_written(&fleet, 2);
    let client = Roaming { fleet: &fleet, token: fleet.token(), session };
    assert_eq!(shorts(client.resume(1, &first)), ["1", "2", "done"]);
}

#[test]
fn a_stream_goes_on_when_the_database_is_back() {
    let project = project();
    let mut fleet = Fleet::start(&project, 2);
    let client = Roaming::begin(&fleet, fleet.token());
    let (last, stream) = client.call(0, &json!(1), "waits", 1);
    drop(stream);
    project.wait_for_started(1);
    let resumed = client.resume(1, &last);
    fleet.database.kill();
    project.open_gate();
    fleet.database.start_again();
    assert_eq!(shorts(resumed), ["2", "done"]);
}

#[test]
fn an_answer_without_a_stream_is_not_written() {
    let project = project().tool("hi", "#!/bin/sh\necho hi\n");
    let fleet = Fleet::start(&project, 1);
    let client = Roaming::begin(&fleet, fleet.token());
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "hi", "arguments": {} } });
    assert_eq!(short(&client.send(0, &call).response().json()), "hi");
    let (_, read) = client.call(0, &json!(2), "steps", 0);
    assert_eq!(read.messages().len(), 3);
    wait_for_written(&fleet, 1);
    assert_eq!(fleet.database.query("SELECT count(*) FROM fleet.streams"), "1");
}

#[test]
fn the_operator_reads_why_streams_cannot_be_written() {
    let project = project();
    let fleet = Fleet::start(&project, 1);
    let client = Roaming::begin(&fleet, fleet.token());
    let (_, read) = client.call(0, &json!(1), "steps", 0);
    assert_eq!(read.messages().len(), 3);
    wait_for_written(&fleet, 1);
    fleet.database.query("DROP TABLE fleet.events, fleet.streams");
    let (_, read) = client.call(0, &json!(2), "steps", 0);
    assert_eq!(shorts(read), ["1", "2", "done"]);
    let log = wait_until("the log", || {
        let log = fleet.servers[0].log();
        log.contains("clients cannot resume streams of this server elsewhere").then_some(log)
    });
    assert!(log.contains("fleet.streams"), "{log}");
}
