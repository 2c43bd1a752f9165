//! Streams and sessions over HTTP: nothing is lost and nothing told twice, whoever comes, goes and comes back.

use crate::harness::http::{Event, HttpServer, HttpSession, post, request, stateless};
use crate::harness::{Project, exists, wait_until, wait_until_gone};
use rustix::process::Signal;
use serde_json::{Value, json};

/// Tells of a step, as progress.
const STEP: &str = r#"step() {
    printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":%s}}\n' \
        "$1" >>"$MCP_PROGRESS_STREAM"
}
"#;

/// `steps` tells of five steps and ends; `waits` tells of three, and of the others when the gate is open.
fn project() -> Project {
    Project::with_hi()
        .waiting_tool("stuck")
        .tool("steps", &format!("#!/bin/sh\n{STEP}for n in 1 2 3 4 5; do step $n; done\necho done\n"))
        .tool(
            "waits",
            &format!(
                "#!/bin/sh\n{STEP}for n in 1 2 3; do step $n; done\necho $$ >>started\nread _ <gate\n\
                 for n in 4 5; do step $n; done\necho done\n"
            ),
        )
}

/// What a client needs to know of a message of `steps`.
fn short(event: &Event) -> String {
    let message = event.message();
    match message["method"].as_str() {
        Some("notifications/progress") => message["params"]["progress"].to_string(),
        Some(other) => other.to_owned(),
        None => message["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned(),
    }
}

const ALL: [&str; 6] = ["1", "2", "3", "4", "5", "done"];

/// The rest of a stream, from an event on.
fn rest(session: &HttpSession<'_>, id: &str) -> Vec<Event> {
    let events = session.get(Some(id)).events().all();
    events.into_iter().filter(|event| event.data.as_deref().is_some_and(|data| !data.is_empty())).collect()
}

fn call(tool: &str) -> Value {
    json!({ "name": tool, "arguments": {} })
}

#[test]
fn a_stream_that_is_cut_anywhere_is_resumed_without_loss() {
    let project = project();
    let server = HttpServer::start(project.root());
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = server.session(revision);
        let is_primed = revision == "2025-11-25";
        let first = usize::from(!is_primed);
        for cut in first..=ALL.len() {
            let mut events = session.call_with_progress(format!("cut {cut}"), "steps").events();
            let mut last = None;
            if is_primed {
                let priming = events.next().unwrap();
                assert_eq!(priming.data.as_deref(), Some(""), "{priming:?}");
                last = priming.id;
            }
            let mut seen = Vec::new();
            for _ in 0..cut {
                let event = events.next_message().unwrap();
                seen.push(short(&event));
                last = event.id;
            }
            drop(events);
            let last = last.unwrap();
            let after = rest(&session, &last);
            seen.extend(after.iter().map(short));
            assert_eq!(seen, ALL, "{revision}, cut after {cut}");
            // The same once more, long after the answer was sent.
            assert_eq!(rest(&session, &last), after);
            if let Some(end) = after.last() {
                assert_eq!(rest(&session, end.id.as_deref().unwrap()), [], "there is nothing more");
            }
        }
    }
    server.finish();
}

#[test]
fn one_that_comes_back_early_hears_the_rest_as_it_happens() {
    let project = project();
    let server = HttpServer::start(project.root());
    let session = server.session("2025-11-25");
    let mut events = session.call_with_progress(1, "waits").events();
    let second = std::iter::from_fn(|| events.next_message()).nth(1).unwrap();
    assert_eq!(short(&second), "2");
    drop(events);
    let pid = project.wait_for_started(1)[0];
    let mut again = session.get(second.id.as_deref()).events();
    assert_eq!(short(&again.next_message().unwrap()), "3");
    assert!(exists(pid), "the call goes on without its connection");
    project.open_gate();
    let rest: Vec<String> = std::iter::from_fn(|| again.next_message()).map(|event| short(&event)).collect();
    assert_eq!(rest, ["4", "5", "done"]);
    server.finish();
}

