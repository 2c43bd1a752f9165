//! `--url`: commands as clients of a server over HTTP.

use super::call::ran;
use crate::harness::http::HttpServer;
use crate::harness::{Project, Server, Terminal, wait_until, wait_until_gone};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

const TOKEN: &str = "s3cret-of-tests";

/// A command with a token in the environment.
fn client(words: &[&str]) -> Command {
    let mut command = Server::command();
    command.args(words).env("MINE", TOKEN).stdin(Stdio::null());
    command
}

fn run(words: &[&str]) -> (Option<i32>, String, String) {
    ran(client(words))
}

fn url(server: &HttpServer) -> String {
    format!("http://{}/mcp", server.address)
}

fn project() -> Project {
    Project::new()
        .tool("numbers", "#!/bin/sh\necho '{\"n\": 1.10}'\n")
        .tool("lines", "#!/bin/sh\nseq 1 60000\n")
        .file("resources/notes.txt", "some notes")
        .file("resources/notes.meta.json", r#"{"name": "notes", "uri": "file://./resources/notes.txt"}"#)
        .file("prompts/greet.txt", "Say hi to {{name}}")
        .file("prompts/greet.meta.json", r#"{"name": "greet", "arguments": [{"name": "name"}]}"#)
        .file("tools/numbers/tests/n.yaml", "- name: works\n  expect: { structured: { n: 1.1 } }\n")
}

#[test]
fn a_running_server_is_listed_called_read_and_tested() {
    let project = project();
    let server = HttpServer::start(project.root());
    let url = url(&server);
    let (code, listed, words) = run(&["list", "--url", &url]);
    assert!(code == Some(0) && listed.contains("numbers") && listed.contains("notes"), "{listed}{words}");
    let (code, result, words) = run(&["call", "--url", &url, "--json", "numbers"]);
    assert!(code == Some(0) && result.contains(r#""structuredContent":{"n":1.10}"#), "{result}{words}");
    let (code, whole, _) = run(&["call", "--url", &url, "--whole", "lines"]);
    assert_eq!((code, whole.lines().count()), (Some(0), 60_000));
    assert_eq!(run(&["read", "--url", &url, "file://./resources/notes.txt"]).1.trim(), "some notes");
    let (_, prompt, words) = run(&["get", "--url", &url, "greet", "name=Ada"]);
    assert!(prompt.contains("Say hi to Ada"), "{prompt}{words}");
    let (code, report, words) = run(&["doctor", "--url", &url]);
    assert!(
        code == Some(0) && report.contains("2026-07-28") && report.contains("it lists 2 tools"),
        "{report}{words}"
    );
    let mut test = client(&["test", "--url", &url]);
    test.current_dir(project.root());
    let (code, report, words) = ran(test);
    assert!(code == Some(0) && format!("{report}{words}").contains("1 passed"), "{report}{words}");
    // The command for a failed case names the server too.
    let project = project.file("tools/numbers/tests/n.yaml", "- name: fails\n  expect: { text: other }\n");
    let mut test = client(&["test", "--url", &url]);
    test.current_dir(project.root());
    let (code, report, words) = ran(test);
    let again = format!("  again: mcp-bash test numbers/fails --url {url}\n");
    assert!(code == Some(1) && report.contains(&again), "{report}{words}");
    let (code, _, words) = run(&["call", "--url", &url, "nubmers"]);
    assert!(code == Some(4) && words.contains("did you mean `numbers`?"), "{words}");
    server.finish();
}

#[test]
fn questions_of_a_server_without_sessions_are_asked_on_the_terminal() {
    let script = "#!/usr/bin/env bash\nsource \"$MCP_SDK/tool-sdk.sh\"\nmcp_progress 50 'half way' 100\n\
        mcp_elicit 'Who are you?' '{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"]}'\n";
    let project = Project::new().tool("who", script);
    let server = HttpServer::start(project.root());
    let command = client(&["call", "--url", &url(&server), "who", "--json"]);
    let (code, shown) = Terminal::of_columns(80).start(&command).when("name [text]", "Ada\n").finish();
    assert!(code == Some(0) && shown.contains(r#"{\"name\":\"Ada\"}"#), "{shown}");
    assert!(shown.contains("50% half way"), "{shown}");
    server.finish();
}

#[test]
fn ctrl_c_cancels_the_call_of_the_server() {
    let project = Project::new().waiting_tool("wait");
    let server = HttpServer::start(project.root());
    let mut child = client(&["call", "--url", &url(&server), "wait"]).spawn().unwrap();
    let pids = project.wait_for_started(1);
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    pids.into_iter().for_each(wait_until_gone);
    server.expect_service();
    server.finish();
}

/// A request that a server of this test received.
#[derive(Debug, Clone, Default)]
struct Received {
    method: String,
    headers: HashMap<String, String>,
    message: Value,
}

/// A server that answers each request by a function, and records them all.
struct Fake {
    url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Fake {
    fn start(answer: impl Fn(&Received, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let received = Arc::<Mutex<Vec<Received>>>::default();
        let (all, answer) = (Arc::clone(&received), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (all, answer) = (Arc::clone(&all), Arc::clone(&answer));
                std::thread::spawn(move || {
                    let mut stream = stream;
                    let Some(request) = read_request(&stream) else { return };
                    all.lock().unwrap().push(request.clone());
                    answer(&request, &mut stream);
                });
            }
        });
        Self { url, received }
    }

    /// A server with the same response for everybody.
    fn saying(response: &str) -> Self {
        let response = response.to_owned();
        Self::start(move |_, stream| {
            let _ = stream.write_all(response.as_bytes());
        })
    }

    fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

fn read_request(stream: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut request = Received { method: line.split(' ').next()?.to_owned(), ..Received::default() };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        request.headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = request.headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    request.message = serde_json::from_slice(&body).unwrap_or_default();
    Some(request)
}

fn respond(stream: &mut TcpStream, status: &str, headers: &str, body: &str) {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}

/// A server of the handshake era, which asks for the roots during a call.
fn with_handshake() -> Fake {
    let (answers, asked) = channel::<Value>();
    let (answers, asked) = (Mutex::new(answers), Mutex::new(asked));
    Fake::start(move |request, stream| {
        let (message, json) = (&request.message, "Content-Type: application/json\r\n");
        let result =
            |result: Value| json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string();
        match message["method"].as_str() {
            Some("server/discover") => {
                respond(stream, "400 Bad Request", "", "Bad Request: no valid session");
            }
            Some("initialize") => {
                let info = json!({ "name": "old", "version": "1" });
                let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": info });
                respond(stream, "200 OK", &format!("{json}Mcp-Session-Id: s-1\r\n"), &result(hello));
            }
            Some("tools/list") => {
                let tool = json!({ "name": "old", "inputSchema": { "type": "object" } });
                respond(stream, "200 OK", json, &result(json!({ "tools": [tool] })));
            }
            Some("tools/call") => {
                let _ = stream.write_all(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n",
                );
                let asking = json!({ "jsonrpc": "2.0", "id": "q", "method": "roots/list" });
                let _ = write!(stream, ": hello\n\nevent: message\nid: 1\ndata: {asking}\n\n");
                let answer: Value = Receiver::recv(&asked.lock().unwrap()).unwrap_or_default();
                let text = answer["result"]["roots"][0]["name"].clone();
                let content = json!({ "content": [{ "type": "text", "text": text }] });
                let _ = write!(stream, "data: {}\n\n", result(content));
            }
            None if message.get("result").is_some() => {
                let _ = answers.lock().unwrap().send(message.clone());
                respond(stream, "202 Accepted", "", "");
            }
            _ => respond(stream, "202 Accepted", "", ""),
        }
    })
}

#[test]
fn a_server_of_the_handshake_era_is_asked_with_its_session_which_is_deleted() {
    let (server, folder) = (with_handshake(), tempfile::tempdir().unwrap());
    let roots = folder.path().canonicalize().unwrap();
    let words =
        ["call", "--url", &server.url, "--token-env", "MINE", "--roots", roots.to_str().unwrap(), "old"];
    let (code, text, said) = run(&words);
    let name = roots.file_name().unwrap().to_str().unwrap();
    assert_eq!((code, text.trim_end()), (Some(0), name), "{said}");
    let received = server.received();
    let methods: Vec<&str> =
        received.iter().map(|request| request.message["method"].as_str().unwrap_or("-")).collect();
    let expected =
        ["server/discover", "initialize", "notifications/initialized", "tools/list", "tools/call", "-", "-"];
    assert_eq!(methods, expected);
    assert_eq!(received[6].method, "DELETE");
    for request in &received[2..] {
        let header = |name: &str| request.headers.get(name).map(String::as_str);
        assert_eq!(header("mcp-session-id"), Some("s-1"), "{request:?}");
        assert_eq!(header("mcp-protocol-version"), Some("2025-06-18"), "{request:?}");
        assert_eq!(header("authorization"), Some(&*format!("Bearer {TOKEN}")), "{request:?}");
    }
    assert_eq!(received[1].headers.get("mcp-protocol-version"), None);
}

/// Runs `list` with a token, and checks that it fails with this exit code and these words, without the token.
fn fails_with(url: &str, code: i32, said: &str) {
    let (ended, stdout, words) = run(&["list", "--url", url, "--token-env", "MINE"]);
    assert!(ended == Some(code) && stdout.is_empty(), "{said}: {ended:?} {stdout} {words}");
    assert!(words.contains(said) && !words.contains(TOKEN), "{said}: {words}");
    assert!(!words.contains('\u{1b}'), "{words:?}");
}

#[test]
fn what_is_no_usable_server_is_explained_and_never_shows_the_token() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    fails_with(&format!("http://{free}/mcp"), 6, "is the server running");
    fails_with("http://no-such-host.invalid/mcp", 2, "unencrypted");
    let said = |status: &str, headers: &str, body: &str| {
        Fake::saying(&format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len()))
    };
    let echo = format!("you sent Bearer {TOKEN} \u{1b}[2J");
    fails_with(&said("401 Unauthorized", "", &echo).url, 3, "refuses the token in MINE");
    fails_with(&said("403 Forbidden", "", &echo).url, 3, "set MINE to a valid one");
    fails_with(&said("404 Not Found", "", &echo).url, 6, "is its path right?");
    fails_with(&said("500 Oops", "", &echo).url, 6, "HTTP 500");
    fails_with(
        &said("200 OK", "Content-Type: text/html\r\n", &format!("<html>{echo}")).url,
        6,
        "is no MCP server",
    );
    fails_with(
        &said("200 OK", "Content-Type: application/json\r\n", "[]").url,
        6,
        "does not speak the protocol",
    );
    fails_with(
        &said("200 OK", "Content-Type: text/event-stream\r\n", "data: 1").url,
        6,
        "ended before it answered",
    );
    fails_with(&Fake::saying("SSH-2.0-OpenSSH_9.6\r\n").url, 6, "was lost");
    let error =
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32000, "message": echo } }).to_string();
    fails_with(
        &said("400 Bad Request", "Content-Type: application/json\r\n", &error).url,
        1,
        "you sent Bearer",
    );
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = Fake::saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    let there = format!("{}?t={TOKEN}", elsewhere.url);
    for status in ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let server =
            Fake::saying(&format!("HTTP/1.1 {status}\r\nLocation: {there}\r\nContent-Length: 0\r\n\r\n"));
        fails_with(&server.url, 6, "which is not followed");
    }
    assert_eq!(elsewhere.received().len(), 0);
}

