//! Records: one for each call, read, refusal, question, answer and failed login.

use super::{Audited, records};
use crate::harness::http::{HttpServer, stateless_with};
use crate::harness::{Project, Server, wait_until};
use serde_json::{Value, json};
use std::fs;

const ECHO: &str = r#"{"name": "echo", "description": "Echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}, "secret": {"type": "string"}}, "required": ["text"]}}"#;

fn project() -> Project {
    Project::with_hi()
        .tool("bad", "#!/bin/sh\nexit 3\n")
        .tool("slow", "#!/bin/sh\nsleep 60\n")
        .script("tools/echo/tool.sh", "#!/bin/sh\ncat\n")
        .file("tools/echo/tool.meta.json", ECHO)
        .file("resources/note.txt", "a note")
        .file("resources/note.meta.json", r#"{"name": "note", "uri": "file://./resources/note.txt"}"#)
        .file("prompts/ask.txt", "Ask")
        .file("prompts/ask.meta.json", r#"{"name": "ask", "description": "Ask"}"#)
}

/// The fields of records that tests compare.
fn outcomes(records: &[Value]) -> Vec<(&str, &str, &str)> {
    let text = |record: &'_ Value, name: &str| -> &str {
        record[name].as_str().map_or("", |text| Box::leak(text.into()))
    };
    records
        .iter()
        .map(|record| (text(record, "event.name"), text(record, "outcome"), text(record, "error.type")))
        .collect()
}

#[test]
fn each_end_of_a_request_is_recorded_once() {
    let audited = Audited::new(project());
    let mut server = audited.start(&[("MCPBASH_TOOL_ALLOWLIST", "hi bad slow echo")]);
    server.ask_past_news(1, "tools/call", &json!({ "name": "hi", "arguments": {} }));
    server.ask_past_news(2, "tools/call", &json!({ "name": "bad" }));
    server.ask_past_news(3, "tools/call", &json!({ "name": "none" }));
    server.ask_past_news(4, "tools/call", &json!({ "name": "echo", "arguments": {} }));
    server.ask_past_news(5, "tools/call", &json!({ "name": "slow", "timeoutSecs": 1 }));
    server.ask_past_news(6, "prompts/get", &json!({ "name": "ask" }));
    server.ask_past_news(7, "resources/read", &json!({ "uri": "mcp://none" }));
    server.ask_past_news(8, "tools/list", &json!({}));
    server.request(9, "tools/call", &json!({ "name": "slow" }));
    server.notify("notifications/cancelled", &json!({ "requestId": 9 }));
    wait_until("the cancelled call", || (audited.requests().len() == 8).then_some(()));
    server.finish();
    let recorded = audited.requests();
    assert_eq!(
        outcomes(&recorded),
        [
            ("mcp.tools.call", "success", ""),
            ("mcp.tools.call", "failure", "tool_error"),
            ("mcp.tools.call", "refused", "unknown_tool"),
            ("mcp.tools.call", "failure", "invalid_arguments"),
            ("mcp.tools.call", "timeout", "timeout"),
            ("mcp.prompts.get", "success", ""),
            ("mcp.resources.read", "error", "-32002"),
            ("mcp.tools.call", "cancelled", ""),
        ]
    );
    let call = &recorded[0];
    assert_eq!(call["gen_ai.tool.name"], "hi");
    assert_eq!(call["mcp.method.name"], "tools/call");
    assert_eq!(call["jsonrpc.request.id"], "1");
    assert_eq!(call["caller.known_by"], "local");
    assert_eq!(call["mcp.protocol.version"], "2025-11-25");
    assert_eq!(call["sandbox"], "off");
    assert!(call["client.name"].is_string() && call["duration_ms"].is_number(), "{call}");
    assert!(call["bytes.in"].as_u64() > Some(10) && call["bytes.out"].as_u64() > Some(10), "{call}");
    assert!(call["arguments.hash"].as_str().unwrap().starts_with("hmac-sha256:"), "{call}");
    assert_eq!(recorded[6]["mcp.resource.uri"], "mcp://none");
    let all = records(&audited.log());
    assert_eq!(all.first().unwrap()["event.name"], "mcp.server.start");
    assert_eq!(all.last().unwrap()["event.name"], "mcp.server.end");
    assert_eq!(audited.verify().code, 0);
}

#[test]
fn arguments_are_hashed_kept_or_selected() {
    let call = |settings: &[(&str, &str)], project: Project| {
        let audited = Audited::new(project);
        let mut server = audited.start(settings);
        for (id, text) in [(1, "one"), (2, "one"), (3, "two")] {
            let arguments = json!({ "text": text, "secret": "hidden-value" });
            server.ask_past_news(id, "tools/call", &json!({ "name": "echo", "arguments": arguments }));
        }
        server.finish();
        (audited.requests(), fs::read_to_string(audited.log()).unwrap())
    };
    let (hashed, text) = call(&[], project());
    assert!(!text.contains("hidden-value") && !text.contains("\"one\""), "{text}");
    let hash = |at: usize| hashed[at]["arguments.hash"].as_str().unwrap();
    assert!(hash(0) == hash(1) && hash(1) != hash(2));
    let (full, _) = call(&[("MCPBASH_AUDIT_ARGUMENTS", "full")], project());
    assert_eq!(full[0]["arguments"], json!({ "text": "one", "secret": "hidden-value" }));
    let (none, text) = call(&[("MCPBASH_AUDIT_ARGUMENTS", "none")], project());
    assert!(!text.contains("arguments"), "{none:?}");
    let selects = r#"{"name": "p", "audit": {"arguments": {"echo": ["text"]}}}"#;
    let (selected, text) = call(&[], project().file("server.d/server.meta.json", selects));
    assert_eq!(selected[2]["arguments"], json!({ "text": "two" }));
    assert!(selected[2]["arguments.hash"].is_string() && !text.contains("hidden-value"));
}

#[test]
fn hostile_names_and_arguments_stay_in_their_line() {
    let audited = Audited::new(project());
    let mut server = audited.start(&[("MCPBASH_AUDIT_ARGUMENTS", "full")]);
    let hostile = "x\n{\"seq\":1,\"prev\":\"00\",\"event.name\":\"mcp.tools.call\"}\n\u{1b}[2J\u{202e}";
    server.ask_past_news(1, "tools/call", &json!({ "name": hostile, "arguments": { hostile: hostile } }));
    server.ask_past_news(2, "resources/read", &json!({ "uri": hostile }));
    server.ask_past_news(hostile, "tools/call", &json!({ "name": "hi" }));
    let long = "a".repeat(1 << 20);
    server.ask_past_news(4, "tools/call", &json!({ "name": "echo", "arguments": { "text": long } }));
    server.ask_past_news(5, "tools/call", &json!({ "name": long }));
    server.finish();
    let recorded = audited.requests();
    assert_eq!(recorded.len(), 5);
    assert_eq!(recorded[0]["gen_ai.tool.name"], hostile);
    assert_eq!(recorded[0]["arguments"][hostile], hostile);
    assert_eq!(recorded[1]["mcp.resource.uri"], hostile);
    assert_eq!(recorded[3]["cut"], json!(["arguments"]));
    assert_eq!(recorded[4]["cut"], json!(["gen_ai.tool.name"]));
    let text = fs::read_to_string(audited.log()).unwrap();
    assert!(text.lines().all(|line| line.len() < 64 * 1024));
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "no terminal acts on it");
    assert_eq!(audited.verify().code, 0);
}