#[test]
fn of_two_readers_the_last_one_has_the_stream() {
    let project = project();
    let server = HttpServer::start(project.root());
    let session = server.session("2025-11-25");
    let mut first = session.call_with_progress(1, "waits").events();
    let seen: Vec<Event> = std::iter::from_fn(|| first.next_message()).take(3).collect();
    project.wait_for_started(1);
    let mut second = session.get(seen[0].id.as_deref()).events();
    assert_eq!(second.next_message().as_ref(), Some(&seen[1]));
    assert_eq!(first.next_message(), None, "the first has ended");
    let mut third = session.get(seen[2].id.as_deref()).events();
    project.open_gate();
    let rest: Vec<String> = std::iter::from_fn(|| third.next_message()).map(|event| short(&event)).collect();
    assert_eq!(rest, ["4", "5", "done"]);
    let more = std::iter::from_fn(|| second.next_message()).map(|event| short(&event));
    assert_eq!(more.collect::<Vec<_>>(), ["3"], "what came after went to the other");
    server.finish();
}

#[test]
fn a_new_stream_of_a_session_takes_over_from_one_that_the_client_has_lost() {
    let project = project();
    let server = HttpServer::start(project.root());
    let session = server.session("2025-11-25");
    // The client's network is gone and back: nobody has closed the stream, and nobody reads it.
    let mut lost = session.get(None).events();
    lost.next().unwrap();
    for round in 0..50 {
        let mut opened = session.get(None).events();
        assert_eq!(opened.next().unwrap().data.as_deref(), Some(""), "round {round}");
        drop(opened);
    }
    let mut stream = session.get(None).events();
    stream.next().unwrap();
    drop(project.tool("new1", "#!/bin/sh\n"));
    let told = std::iter::from_fn(|| stream.next_message())
        .find(|event| event.message()["method"] == "notifications/tools/list_changed");
    assert!(told.is_some());
    assert_eq!(lost.next_message(), None, "the lost one has ended, and got nothing");
    server.finish();
}

#[test]
fn events_that_nobody_has_are_not_made_up() {
    let project = project();
    let server = HttpServer::start_with(
        project.root(),
        &[],
        &[("MCPBASH_MAX_PROGRESS_PER_MIN", "0"), ("MCPBASH_MAX_LOGS_PER_MIN", "0")],
    );
    let (session, other) = (server.session("2025-11-25"), server.session("2025-11-25"));
    let events = session.call_with_progress(1, "steps").events().all();
    let last = events.last().unwrap().id.clone().unwrap();
    let (stream, number) = last.split_once('-').unwrap();
    for id in [
        "",
        "-",
        "x",
        "1",
        "1-",
        "-1",
        "+1-1",
        "1-+1",
        " 1-1x",
        "0x1-1",
        "999-1",
        &format!("{stream}-999"),
        &format!("{stream}-18446744073709551615"),
        "18446744073709551615-1",
        "18446744073709551616-1",
        "0-5",
        &format!("{last}-1"),
        &"9".repeat(10_000),
        "é",
    ] {
        let refused = session.get(Some(id)).response();
        assert_eq!(refused.status, 400, "{id:.40}: {refused:?}");
    }
    // Ids are of a session: what is said in one is never told in another.
    let foreign = other.get(Some(&last)).response();
    assert_eq!(foreign.status, 400, "{foreign:?}");
    assert_eq!(number, "6");
    server.finish();
}

#[test]
fn what_was_too_long_ago_is_refused_and_not_left_out() {
    let long = format!("text=$(head -c 8000 /dev/zero | tr '\\0' x)\n{STEP}");
    let script = long.replace("\"progress\":%s", "\"progress\":%s,\"message\":\"'$text'\"");
    let script = format!("#!/bin/bash\n{script}for n in $(seq 1 400); do step $n; done\necho done\n");
    let project = Project::new().tool("long", &script);
    let server = HttpServer::start_with(project.root(), &[], &[("MCPBASH_MAX_PROGRESS_PER_MIN", "0")]);
    let session = server.session("2025-11-25");
    let events: Vec<Event> = {
        let mut events = session.call_with_progress(1, "long").events();
        std::iter::from_fn(|| events.next_message()).collect()
    };
    assert!(events.len() > 300, "{}", events.len());
    assert_eq!(session.get(events[0].id.as_deref()).response().status, 400);
    let late = &events[events.len() - 20];
    assert_eq!(rest(&session, late.id.as_deref().unwrap()), events[events.len() - 19..]);
    server.finish();
}

