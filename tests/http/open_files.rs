//! A low limit of open files: connections leave enough descriptors for calls and for health checks.

use crate::harness::http::{Http, HttpServer, stateless};
use crate::harness::metrics::{get, metrics_address};
use crate::harness::{Project, Server};
use serde_json::json;

/// A server with this limit of open files.
fn start_with_open_files(project: &Project, most: u32) -> HttpServer {
    let mut command = Server::command_of("sh");
    command.args(["-c", &format!("ulimit -n {most} && exec \"$@\""), "sh"]);
    command.arg(Server::command().get_program());
    HttpServer::start_by(command, project.root(), &["--metrics", "127.0.0.1:0"], &[])
}

#[test]
fn one_address_cannot_take_all_open_files() {
    let project = Project::new().tool("hello", "#!/bin/sh\necho hello\n");
    let server = start_with_open_files(&project, 200);
    let metrics = metrics_address(&server);
    let greedy: Vec<Http> = (0..400).map(|_| server.connect()).collect();
    let ready = get(metrics, "/readyz", "*/*");
    assert_eq!(ready.status, 200, "{ready:?}");
    let mut other = server.connect_from([127, 0, 0, 2]);
    other.send(&stateless(1, "tools/call", &json!({ "name": "hello", "arguments": {} })));
    let answer = other.response().json();
    assert_eq!(answer["result"]["content"][0]["text"], "hello", "{answer}");
    drop(greedy);
    let log = server.finish();
    assert!(log.contains("the limit of open files allows fewer connections"), "{log}");
    assert!(log.contains("\"connections\":100"), "{log}");
}
