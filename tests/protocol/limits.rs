//! Limits on what a client can cost: length, depth, numbers, unread answers.

use crate::harness::{Project, Reluctant, Server, code, request, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::Write;

/// A client that has received one answer, and stops reading.
fn reluctant(project: &Project, most_unread: &str) -> Reluctant {
    let mut client = Reluctant::start(project, &[("MCPBASH_MAX_UNREAD_BYTES", most_unread)]);
    client.send(&[request("first", "ping", &json!({}))]);
    assert_eq!(client.receive()["id"], "first");
    client
}

/// So many requests, as sent by the client.
fn pings(count: usize) -> Vec<u8> {
    let ping = |id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
    (0..count).flat_map(|id| ping(id).into_bytes()).collect()
}

/// The anonymous memory of a process, without its program file, which is loaded gradually.
fn kilobytes_of_data(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn message(answer: &Value) -> &str {
    answer["error"]["message"].as_str().unwrap_or_default()
}

#[test]
fn a_line_over_the_limit_is_refused_by_its_id_and_the_next_one_is_read() {
    let project = Project::with_hi();
    let mut server =
        Server::ready_with(project.root(), &[("MCPBASH_MAX_MESSAGE_BYTES", "10000")], "2025-11-25");
    server.request(1, "ping", &json!({ "x": "y".repeat(20_000) }));
    let answer = server.receive();
    assert_eq!((code(&answer), &answer["id"]), (-32600, &json!(1)));
    assert!(message(&answer).contains("MCPBASH_MAX_MESSAGE_BYTES"), "{answer}");
    server.send_bytes(format!("{}\n", "[".repeat(50_000)).as_bytes());
    let answer = server.receive();
    assert_eq!((code(&answer), &answer["id"]), (-32600, &json!(null)));
    server.expect_silence();
}

#[test]
fn a_line_without_end_costs_no_memory() {
    let project = Project::with_hi();
    let mut server =
        Server::ready_with(project.root(), &[("MCPBASH_MAX_MESSAGE_BYTES", "100000")], "2025-11-25");
    let before = kilobytes_of_data(server.child.id());
    let mut input = server.take_input();
    for _ in 0..64 {
        input.write_all(&vec![b'x'; 1024 * 1024]).unwrap();
    }
    assert_eq!(code(&server.receive()), -32600);
    input.write_all(b"\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
    assert_eq!(server.receive()["id"], 1);
    let grown = kilobytes_of_data(server.child.id()).saturating_sub(before);
    assert!(grown < 4 * 1024, "{grown} KB for a line of 64 MB");
}

#[test]
fn large_messages_within_the_limit_are_served() {
    let project = Project::new().tool("count", "#!/bin/sh\nwc -c\n");
    let mut server = Server::ready(project.root());
    let argument = "z".repeat(8 * 1024 * 1024);
    let length = json!({ "x": argument }).to_string().len();
    server.request(1, "tools/call", &json!({ "name": "count", "arguments": { "x": argument } }));
    let answer = server.receive();
    assert_eq!(
        answer["result"]["content"][0]["text"].as_str().unwrap().trim(),
        length.to_string(),
        "{answer}"
    );
}

#[test]
fn depth_and_numbers_are_bounded_by_settings() {
    let project = Project::with_hi();
    let environment = [("MCPBASH_MAX_JSON_DEPTH", "10"), ("MCPBASH_MAX_NUMBER_LENGTH", "30")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let line =
        |value: &str| format!(r#"{{"jsonrpc":"2.0","method":"ping","params":{{"x":{value}}},"id":"late"}}"#);
    server.send_line(&line(&deep(8)));
    assert_eq!(server.receive()["result"], json!({}));
    server.send_line(&line(&deep(9)));
    let answer = server.receive();
    assert_eq!((code(&answer), &answer["id"]), (-32600, &json!("late")));
    assert!(message(&answer).contains("MCPBASH_MAX_JSON_DEPTH"), "{answer}");
    server.send_bytes(format!("{}\n", line(&"9".repeat(31))).as_bytes());
    let answer = server.receive();
    assert_eq!((code(&answer), &answer["id"]), (-32600, &json!("late")));
    assert!(message(&answer).contains("MCPBASH_MAX_NUMBER_LENGTH"), "{answer}");
    // Deeper than any stack: parsed without recursion.
    server.send_bytes(format!("{}\n", line(&deep(1_000_000))).as_bytes());
    assert_eq!(code(&server.receive()), -32600);
    server.expect_silence();
}

#[test]
fn answers_to_a_client_that_does_not_read_are_bounded() {
    let project = Project::with_hi();
    let mut client = reluctant(&project, "100000");
    let before = kilobytes_of_data(client.pid());
    let count = 300_000;
    let sender = client.send_aside(pings(count));
    client.wait_until_stuck(&sender);
    assert!(!sender.is_finished(), "the server took everything");
    let grown = kilobytes_of_data(client.pid()).saturating_sub(before);
    assert!(grown < 2 * 1024, "{grown} KB for answers that nobody reads");
    // When the client reads, every answer is there, in order.
    for id in 0..count {
        assert_eq!(client.line(), format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n"));
    }
    client.take_back(sender);
    client.close_input();
    assert!(wait_until("the server to end", || client.child.try_wait().unwrap()).success());
}

#[test]
fn signals_terminate_the_server_while_the_client_does_not_read() {
    let project = Project::with_hi();
    let mut client = reluctant(&project, "4096");
    let sender = client.send_aside(pings(300_000));
    client.wait_until_stuck(&sender);
    let pid = Pid::from_raw(client.pid().cast_signed()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    let status = wait_until("the server to end", || client.child.try_wait().unwrap());
    assert_eq!(status.code(), Some(143));
    assert!(sender.finish().is_err(), "it was never read");
}

#[test]
fn a_tool_that_prints_too_much_is_an_error() {
    let project = Project::new().tool("flood", "#!/bin/sh\nyes\n").tool("hi", "#!/bin/sh\necho hi\n");
    let mut server =
        Server::ready_with(project.root(), &[("MCPBASH_MAX_TOOL_OUTPUT_SIZE", "1000")], "2025-11-25");
    server.call(1, "flood");
    let answer = server.receive();
    assert_eq!(code(&answer), -32603);
    assert!(message(&answer).contains("MCPBASH_MAX_TOOL_OUTPUT_SIZE"), "{answer}");
    server.call(2, "hi");
    assert_eq!(server.receive()["result"]["content"][0]["text"], "hi");
}

#[test]
fn a_list_that_is_too_long_is_refused_and_a_page_of_it_is_served() {
    let project = (0..20)
        .fold(Project::new(), |project, number| project.tool(&format!("tool{number}"), "#!/bin/sh\necho\n"));
    let settings = [("MCPBASH_REGISTRY_MAX_BYTES", "1024")];
    let mut server = Server::ready_with(project.root(), &settings, "2025-11-25");
    let answer = server.ask("list", "tools/list", &json!({}));
    assert_eq!(code(&answer), -32603, "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("1024 bytes; MCPBASH_REGISTRY_MAX_BYTES"), "{message}");
    let part = server.ask("part", "tools/list", &json!({ "limit": 3 }));
    assert_eq!(part["result"]["tools"].as_array().unwrap().len(), 3, "{part}");
}