#[test]
fn what_belongs_to_no_request_is_told_once_also_across_connections() {
    let project = project();
    let server = HttpServer::start(project.root());
    let session = server.session("2025-11-25");
    let mut stream = session.get(None).events();
    assert_eq!(stream.next().unwrap().data.as_deref(), Some(""));
    let project = project.tool("new1", "#!/bin/sh\n");
    let change = |event: &Event| event.message()["method"] == "notifications/tools/list_changed";
    let told = std::iter::from_fn(|| stream.next_message()).find(change).unwrap();
    drop(stream);
    let project = project.tool("new2", "#!/bin/sh\n");
    wait_until("the tool to be listed", || {
        let tools = session.ask("list", "tools/list", &json!({}));
        tools.to_string().contains("new2").then_some(())
    });
    let mut stream = session.get(told.id.as_deref()).events();
    let again = std::iter::from_fn(|| stream.next_message()).find(change).unwrap();
    assert_ne!(again.id, told.id);
    // From an earlier event on it is told again, and one that asks for nothing hears only what is new.
    let mut replaying = session.get(told.id.as_deref()).events();
    assert_eq!(std::iter::from_fn(|| replaying.next_message()).find(change), Some(again));
    drop((replaying, stream));
    let mut stream = session.get(None);
    assert_eq!(stream.head().status, 200);
    drop(project.tool("new3", "#!/bin/sh\n"));
    let text = wait_until("the change", || {
        let mut buffer = [0; 4096];
        let count = std::io::Read::read(&mut stream.stream, &mut buffer).unwrap();
        let text = String::from_utf8_lossy(&buffer[..count]).into_owned();
        text.contains("list_changed").then_some(text)
    });
    assert_eq!(text.matches("list_changed").count(), 1, "{text}");
    server.finish();
}

#[test]
fn sessions_that_nobody_uses_end_and_the_others_do_not() {
    let project = project();
    let server = HttpServer::start_with(project.root(), &[], &[("MCPBASH_HTTP_SESSION_IDLE_TIMEOUT", "1")]);
    let (idle, listening, working) =
        (server.session("2025-11-25"), server.session("2025-11-25"), server.session("2025-06-18"));
    let mut stream = listening.get(None).events();
    stream.next();
    let call = working.request(1, "tools/call", &call("stuck"));
    let pid = project.wait_for_started(1)[0];
    let ping = |session: &HttpSession<'_>| session.request("p", "ping", &json!({})).response().status;
    wait_until("the session to end", || {
        // Looked at from outside: whoever asks uses it.
        let short = server.session("2025-11-25");
        std::thread::sleep(std::time::Duration::from_millis(1500));
        (ping(&short) == 404).then_some(())
    });
    assert_eq!(ping(&idle), 404);
    assert_eq!((ping(&listening), ping(&working)), (200, 200));
    assert!(exists(pid));
    drop(call);
    drop(stream);
    server.finish();
    wait_until_gone(pid);
}

#[test]
fn the_session_that_was_used_least_lately_makes_room() {
    let project = project();
    let server = HttpServer::start_with(project.root(), &[], &[("MCPBASH_HTTP_MAX_SESSIONS", "2")]);
    let (first, second) = (server.session("2025-11-25"), server.session("2025-11-25"));
    let ping = |session: &HttpSession<'_>| session.request("p", "ping", &json!({})).response().status;
    assert_eq!((ping(&second), ping(&first)), (200, 200));
    let third = server.session("2025-11-25");
    assert_eq!((ping(&first), ping(&second), ping(&third)), (200, 404, 200));
    // Those that are in use stay, and there is no room for more.
    let streams = [first.get(None).events(), third.get(None).events()];
    let initialize = crate::harness::http::initialize("2025-11-25", &json!({})).to_string();
    let refused = server.send(&post(&[], &initialize));
    assert_eq!((refused.status, refused.header("mcp-session-id")), (503, None));
    assert!(refused.header("retry-after").is_some());
    drop(streams);
    server.finish();
}

