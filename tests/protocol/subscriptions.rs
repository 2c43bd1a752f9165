//! Subscriptions of sessions: one notification for each change, and none for anything else.

use crate::harness::{Project, Server, code, wait_until, wait_until_asleep};
use serde_json::{Value, json};

fn quiet(project: &Project, environment: &[(&str, &str)]) -> Server {
    let environment: Vec<_> =
        [("MCPBASH_LOG_LEVEL", "emergency")].iter().chain(environment).copied().collect();
    Server::ready_with(project.root(), &environment, "2025-11-25")
}

fn subscribe(server: &mut Server, uri: &str) {
    let answer = server.ask("subscribe", "resources/subscribe", &json!({ "uri": uri }));
    assert_eq!(answer["result"], json!({}), "{answer}");
}

fn unsubscribe(server: &mut Server, uri: &str) {
    let answer = server.ask("unsubscribe", "resources/unsubscribe", &json!({ "uri": uri }));
    assert_eq!(answer["result"], json!({}), "{answer}");
}

fn updated(uri: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": { "uri": uri } })
}

/// Whether the system reports changes of single files. Elsewhere they are polled.
const REPORTS: bool = cfg!(all(target_os = "linux", not(mcp_bash_portable)));

/// Polls for changes of files only where the system does not report them.
const UNPOLLED: (&str, &str) = ("MCPBASH_RESOURCES_POLL_INTERVAL_SECS", if REPORTS { "0" } else { "1" });

/// A file that is changed last, to show that no earlier change is still to be announced.
const LAST: &str = "resources/last.txt";

/// A project with `LAST`, to which the server subscribes with `subscribe_to_last`.
fn with_last() -> Project {
    Project::new().file(LAST, "")
}

fn subscribe_to_last(server: &mut Server) {
    subscribe(server, &format!("file://./{LAST}"));
}

/// Changes `LAST`, which the server must announce next. Twice, because changes detected together are
/// announced in any order, but before later ones.
fn expect_no_more_updates(server: &mut Server, project: &Project) {
    for _ in 0..2 {
        project.write(LAST, &format!("{}.", project.read(LAST)));
        assert_eq!(server.receive(), updated(&format!("file://./{LAST}")));
    }
}

/// A project with resources that are not files: `value://x` has the contents of the file `x`. Each read adds
/// the name to the file `read`.
fn with_values() -> Project {
    Project::new().file("resources/values.meta.json", r#"{"uriTemplate": "value://{name}"}"#).script(
        "providers/value.sh",
        "#!/bin/sh\nname=${1##*/}\necho \"$name\" >>read\ncat \"$name\" || exit 3\n",
    )
}

fn readings(project: &Project, name: &str) -> usize {
    project.read("read").lines().filter(|line| *line == name).count()
}

/// Waits until a polled resource was read completely so many more times: another read has begun.
fn wait_for_readings(project: &Project, name: &str, count: usize) {
    let before = readings(project, name);
    wait_until("further readings", || (readings(project, name) > before + count).then_some(()));
}

/// Waits until a server that polls every second has polled four times. Any other server could have too.
fn wait_while_others_poll() {
    let project = with_values().file("x", "one");
    let mut server = quiet(&project, &[("MCPBASH_RESOURCES_POLL_INTERVAL_SECS", "1")]);
    subscribe(&mut server, "value://x");
    wait_for_readings(&project, "x", 4);
}

// Shows: resources-subscribe
#[test]
fn every_revision_is_notified_of_a_changed_file() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let project = Project::new().file("resources/a.txt", "one");
        let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")], revision);
        let uri = "file://./resources/a.txt";
        subscribe(&mut server, uri);
        let _project = project.file("resources/a.txt", "two");
        assert_eq!(server.receive(), updated(uri), "{revision}");
    }
}

