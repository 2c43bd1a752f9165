//! `/livez`, `/readyz`, `/health` and `/metrics` on their own address, and their data about real requests.

use crate::harness::http::{Http, HttpServer, request};
use crate::harness::metrics::{get, sample, start_with};
use crate::harness::{Project, wait_until};
use rustix::process::Signal;
use serde_json::json;
use std::net::{SocketAddr, TcpStream};

fn start(project: &Project) -> (HttpServer, SocketAddr) {
    start_with(project, &[])
}

fn number(value: Option<&str>) -> f64 {
    value.and_then(|value| value.parse().ok()).expect("a number")
}

const COUNT: &str = "mcp_server_operation_duration_seconds_count";

#[test]
fn requests_are_counted_under_known_names() {
    let project = Project::with_hi().tool("fails", "#!/bin/sh\nexit 3\n");
    let (server, address) = start(&project);
    for _ in 0..3 {
        server.ask("tools/call", &json!({ "name": "hi" }));
    }
    server.ask("tools/call", &json!({ "name": "fails" }));
    server.ask("tools/call", &json!({ "name": "made-up-tool" }));
    server.ask("made/up/method", &json!({}));
    let session = server.session("2025-11-25");
    session.ask(1, "ping", &json!({}));
    let refused = server.send(&request("POST", "/mcp", &[("Origin", "https://evil.example")], b"{}"));
    assert_eq!(refused.status, 403);

    let answer = get(address, "/metrics", "*/*");
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let text = answer.text();
    let count = |labels: &[&str]| sample(&text, COUNT, labels);
    let call = "mcp_method_name=\"tools/call\"";
    let common = "network_transport=\"tcp\",mcp_protocol_version=\"2026-07-28\"";
    assert_eq!(count(&[call, "gen_ai_tool_name=\"hi\"", common]), Some("3"), "{text}");
    assert_eq!(count(&["gen_ai_tool_name=\"fails\"", "error_type=\"tool_error\""]), Some("1"), "{text}");
    assert_eq!(count(&[call, "error_type=\"-32602\""]), Some("1"), "{text}");
    assert_eq!(count(&["mcp_method_name=\"_OTHER\"", "error_type=\"-32601\""]), Some("1"), "{text}");
    assert_eq!(count(&["mcp_method_name=\"ping\"", "\"2025-11-25\""]), Some("1"), "{text}");
    assert!(!text.contains("made"), "no client makes up a label:\n{text}");
    let seconds = sample(
        &text,
        "mcp_server_operation_duration_seconds_sum",
        &[call, "gen_ai_tool_name=\"hi\"", common],
    );
    assert!(number(seconds) > 0.0, "{text}");
    let gauge = |name: &str| sample(&text, name, &[]);
    assert_eq!(gauge("mcp_server_sessions"), Some("1"), "{text}");
    assert!(number(gauge("process_resident_memory_bytes")) > 0.0, "{text}");
    let reason = ["reason=\"forbidden\""];
    assert_eq!(sample(&text, "mcp_server_http_refused_requests_total", &reason), Some("1"), "{text}");

    assert_eq!(session.delete().status, 200);
    let ended = || {
        let text = get(address, "/metrics", "application/openmetrics-text; version=1.0.0").text();
        assert!(text.ends_with("# EOF\n"), "{text}");
        let labels = ["mcp_protocol_version=\"2025-11-25\""];
        let ended = sample(&text, "mcp_server_session_duration_seconds_count", &labels);
        let running = sample(&text, "mcp_server_running_calls", &[]);
        ((ended, running) == (Some("1"), Some("0"))).then_some(())
    };
    wait_until("the session to be counted and all work to end", ended);
    server.finish();
}

#[test]
fn during_shutdown_the_server_is_not_ready_and_lives_until_its_calls_are_answered() {
    let project = Project::new().waiting_tool("wait");
    let (server, address) = start(&project);
    for path in ["/livez", "/readyz", "/health"] {
        assert_eq!(get(address, path, "*/*").status, 200, "{path}");
    }
    let mut call = server.connect();
    call.send(&crate::harness::http::stateless(1, "tools/call", &json!({ "name": "wait" })));
    wait_until("the call to run", || {
        let text = get(address, "/metrics", "*/*").text();
        (sample(&text, "mcp_server_running_calls", &[]) == Some("1")).then_some(())
    });
    server.signal(Signal::TERM);
    wait_until("the server to be unready", || {
        let ready = get(address, "/readyz", "*/*");
        (ready.status == 503).then(|| assert_eq!(ready.text(), "the server is ending\n"))
    });
    assert_eq!((get(address, "/health", "*/*").status, get(address, "/livez", "*/*").status), (503, 200));
    project.open_gate();
    assert_eq!(call.response().json()["result"]["content"][0]["text"], "went");
    server.finish();
}

#[test]
fn each_listener_serves_only_its_own_paths() {
    let project = Project::with_hi();
    let (server, address) = start(&project);
    assert_eq!(get(address, "/mcp", "*/*").status, 404);
    assert_eq!(get(address, "/", "*/*").status, 404);
    let mut http = Http::new(TcpStream::connect(address).expect("a connection"));
    http.send(&request("POST", "/metrics", &[], b"{}"));
    assert_eq!(http.response().status, 405);
    for path in ["/metrics", "/livez", "/readyz"] {
        assert_eq!(server.send(&request("GET", path, &[], b"")).status, 404, "{path}");
    }
    // A client that connects and sends nothing is soon cut off, and blocks no other.
    let silent: Vec<TcpStream> =
        (0..32).map(|_| TcpStream::connect(address).expect("a connection")).collect();
    assert_eq!(get(address, "/livez", "*/*").status, 200);
    drop(silent);
    server.finish();
}