#[test]
fn a_session_that_is_deleted_takes_its_calls_along() {
    let project = project();
    let server = HttpServer::start(project.root());
    let session = server.session("2025-11-25");
    let mut unasked = session.get(None).events();
    let mut streaming = session.call_with_progress(1, "waits").events();
    streaming.next_message().unwrap();
    let mut silent = session.request(2, "tools/call", &call("stuck"));
    let pids = project.wait_for_started(2);
    assert_eq!(session.delete().status, 200);
    for pid in pids {
        wait_until_gone(pid);
    }
    let told: Vec<Event> = std::iter::from_fn(|| streaming.next_message()).collect();
    assert!(told.iter().all(|event| event.message().get("id").is_none()), "{told:?}");
    let ended = silent.response();
    assert!(ended.body.is_empty(), "{ended:?}");
    while unasked.next().is_some() {}
    for gone in
        [session.delete(), session.get(None).response(), session.request(3, "ping", &json!({})).response()]
    {
        assert_eq!(gone.status, 404);
    }
    let mut initialized = server.session("2025-11-25").request(1, "ping", &json!({}));
    assert_eq!(initialized.response().status, 200);
    server.finish();
}

#[test]
fn a_connection_that_is_closed_cancels_without_a_session_and_only_there() {
    let project = project();
    let server = HttpServer::start(project.root());
    let mut alone = server.connect();
    alone.send(&stateless(1, "tools/call", &call("stuck")));
    let with_progress = json!({ "name": "waits", "arguments": {}, "_meta": { "progressToken": 1 } });
    let mut streaming = server.connect();
    streaming.send(&stateless(1, "tools/call", &with_progress));
    let mut streaming = streaming.events();
    let event = streaming.next_message().unwrap();
    assert_eq!(event.id, None, "whoever has an id would come back");
    let session = server.session("2025-11-25");
    let in_session = session.request(1, "tools/call", &call("stuck"));
    let pids = project.wait_for_started(3);
    drop((alone, streaming, in_session));
    let alive = wait_until("the two to go", || {
        let alive: Vec<_> = pids.iter().filter(|pid| exists(**pid)).collect();
        (alive.len() < 2).then_some(alive)
    });
    assert_eq!(alive.len(), 1);
    // A posted cancellation is for a request of its own session.
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    let other = server.session("2025-11-25");
    assert_eq!(other.send(&cancel).response().status, 202);
    assert_eq!(
        server.send(&post(&[("MCP-Protocol-Version", "2026-07-28")], &cancel.to_string())).status,
        202
    );
    server.expect_service();
    assert!(exists(*alive[0]));
    session.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    wait_until_gone(*alive[0]);
    server.finish();
}

#[test]
fn a_request_that_is_cancelled_ends_without_an_answer() {
    let project = project();
    let server = HttpServer::start(project.root());
    let session = server.session("2025-11-25");
    let mut waiting = session.request("a", "tools/call", &call("stuck"));
    let pid = project.wait_for_started(1)[0];
    session.notify("notifications/cancelled", &json!({ "requestId": "a" }));
    wait_until_gone(pid);
    let ended = waiting.response();
    assert!(ended.status == 200 && ended.is_events() && ended.body.is_empty(), "{ended:?}");
    // Its id can be used again.
    assert_eq!(session.ask("a", "tools/call", &call("hi"))["result"]["content"][0]["text"], "hi");
    server.finish();
}