#[test]
fn a_question_and_its_answer_are_recorded_without_their_content() {
    let script = "#!/bin/bash\n. \"$MCP_SDK/tool-sdk.sh\"\nmcp_elicit_confirm 'Really delete?'\n";
    let audited = Audited::new(Project::new().tool("ask", script));
    let log = audited.log();
    let environment = [("MCPBASH_AUDIT", log.to_str().unwrap())];
    let mut server = Server::start_with(audited.project.root(), &environment);
    server.initialize_offering("2025-11-25", &json!({ "elicitation": {} }));
    server.request(1, "tools/call", &json!({ "name": "ask" }));
    let question = server.receive();
    server.reply(&question, &json!({ "action": "decline" }));
    server.receive();
    server.finish();
    let recorded = audited.requests();
    let names: Vec<&str> = recorded.iter().map(|record| record["event.name"].as_str().unwrap()).collect();
    assert_eq!(names, ["mcp.question", "mcp.answer", "mcp.tools.call"]);
    let [question, answer, call] = &recorded[..] else { panic!("{recorded:?}") };
    assert_eq!(question["call.id"], call["event.id"]);
    assert_eq!((&answer["consent"], &answer["call.id"]), (&json!("decline"), &call["event.id"]));
    for exchanged in [question, answer] {
        for name in ["gen_ai.tool.name", "caller.name", "caller.known_by", "client.name"] {
            assert!(exchanged[name].is_string() && exchanged[name] == call[name], "{name}: {exchanged}");
        }
        assert_eq!(exchanged["jsonrpc.request.id"], Value::Null, "the request has one line");
    }
    assert!(!fs::read_to_string(&log).unwrap().contains("Really"), "the content is not there");
}

