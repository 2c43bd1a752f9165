//! Callers over HTTP identified by their tokens: one caller's requests are private to it, and cost no other
//! caller.

use crate::harness::http::{Http, HttpServer, Response, initialize, post, request, stateless_with};
use crate::harness::{Project, Server, TIMEOUT, wait_until, wait_until_gone};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// Creates a token, and returns it.
pub(crate) fn token(file: &Path, name: &str, options: &[&str]) -> String {
    let mut command = Server::command();
    command.args(["token", "new", name, "--json", "--file"]).arg(file).args(options);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let made: Value = serde_json::from_slice(&output.stdout).unwrap();
    made["token"].as_str().unwrap().to_owned()
}

struct Scene {
    project: Project,
    _folder: tempfile::TempDir,
    server: HttpServer,
    alice: String,
    bob: String,
}

impl Scene {
    fn new(environment: &[(&str, &str)]) -> Self {
        Self::with(environment, &[])
    }

    fn with(environment: &[(&str, &str)], options_of_alice: &[&str]) -> Self {
        let project = Project::with_hi()
            .waiting_tool("stuck")
            .tool("slow", "#!/bin/sh\nsleep 0.2\necho x >>done\necho slow\n")
            .tool("large", "#!/bin/sh\nhead -c 900000 /dev/zero | tr '\\0' x\n");
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("tokens");
        let (alice, bob) = (token(&file, "alice", options_of_alice), token(&file, "bob", &[]));
        let server =
            HttpServer::start_with(project.root(), &["--tokens", file.to_str().unwrap()], environment);
        let bearer = |token| format!("Bearer {token}");
        Self { project, _folder: folder, server, alice: bearer(alice), bob: bearer(bob) }
    }

    /// Begins a call without a session.
    fn call(&self, who: &str, tool: &str) -> Http {
        let mut http = self.server.connect();
        let params = json!({ "name": tool, "arguments": {} });
        http.send(&stateless_with(&[("Authorization", who)], 1, "tools/call", &params));
        http
    }

    fn discover(&self, who: &[(&str, &str)]) -> Response {
        self.server.send(&stateless_with(who, 1, "server/discover", &json!({})))
    }
}

fn text(answer: &Response) -> String {
    answer.json()["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn guessing_tokens_is_rate_limited_and_reveals_nothing() {
    let scene = Scene::new(&[]);
    let near = &scene.alice[..scene.alice.len() - 1];
    let guesses =
        ["Bearer x", near, "Basic YTpi", "Bearer", "Bearer  ", "bearer a,b", "Bearer alice", "Digest x"];
    let mut refusals = Vec::new();
    for guess in guesses.iter().cycle().take(30) {
        let refused = scene.discover(&[("Authorization", guess)]);
        assert!(!refused.text().contains("alice"), "{refused:?}");
        refusals.push(refused.status);
        match refused.status {
            401 => assert!(refused.header("www-authenticate").unwrap().starts_with("Bearer "), "{refused:?}"),
            _ => assert!(refused.header("retry-after").is_some(), "{refused:?}"),
        }
    }
    assert!(refusals[..5].iter().all(|status| *status == 401), "{refusals:?}");
    assert!(refusals[20..].iter().all(|status| *status == 429), "{refusals:?}");
    // A caller with a token is served, from the same address and at once.
    assert_eq!(scene.discover(&[("Authorization", &scene.bob)]).status, 200);
    let twice = [("Authorization", scene.bob.as_str()), ("Authorization", scene.alice.as_str())];
    assert_ne!(scene.discover(&twice).status, 200);
    // Without a token every request is refused, and a token in the URL does not count.
    for headers in [&[][..], &[("X-Forwarded-For", "127.0.0.1"), ("X-Forwarded-User", "alice")]] {
        assert_eq!(scene.discover(headers).status, 401);
    }
    let query = format!("/mcp?access_token={}", &scene.bob["Bearer ".len()..]);
    assert_eq!(scene.server.send(&request("GET", &query, &[], b"")).status, 401);
    let log = scene.server.finish();
    assert!(!log.contains(&scene.bob["Bearer ".len()..]), "tokens are not written to the log");
}

#[test]
fn guessing_the_gateway_secret_is_rate_limited_too() {
    let project = Project::with_hi();
    let secret = "0123456789abcdef0123456789abcdef";
    let server = HttpServer::start_with(project.root(), &[], &[("MCPBASH_REMOTE_TOKEN", secret)]);
    let ask = |secret: &str| {
        let meta = json!({ "mcpbash/remoteToken": secret });
        server.ask("server/discover", &json!({ "_meta": meta })).to_string()
    };
    // Each request uses a new connection, and earlier failures still count.
    let throttled = (0..15).filter(|_| ask("wrong").contains("throttled")).count();
    assert_eq!(throttled, 5);
    assert!(ask(secret).contains("supportedVersions"));
    server.finish();
}

// Shows: auth-sessions
#[test]
fn another_callers_session_looks_unknown() {
    let scene = Scene::new(&[]);
    let begin = |who: &str| {
        let message = initialize("2025-11-25", &json!({})).to_string();
        let answer = scene.server.send(&post(&[("Authorization", who)], &message));
        answer.header("mcp-session-id").unwrap().to_owned()
    };
    let session = begin(&scene.alice);
    let of = |who: &str, method: &str, extra: &[(&str, &str)], body: &str| {
        let headers = [
            &[("Authorization", who), ("Mcp-Session-Id", &session)][..],
            &[("Accept", "application/json, text/event-stream"), ("Content-Type", "application/json")],
            extra,
        ];
        let mut http = scene.server.connect();
        http.send(&request(method, "/mcp", &headers.concat(), body.as_bytes()));
        http
    };
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call",
                       "params": { "name": "stuck", "_meta": { "progressToken": 1 } } });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    assert_eq!(of(&scene.alice, "POST", &[], &ready).response().status, 202);
    let mut waiting = of(&scene.alice, "POST", &[], &call.to_string());
    scene.project.wait_for_started(1);
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    for (method, extra, body) in [
        ("POST", &[][..], ping.as_str()),
        ("POST", &[], &cancel.to_string()),
        ("GET", &[], ""),
        ("GET", &[("Last-Event-ID", "2-0")], ""),
        ("DELETE", &[], ""),
    ] {
        assert_eq!(of(&scene.bob, method, extra, body).response().status, 404, "{method} {body}");
    }
    assert_eq!(of(&scene.alice, "POST", &[], &ping).response().status, 200);
    scene.project.open_gate();
    assert_eq!(text(&waiting.response()), "went");
    scene.server.finish();
}