#[test]
fn a_question_is_answered_by_another_post() {
    let script = "#!/usr/bin/env bash\nsource \"${MCP_SDK:?}/tool-sdk.sh\"\nmcp_elicit_string 'Who?' name\n";
    let project = Project::new().tool("asks", script);
    let server = HttpServer::start(project.root());
    for revision in ["2025-06-18", "2025-11-25"] {
        let capabilities = json!({ "elicitation": {} });
        let (session, other) = (
            server.session_offering(revision, &capabilities),
            server.session_offering(revision, &capabilities),
        );
        let mut events = session.request(1, "tools/call", &call("asks")).events();
        let question = events.next_message().unwrap();
        assert_eq!(question.message()["method"], "elicitation/create", "{question:?}");
        let answer = |name: &str| {
            let result = json!({ "action": "accept", "content": { "name": name } });
            json!({ "jsonrpc": "2.0", "id": question.message()["id"], "result": result })
        };
        // The answer of a stranger is none, and so is one to what nobody asked.
        assert_eq!(other.send(&answer("Mallory")).response().status, 202);
        assert_eq!(session.send(&json!({ "jsonrpc": "2.0", "id": 99, "result": {} })).response().status, 202);
        // The question is still there for a client that lost it.
        let id = question.id.clone().unwrap();
        let before = id.replace("-1", "-0");
        drop(events);
        let mut events = session.get(Some(&before)).events();
        assert_eq!(events.next_message().as_ref(), Some(&question));
        assert_eq!(session.send(&answer("Zoë")).response().status, 202);
        let answered = events.next_message().unwrap().message();
        assert!(answered["result"]["content"][0]["text"].as_str().unwrap().contains("Zoë"), "{answered}");
        assert_eq!(events.next(), None);
    }
    server.finish();
}

#[test]
fn batches_are_for_the_revision_that_has_them() {
    let project = project();
    let server = HttpServer::start(project.root());
    let batch = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "ping" },
        { "jsonrpc": "2.0", "method": "notifications/none" },
        { "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call("hi") },
        { "jsonrpc": "2.0", "id": 3, "method": "none" },
        7,
    ]);
    let session = server.session("2025-03-26");
    let answers = session.send(&batch).response().json();
    let mut ids: Vec<String> =
        answers.as_array().unwrap().iter().map(|answer| answer["id"].to_string()).collect();
    ids.sort();
    assert_eq!(ids, ["1", "2", "3", "null"], "{answers}");
    let quiet = json!([{ "jsonrpc": "2.0", "method": "notifications/none" }]);
    assert_eq!(session.send(&quiet).response().status, 202);
    assert_eq!(session.send(&json!([])).response().status, 400);
    let with_progress = json!([
        { "jsonrpc": "2.0", "id": 4, "method": "tools/call",
          "params": { "name": "steps", "_meta": { "progressToken": 4 } } },
        { "jsonrpc": "2.0", "id": 5, "method": "ping" },
    ]);
    let messages = session.send(&with_progress).events().messages();
    assert_eq!(messages.len(), 6, "{messages:?}");
    assert_eq!(messages[5].as_array().map(Vec::len), Some(2), "{messages:?}");
    for revision in ["2025-06-18", "2025-11-25"] {
        let refused = server.session(revision).send(&batch).response();
        assert_eq!((refused.status, &refused.json()["error"]["code"]), (400, &json!(-32600)));
    }
    server.finish();
}

#[test]
fn the_id_of_a_request_is_its_clients_own() {
    let project = project();
    let server = HttpServer::start(project.root());
    let (one, two) = (server.session("2025-11-25"), server.session("2025-11-25"));
    let mut first = one.request(1, "tools/call", &call("stuck"));
    let mut second = two.request(1, "tools/call", &call("stuck"));
    let mut alone = server.connect();
    alone.send(&stateless(1, "tools/call", &call("stuck")));
    project.wait_for_started(3);
    let taken = one.request(1, "ping", &json!({})).response();
    assert_eq!(taken.json()["error"]["code"], -32600, "{taken:?}");
    project.open_gate();
    for http in [&mut first, &mut second, &mut alone] {
        let answer = http.response().json();
        assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(1), &json!("went")));
    }
    server.finish();
}

