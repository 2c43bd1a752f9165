//! Streams that are cut, resumed and taken over.

use super::{STEP, project, short};
use crate::harness::http::{Event, HttpServer, HttpSession};
use crate::harness::{Project, exists, wait_until};
use serde_json::json;

const ALL: [&str; 6] = ["1", "2", "3", "4", "5", "done"];

/// The rest of a stream, after an event.
fn rest(session: &HttpSession<'_>, id: &str) -> Vec<Event> {
    let events = session.get(Some(id)).events().all();
    events.into_iter().filter(|event| event.data.as_deref().is_some_and(|data| !data.is_empty())).collect()
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
            // The same again, long after the answer was sent.
            assert_eq!(rest(&session, &last), after);
            if let Some(end) = after.last() {
                assert_eq!(rest(&session, end.id.as_deref().unwrap()), [], "there is nothing more");
            }
        }
    }
    server.finish();
}

#[test]
fn a_client_that_reconnects_early_receives_the_rest_live() {
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
fn the_last_of_two_readers_has_the_stream() {
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
    // The client's network went down and came back: the stream was not closed, and is not read.
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
fn unknown_event_ids_are_refused() {
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
    // Event ids belong to a session: one session's events are never sent in another.
    let foreign = other.get(Some(&last)).response();
    assert_eq!(foreign.status, 400, "{foreign:?}");
    assert_eq!(number, "6");
    server.finish();
}

#[test]
fn events_no_longer_in_the_replay_buffer_are_refused() {
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
fn notifications_outside_requests_are_sent_once_across_connections() {
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
    // Resuming from an earlier event sends it again; a stream without an event id gets only new events.
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