#[test]
fn a_file_is_announced_once_per_change_and_not_for_the_same_content() {
    let project = with_last().file("resources/a.txt", "one").file("resources/b.txt", "b");
    let uri = "file://./resources/a.txt";
    let mut server = quiet(&project, &[UNPOLLED]);
    subscribe_to_last(&mut server);
    subscribe(&mut server, uri);
    subscribe(&mut server, uri);
    // Neither the same content nor another file is announced.
    project.write("resources/a.txt", "one");
    project.write("resources/b.txt", "changed");
    expect_no_more_updates(&mut server, &project);
    project.write("resources/a.txt", "two");
    assert_eq!(server.receive(), updated(uri));
    expect_no_more_updates(&mut server, &project);

    // Replaced by another file, as editors do.
    project.write("resources/draft.tmp", "three");
    assert_eq!(server.receive()["method"], "notifications/resources/list_changed");
    std::fs::rename(project.path("resources/draft.tmp"), project.path("resources/a.txt")).unwrap();
    let mut told =
        [server.receive(), server.receive()].map(|message| message["method"].as_str().unwrap().to_owned());
    told.sort();
    assert_eq!(told, ["notifications/resources/list_changed", "notifications/resources/updated"]);

    // Removed, and created again.
    unsubscribe(&mut server, uri);
    subscribe(&mut server, uri);
    std::fs::remove_file(project.path("resources/a.txt")).unwrap();
    let mut told =
        [server.receive(), server.receive()].map(|message| message["method"].as_str().unwrap().to_owned());
    told.sort();
    assert_eq!(told, ["notifications/resources/list_changed", "notifications/resources/updated"]);
    expect_no_more_updates(&mut server, &project);
}

#[test]
fn a_file_behind_a_link_is_watched_at_its_target() {
    let project = with_last().file("data/v1/a.txt", "one").file("data/v2/a.txt", "two");
    std::os::unix::fs::symlink("v1", project.path("data/current")).unwrap();
    let uri = "file://./data/current/a.txt";
    let mut server = quiet(&project, &[("MCP_RESOURCES_ROOTS", "data:resources"), UNPOLLED]);
    subscribe_to_last(&mut server);
    subscribe(&mut server, uri);
    project.write("data/v1/a.txt", "changed");
    assert_eq!(server.receive(), updated(uri));
    // A link that changes its target is detected too, and so are changes at the new target.
    std::os::unix::fs::symlink("v2", project.path("data/next")).unwrap();
    std::fs::rename(project.path("data/next"), project.path("data/current")).unwrap();
    assert_eq!(server.receive(), updated(uri));
    project.write("data/v2/a.txt", "changed too");
    assert_eq!(server.receive(), updated(uri));
    project.write("data/v1/a.txt", "nobody looks here");
    expect_no_more_updates(&mut server, &project);
}

#[test]
fn a_folder_that_is_recreated_is_watched_again() {
    let project = Project::new().file("data/a.txt", "one");
    let uri = "file://./data/a.txt";
    let environment = [("MCP_RESOURCES_ROOTS", "data"), ("MCPBASH_RESOURCES_POLL_INTERVAL_SECS", "1")];
    let mut server = quiet(&project, &environment);
    subscribe(&mut server, uri);
    std::fs::rename(project.path("data"), project.path("old")).unwrap();
    assert_eq!(server.receive(), updated(uri));
    let project = project.file("data/a.txt", "two");
    assert_eq!(server.receive(), updated(uri));
    let _project = project.file("data/a.txt", "three");
    assert_eq!(server.receive(), updated(uri));
}

#[test]
fn a_file_that_stays_open_is_announced_as_it_grows() {
    use std::io::Write;
    let project = Project::new().file("resources/app.log", "first\n");
    let mut log = std::fs::OpenOptions::new().append(true).open(project.path("resources/app.log")).unwrap();
    let uri = "file://./resources/app.log";
    let mut server = quiet(&project, &[UNPOLLED]);
    subscribe(&mut server, uri);
    for line in ["second\n", "third\n"] {
        log.write_all(line.as_bytes()).unwrap();
        assert_eq!(server.receive(), updated(uri));
    }
}

// Shows: resources-subscribe
#[test]
fn nothing_is_sent_after_unsubscribing() {
    let project = with_last().file("resources/a.txt", "one");
    let uri = "file://./resources/a.txt";
    let mut server = quiet(&project, &[]);
    subscribe_to_last(&mut server);
    subscribe(&mut server, uri);
    unsubscribe(&mut server, uri);
    unsubscribe(&mut server, "file://./resources/never.txt");
    project.write("resources/a.txt", "two");
    expect_no_more_updates(&mut server, &project);
}