#[test]
fn one_who_does_not_read_holds_nobody_up() {
    let script = format!(
        "#!/bin/bash\ntext=$(head -c 8000 /dev/zero | tr '\\0' x)\n{}for n in $(seq 1 2000); do step $n; done\n\
         echo $$ >>ended\necho done\n",
        STEP.replace("\"progress\":%s", "\"progress\":%s,\"message\":\"'$text'\"")
    );
    let project = Project::with_hi().tool("floods", &script);
    let server = HttpServer::start_with(
        project.root(),
        &[],
        &[("MCPBASH_MAX_PROGRESS_PER_MIN", "0"), ("MCPBASH_HTTP_STALL_TIMEOUT", "600")],
    );
    let params = json!({ "name": "floods", "arguments": {}, "_meta": { "progressToken": 1 } });
    let session = server.session("2025-11-25");
    let mut lazy = session.request(1, "tools/call", &params);
    let mut lazier = server.connect();
    lazier.send(&stateless(1, "tools/call", &params));
    // Both scripts come to their end though nobody reads what they say.
    wait_until("the scripts to end", || (project.read("ended").lines().count() == 2).then_some(()));
    let mut diligent = server.connect();
    diligent.send(&stateless(2, "tools/call", &params));
    let messages = diligent.events().messages();
    assert_eq!(messages.last().unwrap()["result"]["content"][0]["text"], "done");
    assert_eq!(session.ask(2, "tools/call", &call("hi"))["result"]["content"][0]["text"], "hi");
    // Whoever reads late has missed what can be missed, and still gets its answer.
    for http in [&mut lazy, &mut lazier] {
        let text = String::from_utf8(http.response().body).unwrap();
        assert!(text.contains("\"text\":\"done\""), "{}", text.len());
    }
    server.finish();
}

#[test]
fn lines_are_ended_in_one_way_only() {
    // A carriage return between the members of JSON would end a line of an event.
    let script = format!(
        "#!/bin/bash\n{STEP}step 1\nprintf '{{\"content\":\\r[{{\"type\":\"text\",\\r\\n\"text\":\"a\\\\r\\\\nb\"}}],\\r\
         \"structuredContent\":\\r{{\"x\":\\r1}}}}'\n"
    );
    let project = Project::new().tool("returns", &script);
    let server = HttpServer::start(project.root());
    let events = server.session("2025-11-25").call_with_progress(1, "returns").events().all();
    assert!(events.len() >= 3, "{events:?}");
    let last = events.last().unwrap();
    assert_eq!(last.message()["id"], 1);
    assert!(!last.data.as_ref().unwrap().contains('\r'));
    server.finish();
}

#[test]
fn streams_beyond_the_limit_are_refused_and_calls_still_answered() {
    let project = project();
    let server = HttpServer::start_with(project.root(), &[], &[("MCPBASH_HTTP_MAX_STREAMS", "2")]);
    let (first, second) = (server.session("2025-11-25"), server.session("2025-11-25"));
    let held = [first.get(None).events(), second.get(None).events()];
    let third = server.session("2025-11-25");
    let refused = third.get(None).response();
    assert_eq!(refused.status, 503);
    assert!(refused.header("retry-after").is_some());
    let mut listening = server.connect();
    listening.send(&stateless("l", "subscriptions/listen", &json!({ "notifications": {} })));
    assert_eq!(listening.response().status, 503);
    // What has begun to work is answered all the same.
    let answer = third.call_with_progress(1, "steps").events().messages();
    assert_eq!(answer.last().unwrap()["result"]["content"][0]["text"], "done", "{answer:?}");
    assert_eq!(third.ask(2, "tools/call", &call("hi"))["result"]["content"][0]["text"], "hi");
    drop(held);
    wait_until("room for a stream", || (third.get(None).head().status == 200).then_some(()));
    server.finish();
}

/// Listens for changes without a session.
fn listen(server: &HttpServer, params: &Value) -> crate::harness::http::Events {
    let mut http = server.connect();
    http.send(&stateless("l", "subscriptions/listen", &json!({ "notifications": params })));
    http.events()
}