#[test]
fn a_caller_that_floods_the_server_delays_only_itself() {
    let scene = Scene::new(&[("MCPBASH_MAX_CONCURRENT_REQUESTS", "2")]);
    let mut flood: Vec<Http> = (0..20).map(|_| scene.call(&scene.alice, "slow")).collect();
    wait_until("the flood to arrive", || (!scene.project.read("done").is_empty()).then_some(()));
    assert_eq!(text(&scene.call(&scene.bob, "hi").response()), "hi");
    let done = scene.project.read("done").lines().count();
    assert!(done < 15, "{done} calls went before");
    for http in &mut flood {
        assert_eq!(text(&http.response()), "slow");
    }
    scene.server.finish();
}

#[test]
fn abandoned_requests_free_their_place_in_the_queue() {
    let limits = [("MCPBASH_MAX_CONCURRENT_REQUESTS", "1"), ("MCPBASH_MAX_WAITING_REQUESTS", "3")];
    let scene = Scene::new(&limits);
    let running = scene.call(&scene.alice, "stuck");
    let pid = scene.project.wait_for_started(1)[0];
    // While that call runs, only refused requests get an answer.
    let is_refused = |http: &Http| {
        http.stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let is_answered = http.stream.peek(&mut [0; 1]).is_ok();
        http.stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        is_answered
    };
    let call_until_refused = || -> Vec<Http> {
        let calls = std::iter::repeat_with(|| scene.call(&scene.alice, "hi"));
        calls.take_while(|http| !is_refused(http)).collect()
    };
    assert_eq!(call_until_refused().len(), 3);
    // All of them have disconnected.
    let mut last = wait_until("room to wait", || call_until_refused().pop());
    drop(running);
    wait_until_gone(pid);
    assert_eq!(text(&last.response()), "hi");
    scene.server.finish();
}

#[test]
fn rate_limits_are_per_caller() {
    let scene = Scene::with(&[], &["--rate", "5/min"]);
    let statuses: Vec<u16> =
        (0..10).map(|_| scene.discover(&[("Authorization", &scene.alice)]).status).collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429, 429, 429, 429, 429]);
    let refused = scene.discover(&[("Authorization", &scene.alice)]);
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=12).contains(&wait), "{wait}");
    for _ in 0..20 {
        assert_eq!(scene.discover(&[("Authorization", &scene.bob)]).status, 200);
    }
    scene.server.finish();
}

#[test]
fn unread_answers_count_against_their_own_caller() {
    let scene = Scene::new(&[
        ("MCPBASH_MAX_CONNECTION_BYTES", "8388608"),
        ("MCPBASH_MAX_RESULT_TEXT_BYTES", "0"),
        ("MCPBASH_MAX_PROCESS_BYTES", "67108864"),
    ]);
    let unread: Vec<Http> = (0..40).map(|_| scene.call(&scene.alice, "large")).collect();
    // A caller that reads is answered, no matter how much another caller leaves unread.
    for _ in 0..3 {
        let answer = scene.call(&scene.bob, "large").response();
        assert!(text(&answer).len() > 1000, "{answer:?}");
    }
    drop(unread);
    scene.server.finish();
}