#[test]
fn consent_is_part_of_the_record_of_its_call() {
    let tool = Project::new()
        .script("tools/wipe/tool.sh", "#!/bin/sh\necho wiped\n")
        .file("tools/wipe/tool.meta.json", r#"{"name": "wipe", "description": "Wipes", "confirm": true}"#);
    let audited = Audited::new(tool);
    let log = audited.log();
    let environment = [("MCPBASH_AUDIT", log.to_str().unwrap())];
    let mut server = Server::start_with(audited.project.root(), &environment);
    server.initialize_offering("2025-11-25", &json!({ "elicitation": {} }));
    for (id, choice) in [(1, "no"), (2, "session")] {
        server.request(id, "tools/call", &json!({ "name": "wipe" }));
        let question = server.receive();
        server.reply(&question, &json!({ "action": "accept", "content": { "consent": choice } }));
        server.receive();
    }
    server.ask(3, "tools/call", &json!({ "name": "wipe" }));
    server.finish();
    audited.start(&[]).ask(1, "tools/call", &json!({ "name": "wipe" }));
    let recorded = audited.requests();
    let calls: Vec<Value> =
        recorded.into_iter().filter(|record| record["event.name"] == "mcp.tools.call").collect();
    let consents: Vec<&str> = calls.iter().map(|call| call["consent"].as_str().unwrap_or_default()).collect();
    assert_eq!(consents, ["declined", "session", "remembered", "unavailable"]);
    let [declined, _, remembered, unavailable] = &outcomes(&calls)[..] else { panic!("{calls:?}") };
    assert_eq!(declined, &("mcp.tools.call", "refused", "consent"));
    assert_eq!(remembered, &("mcp.tools.call", "success", ""));
    assert_eq!(unavailable, declined);
}

#[test]
fn callers_over_http_and_failed_logins_are_recorded_with_their_address() {
    let audited = Audited::new(project());
    let (log, tokens) = (audited.log(), audited.folder.path().join("tokens"));
    let made = Server::command()
        .args(["token", "new", "ann", "--tools", "hi", "--file"])
        .arg(&tokens)
        .output()
        .unwrap();
    let token = String::from_utf8(made.stdout).unwrap();
    let arguments = ["--tokens", tokens.to_str().unwrap(), "--audit", log.to_str().unwrap()];
    let server = HttpServer::start_with(audited.project.root(), &arguments, &[]);
    let call = |authorization: &str, tool: &str| {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let mut params = json!({ "name": tool });
        params["_meta"] = json!({ "traceparent": trace });
        server.send(&stateless_with(&[("Authorization", authorization)], 1, "tools/call", &params)).status
    };
    let bearer = format!("Bearer {}", token.trim());
    assert_eq!((call("Bearer wrong", "hi"), call(&bearer, "hi")), (401, 200));
    call(&bearer, "bad");
    server.finish();
    let recorded = audited.requests();
    assert_eq!(
        outcomes(&recorded),
        [
            ("mcp.login.failed", "refused", "unauthenticated"),
            ("mcp.tools.call", "success", ""),
            ("mcp.tools.call", "refused", "rights"),
        ]
    );
    for record in &recorded {
        assert_eq!(record["client.address"], "127.0.0.1", "{record}");
    }
    assert_eq!(
        (&recorded[1]["caller.name"], &recorded[1]["caller.known_by"]),
        (&json!("ann"), &json!("token"))
    );
    assert_eq!(recorded[1]["trace.id"], "0af7651916cd43dd8448eb211c80319c");
    assert!(!fs::read_to_string(&log).unwrap().contains(token.trim()));
}

#[test]
fn a_session_is_recorded_by_a_hash_of_its_id() {
    let audited = Audited::new(project());
    let log = audited.log();
    let server = HttpServer::start_with(audited.project.root(), &["--audit", log.to_str().unwrap()], &[]);
    let session = server.session("2025-11-25");
    session.ask(1, "tools/call", &json!({ "name": "hi" }));
    session.ask(2, "tools/call", &json!({ "name": "hi" }));
    let id = session.headers()[0].1.to_owned();
    drop(session);
    server.finish();
    let recorded = audited.requests();
    assert_eq!(recorded[0]["mcp.session.id"], recorded[1]["mcp.session.id"]);
    assert!(recorded[0]["mcp.session.id"].as_str().unwrap().starts_with("hmac-sha256:"));
    assert!(!fs::read_to_string(&log).unwrap().contains(&id));
}

#[test]
fn a_wrong_secret_is_a_refusal_whatever_was_asked() {
    let audited = Audited::new(project());
    let secret = "0123456789abcdef0123456789abcdef";
    let mut server = Server::start_with(
        audited.project.root(),
        &[("MCPBASH_AUDIT", audited.log().to_str().unwrap()), ("MCPBASH_REMOTE_TOKEN", secret)],
    );
    server.ask(1, "ping", &json!({}));
    server.ask(2, "tools/call", &json!({ "name": "hi" }));
    server.finish();
    assert_eq!(
        outcomes(&audited.requests()),
        [("mcp.refused", "refused", "secret"), ("mcp.tools.call", "refused", "secret")]
    );
}

#[test]
fn a_call_on_the_command_line_is_recorded_too() {
    let audited = Audited::new(project());
    let status = Server::command()
        .args(["call", "hi", "--project-root"])
        .arg(audited.project.root())
        .env("MCPBASH_AUDIT", audited.log())
        .output()
        .unwrap();
    assert!(status.status.success(), "{status:?}");
    assert_eq!(outcomes(&audited.requests()), [("mcp.tools.call", "success", "")]);
}

#[test]
fn without_the_setting_there_is_no_log() {
    let audited = Audited::new(project());
    let mut server = Server::ready(audited.project.root());
    server.ask_past_news(1, "tools/call", &json!({ "name": "hi" }));
    server.finish();
    assert!(!audited.log().exists());
}

#[test]
fn the_rule_that_decided_is_recorded_whatever_it_decided() {
    let policy = "version: 1\ndefault: allow\nrules:\n  - name: hidden\n    when: args.text == 'redact'\n    redact: [{pattern: hidden}]\n  - name: fine\n    when: args.text == 'allow'\n    allow: true\n  - name: no\n    when: args.text == 'deny'\n    deny: No.\n";
    let audited = Audited::new(project().file("server.d/policy.yaml", policy));
    let mut server = audited.start(&[]);
    for (id, text) in ["redact", "allow", "deny", "other"].into_iter().enumerate() {
        server.ask_past_news(id, "tools/call", &json!({ "name": "echo", "arguments": { "text": text } }));
    }
    server.finish();
    let recorded = audited.requests();
    let rules: Vec<&str> =
        recorded.iter().map(|record| record["policy.rule"].as_str().unwrap_or_default()).collect();
    assert_eq!(rules, ["hidden", "fine", "no", ""]);
}