#[test]
fn wrong_command_lines_are_refused_before_anything_is_sent() {
    let server = Fake::saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    let url = &*server.url;
    for (words, said) in [
        (&["list", "--url", url, "--project-root", "."][..], "cannot be used with"),
        (&["call", "x", "--url", url, "--project-root", "."], "--project-root"),
        (&["list", "--url", url, "--command", "cat"], "cannot be used with"),
        (&["list", "--token-env", "MINE"], "--url"),
        (&["list", "--url", url, "--token-env", "NOT_SET"], "NOT_SET"),
        (&["list", "--url", url, "--token-env", "mcpb_0123"], "not the token itself"),
        (&["list", "--url", "127.0.0.1:1/mcp"], "must look like https://HOST/mcp"),
        (&["list", "--url", "http://me:hunter2@127.0.0.1/"], "--token-env"),
        (&["doctor", "--url", url, "--project-root", "."], "cannot be used with"),
        (&["test", "--url", url, "--project-root", "."], "cannot be used with"),
        (&["run-tool", "--dry-run", "--url", url, "x"], "cannot be used with"),
    ] {
        let (code, _, stderr) = run(words);
        assert!(code == Some(2) && stderr.contains(said), "{words:?}: {code:?} {stderr}");
        assert!(!stderr.contains("hunter2") && !stderr.contains("mcpb_0123"), "{stderr}");
    }
    assert_eq!(server.received().len(), 0);
}

