//! What a script says: a secret is taken out of everything, however it is written.

use super::{SECRET, called, home, project, serve, text, with_tool};
use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::process::Command;

/// What the shell and its programs make of the secret, with `$TOKEN` set.
fn made(script: &str) -> String {
    let output = Command::new("bash").args(["-c", script]).env("TOKEN", SECRET).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_secret_is_gone_however_it_is_printed() {
    for (how, script) in [
        ("whole", r#"printf %s "$TOKEN""#),
        ("in pieces", r#"for ((at = 0; at < ${#TOKEN}; at++)); do printf %s "${TOKEN:at:1}"; done"#),
        ("base64", r#"printf %s "$TOKEN" | base64"#),
        ("base64, shifted by one", r#"printf 'a%s' "$TOKEN" | base64"#),
        ("base64, shifted by two", r#"printf 'ab%s' "$TOKEN" | base64"#),
        ("base64 for URLs", r#"printf %s "$TOKEN" | base64 | tr '+/' '-_' | tr -d '='"#),
        ("base64 in short lines", r#"printf %s "$TOKEN" | base64 -w 10"#),
        ("hex", r#"printf %s "$TOKEN" | od -An -v -tx1 | tr -d ' \n'"#),
        ("upper hex", r#"printf %s "$TOKEN" | od -An -v -tx1 | tr -d ' \n' | tr a-f A-F"#),
        ("for a shell", r#"printf %q "$TOKEN""#),
        ("JSON", r#"python3 -c 'import json,os; print(json.dumps(os.environ["TOKEN"]))'"#),
        ("a form", r#"python3 -c 'import os,urllib.parse as p; print(p.quote_plus(os.environ["TOKEN"]))'"#),
        ("percent", r#"python3 -c 'import os,urllib.parse as p; print(p.quote(os.environ["TOKEN"]))'"#),
        ("XML", r#"python3 -c 'import os,html; print(html.escape(os.environ["TOKEN"]))'"#),
    ] {
        let written = made(script);
        let project = project(&format!("#!/usr/bin/env bash\necho before\n{script}\necho\necho after\n"));
        let home = home();
        let mut server = serve(&project, &home, &[]);
        let answer = called(&mut server, "uses");
        let said = text(&answer).to_owned();
        assert!(said.starts_with("before\n") && said.trim_end().ends_with("after"), "{how}: {said}");
        assert!(said.contains("***"), "{how}: {said}");
        let joined: String = said.split_whitespace().collect();
        let written: String = written.split_whitespace().collect();
        let inner = &written.as_bytes()[2..written.len() - 4];
        assert!(
            inner.windows(6).all(|part| !joined.as_bytes().windows(6).any(|seen| seen == part)),
            "{how}: {said}"
        );
        server.finish();
    }
}

/// Every line that the server sends until the answer of `uses`.
fn all_said(server: &mut Server) -> (String, Value) {
    server.request(
        "call",
        "tools/call",
        &json!({
            "name": "uses", "arguments": {}, "_meta": { "progressToken": 1 },
        }),
    );
    let mut all = String::new();
    loop {
        let message = server.receive();
        all.push_str(&message.to_string());
        all.push('\n');
        if message["method"] == "elicitation/create" {
            server.reply(&message, &json!({ "action": "accept", "content": { "name": "x" } }));
        }
        if message["id"] == "call" {
            return (all, message);
        }
    }
}

fn session(project: &Project, home: &tempfile::TempDir, more: &[(&str, &str)]) -> Server {
    let file = home.path().join("secrets.json");
    let mut environment = vec![("TOKEN", SECRET), ("MCPBASH_SECRETS_FILE", file.to_str().unwrap())];
    environment.extend(more);
    let mut server = Server::start_with(project.root(), &environment);
    server.initialize_offering("2025-11-25", &json!({ "elicitation": {} }));
    server.told_so_far();
    server
}

#[test]
fn a_secret_is_gone_from_progress_logs_questions_and_results() {
    let script = r#"#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"
mcp_progress 10 "at $TOKEN"
mcp_log_warn mine "log $TOKEN"
mcp_elicit_string "Is it $TOKEN?" name >/dev/null
echo "err $TOKEN" >&2
mcp_emit_json "$(mcp_json_obj "$TOKEN" "$TOKEN" 2>/dev/null || echo '{}')"
"#;
    let project = project(script);
    let home = home();
    let mut server = session(&project, &home, &[]);
    let (all, answer) = all_said(&mut server);
    for method in ["notifications/progress", "notifications/message", "elicitation/create"] {
        assert!(all.contains(method), "{method} in {all}");
    }
    assert!(!all.contains("S3cr3t"), "{all}");
    assert!(all.matches("***").count() >= 4, "{all}");
    assert!(answer["error"].is_null(), "{answer}");
}

/// Says the secret in pieces of that many characters, in log messages and progress, between ordinary ones.
const IN_PIECES: &str = r#"#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"
mcp_log_info mine "it begins"
for ((at = 0; at < ${#TOKEN}; at += SIZE)); do mcp_log_info mine "${TOKEN:at:SIZE}"; done
mcp_log_info mine "it ends"
mcp_progress 1 "${TOKEN:0:15}"
mcp_progress 2 "${TOKEN:15}, then"
echo done
"#;

#[test]
fn a_secret_is_gone_from_messages_that_say_it_in_pieces() {
    for size in [1, 7, 8, 15, 29] {
        let project = project(&IN_PIECES.replace("SIZE", &size.to_string()));
        let home = home();
        let mut server = session(&project, &home, &[]);
        let (all, answer) = all_said(&mut server);
        assert_eq!(text(&answer), "done");
        let messages: Vec<Value> = all.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let told = |method: &str, name: &str| {
            let of_method = messages.iter().filter(|message| message["method"] == method);
            of_method.filter_map(|message| message["params"][name].as_str()).collect::<Vec<_>>()
        };
        let logged = told("notifications/message", "data");
        let [first, pieces @ .., last] = &logged[..] else { panic!("{all}") };
        assert_eq!((*first, *last), ("it begins", "it ends"), "{size}: {all}");
        assert!(pieces.len() == SECRET.len().div_ceil(size), "none of them is held back or joined: {all}");
        let shown = pieces.concat().replace("***", "");
        assert!(shown.len() < 8 && SECRET.starts_with(&shown), "{size}: {all}");
        let progress = told("notifications/progress", "message").concat();
        assert!(!progress.contains("S3c") && !progress.contains("lue>"), "{size}: {all}");
        server.finish();
    }
}

#[test]
fn a_secret_is_gone_from_failures_and_the_documents_stay_valid() {
    for (how, script) in [
        ("an exit code", "echo \"failed with $TOKEN\" >&2\nexit 3"),
        (
            "an error of its own",
            "printf '{\"code\": -32000, \"message\": %s}' \"$(python3 -c 'import json,os; print(json.dumps(os.environ[\"TOKEN\"]))')\" >\"$MCP_TOOL_ERROR_FILE\"\nexit 1",
        ),
        (
            "structured output",
            "python3 -c 'import json,os; t=os.environ[\"TOKEN\"]; print(json.dumps({\"content\": [{\"type\": \"text\", \"text\": t}], \"structuredContent\": {t: [t, {\"deep\": t}]}}))'",
        ),
        (
            "a file that it lists",
            "printf %s \"$TOKEN\" >file.txt\nprintf '[{\"path\": \"%s/file.txt\", \"mimeType\": \"text/plain\"}]' \"$PWD\" >\"$MCP_TOOL_RESOURCES_FILE\"\necho done",
        ),
        ("a large text, which is kept", "yes \"line $TOKEN\" | head -n 20000"),
        ("a signal", "echo \"$TOKEN\"\necho \"$TOKEN\" >&2\nkill -9 $$"),
    ] {
        let project = project(&format!("#!/usr/bin/env bash\n{script}\n"));
        let home = home();
        let mut server = session(&project, &home, &[("MCPBASH_MAX_TOOL_OUTPUT_SIZE", "10000000")]);
        let (all, answer) = all_said(&mut server);
        assert!(!all.contains("S3cr3t"), "{how}: {all}");
        assert!(all.contains("***"), "{how}: {answer}");
        let stderr = server.finish();
        assert!(!stderr.contains("S3cr3t"), "{how}: {stderr}");
    }
}

#[test]
fn what_another_script_says_of_it_is_gone_too() {
    let leak = r#"#!/bin/sh
cp "$MCPBASH_PROJECT_ROOT/leak" /dev/stdout
"#;
    let project =
        with_tool(Project::new(), "uses", "#!/bin/sh\nprintf %s \"$TOKEN\" >leak\n").tool("reads", leak);
    let home = home();
    let mut server = serve(&project, &home, &[]);
    called(&mut server, "uses");
    assert_eq!(project.read("leak"), SECRET);
    assert_eq!(text(&called(&mut server, "reads")), "***");
}

#[test]
fn the_end_of_standard_error_is_not_cut_inside_a_secret() {
    let script = "#!/usr/bin/env bash\nfor _ in $(seq 400); do printf '%s' \"$TOKEN\" >&2; done\nexit 1\n";
    let project = project(script);
    let home = home();
    for tail in ["100", "101", "107", "113"] {
        let mut server = serve(&project, &home, &[("MCPBASH_TOOL_STDERR_TAIL_LIMIT", tail)]);
        let answer = called(&mut server, "uses").to_string();
        assert!(!answer.contains("cr3t") && !answer.contains("lue>"), "{tail}: {answer}");
        server.finish();
    }
}
