//! A database that is gone, comes back, or was never there.

use super::{Fleet, sessions, states};
use crate::harness::http::{HttpServer, Response, post};
use crate::harness::metrics;
use crate::harness::{Project, Server, code, stateless_meta, wait_until};
use crate::tasks::waiting;
use serde_json::json;
use std::thread;

#[test]
fn without_the_database_calls_go_on_tasks_are_refused_in_words_and_nothing_is_lost() {
    let project = waiting(&json!({})).tool("hi", "#!/bin/sh\necho hi\n");
    let mut fleet = Fleet::start(&project, 1);
    let call =
        |fleet: &Fleet, tool: &str| fleet.ask(0, "tools/call", &json!({ "name": tool, "arguments": {} }));
    let id = call(&fleet, "waits")["result"]["taskId"].clone();
    project.wait_for_started(1);
    fleet.database.kill();
    assert_eq!(call(&fleet, "hi")["result"]["content"][0]["text"], "hi");
    let refused = call(&fleet, "waits");
    let words = refused["error"]["message"].as_str().unwrap_or_else(|| panic!("{refused}"));
    assert!(words.contains("task store"), "{words}");
    assert!(!words.contains("/tmp"), "paths are for the operator: {words}");
    assert_eq!(project.wait_for_started(1).len(), 1, "what cannot be kept is not run");
    let unread = fleet.ask(0, "tasks/get", &json!({ "taskId": id }));
    let words = unread["error"]["message"].as_str().unwrap_or_else(|| panic!("{unread}"));
    assert!(words.contains("try again"), "it is not unknown: {words}");
    // The task that was begun before ends while the database is gone, and its end is written when it is back.
    project.open_gate();
    fleet.database.start_again();
    wait_until("the task to be completed", || {
        let answer = fleet.ask(0, "tasks/get", &json!({ "taskId": id }));
        (answer["result"]["status"] == "completed").then_some(())
    });
}

#[test]
fn an_address_that_cannot_be_read_stops_the_start_and_a_password_is_never_shown() {
    let project = Project::with_hi();
    let store = ("MCPBASH_STORE", "postgres://me:hunter22@h/d?schema=not;one");
    let said =
        HttpServer::try_start_by(Server::command(), project.root(), &[], &[store]).err().expect("no start");
    assert!(said.contains("MCPBASH_STORE") && said.contains("not;one"), "{said}");
    assert!(!said.contains("hunter22"), "{said}");
}