#[test]
fn a_silent_server_is_given_up() {
    let server = Fake::start(|request, stream| {
        let _ = (request, stream.read(&mut [0; 1]));
    });
    let (code, _, words) = run(&["call", "--url", &server.url, "--timeout", "1", "x"]);
    assert!(code == Some(5) && words.contains("server/discover"), "{code:?} {words}");
}

#[test]
fn certificates_are_checked() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let folder = Project::new();
    let key = made.signing_key.serialize_pem();
    let folder = folder.file("cert.pem", &made.cert.pem()).file("key.pem", &key);
    let key = folder.path("key.pem");
    fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let project = project();
    let certificate = folder.path("cert.pem");
    let mut serving = Server::command();
    serving.arg("serve").arg(project.root()).args(["--http", "127.0.0.1:0", "--tls-cert"]).arg(&certificate);
    serving.arg("--tls-key").arg(&key).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut serving = serving.spawn().unwrap();
    let mut said = BufReader::new(serving.stderr.take().unwrap()).lines().map_while(Result::ok);
    let address = said.find_map(|line| Some(line.strip_prefix("Serving at https://")?.to_owned())).unwrap();
    let port = address.trim_end_matches("/mcp").rsplit(':').next().unwrap().to_owned();
    let reading = std::thread::spawn(move || said.for_each(drop));
    let url = |host: &str| format!("https://{host}:{port}/mcp");
    fails_with(&url("localhost"), 6, "no secure connection");
    let mut trusting = client(&["list", "--url", &url("localhost"), "--token-env", "MINE"]);
    trusting.env("SSL_CERT_FILE", &certificate).env_remove("SSL_CERT_DIR");
    let (code, listed, words) = ran(trusting);
    assert!(code == Some(0) && listed.contains("numbers"), "{words}");
    // The certificate is for another name.
    let mut other = client(&["list", "--url", &url("127.0.0.1")]);
    other.env("SSL_CERT_FILE", &certificate);
    let (code, _, words) = ran(other);
    assert!(code == Some(6) && words.contains("no secure connection"), "{words}");
    // Without TLS at all.
    let plain = Fake::saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    fails_with(&plain.url.replace("http:", "https:"), 6, "no secure connection");
    serving.kill().unwrap();
    serving.wait().unwrap();
    reading.join().unwrap();
}

#[test]
fn a_token_opens_a_server_and_is_on_no_command_line() {
    let folder = Project::new();
    let tokens = folder.path("tokens");
    let mut new = Server::command();
    new.args(["token", "new", "alice", "--file"]).arg(&tokens);
    let token = String::from_utf8(new.output().unwrap().stdout).unwrap().trim().to_owned();
    let project = Project::new().waiting_tool("wait");
    let server = HttpServer::start_with(project.root(), &["--tokens", tokens.to_str().unwrap()], &[]);
    let (code, _, words) = run(&["list", "--url", &url(&server)]);
    assert!(code == Some(3) && words.contains("--token-env NAME"), "{code:?} {words}");
    let mut call = client(&["call", "--url", &url(&server), "--token-env", "ALICE", "wait"]);
    let child = call.env("ALICE", &token).stdout(Stdio::piped()).spawn().unwrap();
    project.wait_for_started(1);
    let line = wait_until("a command line", || fs::read(format!("/proc/{}/cmdline", child.id())).ok());
    assert!(!String::from_utf8_lossy(&line).contains(&token));
    project.open_gate();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"went\n"[..]));
    server.finish();
}