#[test]
fn a_server_that_ends_finishes_what_it_has_begun() {
    let project = project().file("resources/a.txt", "a");
    let mut server = HttpServer::start(project.root());
    let mut lists = listen(&server, &json!({ "toolsListChanged": true }));
    let mut resources = listen(&server, &json!({ "resourceSubscriptions": [] }));
    for events in [&mut lists, &mut resources] {
        let ack = events.next_message().unwrap().message();
        assert_eq!(ack["method"], "notifications/subscriptions/acknowledged");
    }
    let session = server.session("2025-11-25");
    let mut unasked = session.get(None).events();
    unasked.next();
    let mut in_session = session.request(1, "tools/call", &call("stuck"));
    let mut streaming = session.call_with_progress(2, "waits").events();
    streaming.next_message().unwrap();
    let mut alone = server.connect();
    alone.send(&stateless(3, "tools/call", &call("stuck")));
    project.wait_for_started(3);
    let mut idle = server.connect();
    idle.send(&stateless(1, "server/discover", &json!({})));
    idle.response();
    server.signal(Signal::TERM);
    // Those who only listen learn at once that it is over, while the calls still run.
    for mut events in [lists, resources] {
        let last = events.next_message().unwrap().message();
        assert!(last["id"] == "l" && last.get("result").is_some(), "{last}");
        assert_eq!(events.next(), None);
    }
    let farewell = std::iter::from_fn(|| unasked.next()).last().unwrap();
    assert!(farewell.retry.is_some(), "{farewell:?}");
    idle.expect_closed();
    assert!(server.child.try_wait().unwrap().is_none(), "calls are still running");
    project.open_gate();
    for (http, id) in [(&mut in_session, 1), (&mut alone, 3)] {
        let answer = http.response();
        assert_eq!(answer.header("connection"), Some("close"), "{answer:?}");
        assert_eq!(
            (&answer.json()["id"], &answer.json()["result"]["content"][0]["text"]),
            (&json!(id), &json!("went"))
        );
    }
    let rest: Vec<String> =
        std::iter::from_fn(|| streaming.next_message()).map(|event| short(&event)).collect();
    assert_eq!(rest.last().map(String::as_str), Some("done"));
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    assert!(!server.log().contains("panic"), "{}", server.log());
}

#[test]
fn what_takes_too_long_when_the_server_ends_is_answered_with_an_error() {
    let project = project();
    let mut server = HttpServer::start_with(project.root(), &[], &[("MCPBASH_HTTP_DRAIN_TIMEOUT", "1")]);
    let session = server.session("2025-11-25");
    let mut in_session = session.request(1, "tools/call", &call("stuck"));
    let mut streaming = session.call_with_progress(2, "waits").events();
    streaming.next_message().unwrap();
    let mut alone = server.connect();
    alone.send(&stateless(3, "tools/call", &call("stuck")));
    let pids = project.wait_for_started(3);
    server.signal(Signal::TERM);
    for http in [&mut in_session, &mut alone] {
        let answer = http.response().json();
        assert!(answer.get("error").is_some() || answer["result"]["isError"] == true, "{answer}");
    }
    let last = std::iter::from_fn(|| streaming.next_message()).last().unwrap().message();
    assert!(last["id"] == 2 && (last.get("error").is_some() || last["result"]["isError"] == true), "{last}");
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    for pid in pids {
        wait_until_gone(pid);
    }
}

// Shows: http-version
#[test]
fn a_version_that_no_session_speaks_is_refused() {
    let project = project();
    let server = HttpServer::start(project.root());
    // Whoever asks for what we do not know is offered what we do.
    for (asked, agreed) in
        [("2099-01-01", "2025-11-25"), ("2026-07-28", "2025-11-25"), ("2024-11-05", "2024-11-05")]
    {
        assert_eq!(server.session(asked).revision, agreed, "{asked}");
    }
    let session = server.session("2025-11-25");
    let with_version = |version: &str| {
        let headers = [("MCP-Session-Id", session.id.as_str()), ("MCP-Protocol-Version", version)];
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
        let get = [("Accept", "text/event-stream"), headers[0], headers[1]];
        let delete = server.send(&request("DELETE", "/mcp", &headers, b"")).status;
        (
            server.send(&post(&headers, &ping)).status,
            server.send(&request("GET", "/mcp", &get, b"")).status,
            delete,
        )
    };
    assert_eq!(with_version("1.0"), (400, 400, 400));
    assert_eq!(with_version("2026-07-28"), (400, 405, 405));
    let headers = [("MCP-Session-Id", session.id.as_str())];
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    assert_eq!(server.send(&post(&headers, &ping)).status, 200, "the header may be left out");
    server.finish();
}

/// A session of the transport of 2024-11-05: the stream, and where messages are sent to.
struct OldSession<'a> {
    server: &'a HttpServer,
    events: crate::harness::http::Events,
    target: String,
}