#[test]
fn scripts_do_not_see_what_opens_the_database() {
    let secret = "not-for-scripts";
    let settings = [
        ("PGPASSWORD", secret),
        ("MCPBASH_TOOL_ENV_MODE", "inherit"),
        ("MCPBASH_TOOL_ENV_INHERIT_ALLOW", "true"),
    ];
    let project = Project::new()
        .file("tools/shows/tool.meta.json", r#"{"name": "shows", "env": ["PGPASSWORD", "MCPBASH_STORE"]}"#)
        .script("tools/shows/tool.sh", "#!/bin/sh\nenv\n")
        .file("server.d/env.sh", "env >\"$MCPBASH_PROJECT_ROOT/seen\"\n");
    let fleet = Fleet::start_with(&project, 1, &settings);
    let call = json!({ "name": "shows", "arguments": {} });
    let answer = fleet.ask_with(0, "tools/call", &call, &stateless_meta());
    let shown = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    for shown in [shown, &project.read("seen")] {
        assert!(
            shown.contains("MCP") && !shown.contains("postgres://") && !shown.contains(secret),
            "{shown}"
        );
    }
    // Without a database, it is a variable like any other.
    let server = HttpServer::start_with(project.root(), &[], &settings);
    let answer = server.ask("tools/call", &call);
    assert!(answer.to_string().contains(secret), "{answer}");
}

#[test]
fn calls_go_on_while_others_wait_for_a_database_that_is_away() {
    let project = Project::new().tool("hi", "#!/bin/sh\necho hi\n");
    let mut fleet = Fleet::start(&project, 2);
    let session = sessions::begin(&fleet, 0);
    fleet.database.kill();
    // More of them than the server has threads for connections. It does not know their session, and has to ask.
    let headers = [("Authorization", fleet.token()), ("Mcp-Session-Id", &*session)];
    let ping = post(&headers, &json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string());
    let mut waiting: Vec<_> = (0..32).map(|_| fleet.servers[1].connect()).collect();
    for connection in &mut waiting {
        connection.send(&ping);
    }
    let (fleet, meta) = (&fleet, &stateless_meta());
    let (mut responses, is_any_answered): (Vec<Response>, bool) = thread::scope(|scope| {
        let answers: Vec<_> =
            waiting.into_iter().map(|mut connection| scope.spawn(move || connection.response())).collect();
        let said = fleet.ask_with(1, "tools/call", &json!({ "name": "hi", "arguments": {} }), meta);
        assert_eq!(said["result"]["content"][0]["text"], "hi", "{said}");
        let is_any_answered = answers.iter().any(thread::ScopedJoinHandle::is_finished);
        (answers.into_iter().map(|answer| answer.join().expect("an answer")).collect(), is_any_answered)
    });
    assert!(!is_any_answered, "the call waited for them");
    let refused = responses.pop().expect("a response");
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert!(refused.header("retry-after").is_some(), "its client may come again");
}

#[test]
fn a_session_goes_on_when_the_database_is_back() {
    let project = Project::new().tool("hi", "#!/bin/sh\necho hi\n");
    let mut fleet = Fleet::start(&project, 2);
    let session = sessions::begin(&fleet, 0);
    fleet.database.kill();
    assert_eq!(sessions::call(&fleet, 0, &session).status, 200, "the server that has it needs no database");
    assert_eq!(sessions::call(&fleet, 1, &session).status, 503);
    fleet.database.start_again();
    assert_eq!(sessions::call(&fleet, 1, &session).status, 200);
}

#[test]
fn a_state_that_cannot_be_checked_is_good_when_the_database_is_back() {
    let project = Project::new().tool("asks", states::ASKS);
    let metadata = json!({ "name": "asks", "description": "Asks", "replay": true });
    project.write("tools/asks/tool.meta.json", &metadata.to_string());
    let mut fleet = Fleet::start(&project, 2);
    let asked = states::call(&fleet, 0, None);
    let state = asked["result"]["requestState"].clone();
    fleet.database.kill();
    let refused = states::call(&fleet, 1, Some(&state));
    assert_eq!(code(&refused), -32603, "{refused}");
    assert!(
        refused["error"]["message"].as_str().is_some_and(|words| words.contains("try again")),
        "{refused}"
    );
    fleet.database.start_again();
    let done = states::call(&fleet, 1, Some(&state));
    assert_eq!(done["result"]["content"][0]["text"], "Hello Ada", "{done}");
}

#[test]
fn a_long_output_is_read_at_its_own_server_without_the_database() {
    let project = Project::new().tool("long", "#!/bin/sh\nseq 1 100000\n");
    let mut fleet = Fleet::start(&project, 2);
    fleet.database.kill();
    let meta = stateless_meta();
    let answer = fleet.ask_with(0, "tools/call", &json!({ "name": "long", "arguments": {} }), &meta);
    let content = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let whole = &content[0]["_meta"]["mcpbash/wholeText"]["uri"];
    let read = |server| fleet.ask_with(server, "resources/read", &json!({ "uri": whole }), &meta);
    let text = read(0)["result"]["contents"][0]["text"].clone();
    assert!(text.as_str().is_some_and(|text| text.ends_with("\n100000")), "{text}");
    let refused = read(1);
    assert!(
        refused["error"]["message"].as_str().is_some_and(|words| words.contains("try again")),
        "{refused}"
    );
}

#[test]
fn the_operator_sees_that_the_database_is_away_and_back() {
    let project = Project::with_hi();
    let mut fleet = Fleet::start_with(&project, 1, &[("MCPBASH_HTTP_METRICS", "127.0.0.1:0")]);
    let address = metrics::metrics_address(&fleet.servers[0]);
    let seen = |is_reachable: u64, log: &str, fleet: &Fleet| {
        wait_until("the server to notice", || {
            let gauge = metrics::gauge(address, "mcp_server_store_reachable");
            (gauge == is_reachable && fleet.servers[0].log().contains(log)).then_some(())
        });
        metrics::get(address, "/readyz", "*/*")
    };
    fleet.database.kill();
    let ready = seen(0, "the shared store cannot be reached", &fleet);
    assert_eq!(ready.status, 200, "the others miss it as well: {}", ready.text());
    assert!(ready.text().contains("the shared store cannot be reached"), "{}", ready.text());
    fleet.database.start_again();
    let ready = seen(1, "the shared store can be reached again", &fleet);
    assert_eq!((ready.status, &*ready.text()), (200, "ready\n"));
}

#[test]
fn a_certificate_that_cannot_be_read_stops_the_start() {
    let project = Project::with_hi();
    let store = ("MCPBASH_STORE", "postgres://me@h/d?sslmode=verify-full&sslrootcert=/nowhere/ca.pem");
    let said =
        HttpServer::try_start_by(Server::command(), project.root(), &[], &[store]).err().expect("no start");
    assert!(said.contains("MCPBASH_STORE") && said.contains("/nowhere/ca.pem"), "{said}");
}