#[test]
fn unreadable_resources_cannot_be_subscribed_to() {
    let project = Project::new().file("secret.txt", "x").file("resources/a.txt", "x");
    let mut server = quiet(&project, &[]);
    let mut refused = |uri: &str| code(&server.ask(1, "resources/subscribe", &json!({ "uri": uri })));
    assert_eq!(refused("file://./resources/none.txt"), -32002);
    assert_eq!(refused("db://nobody"), -32002);
    assert_eq!(refused("file://./secret.txt"), -32603);
    assert_eq!(refused("https://example.com/"), -32602);
    assert_eq!(code(&server.ask(2, "resources/subscribe", &json!({}))), -32602);
    assert_eq!(code(&server.ask(3, "resources/unsubscribe", &json!({}))), -32602);
}

#[test]
fn resources_that_are_not_files_are_polled() {
    let project = with_values().file("x", "one").file("other", "the same");
    let mut server = quiet(&project, &[("MCPBASH_RESOURCES_POLL_INTERVAL_SECS", "1")]);
    subscribe(&mut server, "value://x");
    subscribe(&mut server, "value://other");
    project.write("x", "two");
    assert_eq!(server.receive(), updated("value://x"));
    // Read again, it has not changed.
    wait_for_readings(&project, "x", 1);
    server.expect_silence();
    project.remove("x");
    assert_eq!(server.receive(), updated("value://x"));
    unsubscribe(&mut server, "value://x");
    project.write("x", "three");
    wait_for_readings(&project, "other", 1);
    server.expect_silence();
}

#[test]
fn an_interval_of_zero_disables_polling() {
    let project = with_values().file("x", "one").file("resources/a.txt", "one");
    let mut server = quiet(&project, &[("MCPBASH_RESOURCES_POLL_INTERVAL_SECS", "0")]);
    subscribe(&mut server, "value://x");
    subscribe(&mut server, "file://./resources/a.txt");
    project.write("x", "two");
    project.write("resources/a.txt", "two");
    if REPORTS {
        assert_eq!(server.receive(), updated("file://./resources/a.txt"));
    }
    wait_while_others_poll();
    assert_eq!(readings(&project, "x"), 1);
    server.expect_silence();
}

/// The processor time that a server has used, in kernel ticks.
fn ticks(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/stat", server.child.id())).unwrap();
    let fields: Vec<&str> = status.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[cfg_attr(
    any(not(target_os = "linux"), mcp_bash_portable),
    ignore = "only inotify reports single files: elsewhere they are looked at"
)]
#[test]
fn a_thousand_subscriptions_cost_nothing_while_nothing_happens() {
    let project = (0..1000)
        .fold(with_last(), |project, number| project.file(&format!("resources/f{number}.txt"), "one"));
    let mut server = quiet(&project, &[("MCPBASH_RESOURCES_POLL_INTERVAL_SECS", "1")]);
    subscribe_to_last(&mut server);
    for number in 0..1000 {
        server.request(
            number,
            "resources/subscribe",
            &json!({ "uri": format!("file://./resources/f{number}.txt") }),
        );
    }
    for _ in 0..1000 {
        assert_eq!(server.receive()["result"], json!({}));
    }
    // Only the check of the whole project after the start is still to come.
    project.wait_for_file(".registry/.resources.stamps");
    wait_until_asleep(server.child.id());
    let before = ticks(&server);
    wait_while_others_poll();
    let used = ticks(&server) - before;
    assert!(used <= 2, "{used} ticks");
    project.write("resources/f777.txt", "two");
    assert_eq!(server.receive(), updated("file://./resources/f777.txt"));
    expect_no_more_updates(&mut server, &project);
}

#[test]
fn subscriptions_are_traced_at_the_level_debug() {
    let project = with_last();
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "debug")], "2025-11-25");
    let listed = server.ask_past_news("list", "resources/list", &json!({}));
    let resource = &listed["result"]["resources"][0];
    let (uri, name) = (resource["uri"].as_str().unwrap(), resource["name"].as_str().unwrap());
    for (method, uri) in [
        ("resources/subscribe", uri),
        ("resources/subscribe", "secret://token"),
        ("resources/unsubscribe", uri),
    ] {
        server.ask_past_news(method, method, &json!({ "uri": uri }));
    }
    let stderr = server.finish();
    for trace in [
        format!(r#""message":"subscribed","resource":"{name}""#),
        r#""message":"subscription failed","scheme":"secret""#.to_owned(),
        format!(r#""message":"unsubscribed","resource":"{name}""#),
    ] {
        assert!(stderr.contains(&trace), "{trace}: {stderr}");
    }
    assert!(!stderr.contains("token"), "the rest of a URI is an argument: {stderr}");
}