impl<'a> OldSession<'a> {
    fn open(server: &'a HttpServer) -> Self {
        let mut http = server.connect();
        http.send(&request("GET", "/sse", &[("Accept", "text/event-stream")], b""));
        let mut events = http.events();
        let first = events.next().unwrap();
        assert_eq!(first.name.as_deref(), Some("endpoint"));
        let mut session = Self { server, events, target: first.data.unwrap() };
        let initialize = crate::harness::http::initialize("2024-11-05", &json!({}));
        assert_eq!(session.post(&initialize), 202);
        assert_eq!(session.next()["result"]["protocolVersion"], "2024-11-05");
        assert_eq!(session.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })), 202);
        session
    }

    fn post(&self, message: &Value) -> u16 {
        let headers = [("Content-Type", "application/json")];
        self.server.send(&request("POST", &self.target, &headers, message.to_string().as_bytes())).status
    }

    fn call(&self, id: u32, tool: &str) {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call(tool) });
        assert_eq!(self.post(&message), 202);
    }

    fn next(&mut self) -> Value {
        let event = self.events.next_message().unwrap();
        assert_eq!(event.id, None, "nobody can come back");
        event.message()
    }
}

#[test]
fn the_oldest_transport_lives_as_long_as_its_stream() {
    let project = project();
    let server = HttpServer::start_with(project.root(), &["--legacy-sse"], &[]);
    let mut session = OldSession::open(&server);
    session.call(1, "hi");
    assert_eq!(session.next()["result"]["content"][0]["text"], "hi");
    let target = session.target.clone();
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    let headers = [("Content-Type", "application/json")];
    let post =
        |target: &str, body: &str| server.send(&request("POST", target, &headers, body.as_bytes())).status;
    for unknown in ["/messages", "/messages?sessionId=", "/messages?sessionId=x", &format!("{target}0")] {
        assert_eq!(post(unknown, &ping), 404, "{unknown}");
    }
    assert_eq!((post(&target, "{"), post(&target, "")), (400, 400));
    session.call(2, "stuck");
    let pid = project.wait_for_started(1)[0];
    drop(session);
    wait_until_gone(pid);
    wait_until("the session to end", || (post(&target, &ping) == 404).then_some(()));
    server.finish();
}

#[test]
fn answers_that_nobody_reads_are_not_piled_up() {
    let project = Project::with_hi();
    let settings = [("MCPBASH_MAX_UNREAD_BYTES", "65536")];
    let server = HttpServer::start_with(project.root(), &["--legacy-sse"], &settings);
    let session = OldSession::open(&server);
    // An answer repeats the id of its request, which makes it long.
    let list = json!({ "jsonrpc": "2.0", "id": "x".repeat(20_000), "method": "tools/list" });
    let before = server.resident_kilobytes();
    let taken = (0..100_000).take_while(|_| session.post(&list) == 202).count();
    assert!(server.resident_kilobytes() < before + 32 * 1024, "{taken} were taken");
    assert_eq!(session.post(&list), 503);
    // An answer of the client is taken all the same, and others are not concerned.
    assert_eq!(session.post(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} })), 202);
    server.expect_service();
    let mut session = session;
    for _ in 0..taken {
        assert!(session.next()["result"]["tools"].is_array());
    }
    wait_until("the stream to be read", || (session.post(&list) == 202).then_some(()));
    server.finish();
}

#[test]
fn the_oldest_transport_too_is_answered_when_the_server_ends() {
    let project = project();
    let mut server = HttpServer::start_with(project.root(), &["--legacy-sse"], &[]);
    let idle = OldSession::open(&server);
    let busy = OldSession::open(&server);
    busy.call(1, "stuck");
    project.wait_for_started(1);
    let (mut idle, mut busy) = (idle.events, busy.events);
    server.signal(Signal::TERM);
    while idle.next().is_some() {}
    project.open_gate();
    let last = std::iter::from_fn(|| busy.next_message()).last().unwrap().message();
    assert_eq!((&last["id"], &last["result"]["content"][0]["text"]), (&json!(1), &json!("went")));
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
}
