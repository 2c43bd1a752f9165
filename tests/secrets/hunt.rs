//! The hunt: a server that records, logs, traces and keeps as much as it can is used, and then every file that it wrote and
//! everything that it said is searched for the secret.

use super::{SECRET, home, with_tool, write_private};
use crate::harness::http::{HttpServer, Response, initialize, post, request, stateless_with};
use crate::harness::metrics::{WITH_METRICS, get, metrics_address};
use crate::harness::{Project, Server};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_bash_transport::http::{Grant, TokenLine};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Everything below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files(&entry.path(), found);
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
}

/// The forms in which the secret is looked for.
fn forms() -> Vec<String> {
    let json = serde_json::to_string(SECRET).unwrap();
    let mut forms = vec![SECRET.to_owned(), json[1..json.len() - 1].to_owned(), "S3cr3t".to_owned()];
    for shift in 0..3 {
        let encoded = STANDARD.encode([&b"  "[..shift], SECRET.as_bytes()].concat());
        forms.push(encoded[4..20].to_owned());
    }
    let digits = SECRET.bytes().flat_map(|byte| [byte >> 4, byte & 15]);
    forms.push(digits.map(|digit| char::from_digit(digit.into(), 16).unwrap()).collect());
    forms
}

fn assert_clean(what: &str, text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    for form in forms() {
        assert!(!text.contains(&form), "{what} holds the secret as {form}: {text}");
    }
}

/// Settings of a server that records, logs, traces and keeps as much as it can.
fn loudest(
    store: &Path,
    temporary: &TempDir,
    logs: &TempDir,
    home: &TempDir,
) -> [(&'static str, String); 15] {
    let set = |path: &Path| path.to_str().unwrap().to_owned();
    [
        ("MCPBASH_SECRETS_FILE", set(store)),
        ("MCPBASH_TMP_ROOT", set(temporary.path())),
        ("TMPDIR", set(temporary.path())),
        ("HOME", set(home.path())),
        ("MCPBASH_LOG_DIR", set(logs.path())),
        ("MCPBASH_LOG_LEVEL", "debug".into()),
        ("MCPBASH_LOG_VERBOSE", "true".into()),
        ("MCPBASH_DEBUG_PAYLOADS", "true".into()),
        ("MCPBASH_DEBUG_ERRORS", "true".into()),
        ("MCPBASH_TRACE_TOOLS", "true".into()),
        ("MCPBASH_KEEP_LOGS", "true".into()),
        ("MCPBASH_PRESERVE_STATE", "true".into()),
        ("MCPBASH_CI_MODE", "true".into()),
        ("MCPBASH_AUDIT", set(&logs.path().join("audit.log"))),
        ("MCPBASH_AUDIT_ARGUMENTS", "full".into()),
    ]
}

/// Searches every file below the folders but the store of secrets. Among them have to be files with these names.
fn assert_files_clean(folders: &[&Path], store: &Path, written: &[&str]) {
    let mut left = Vec::new();
    for folder in folders {
        files(folder, &mut left);
    }
    let names: Vec<_> = left.iter().map(|path| path.display().to_string()).collect();
    for expected in written {
        assert!(names.iter().any(|name| name.contains(expected)), "{expected} in {names:?}");
    }
    for path in left.iter().filter(|path| **path != store) {
        assert_clean(&path.display().to_string(), &fs::read(path).unwrap());
    }
}

const LOUD: &str = r#"#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"
mcp_debug "debugging $TOKEN"
mcp_progress 50 "half of $TOKEN"
mcp_log_error mine "log $TOKEN"
: "traced $TOKEN"
printf 'x%s' "$TOKEN" | base64 >&2
printf '%s\n' "$TOKEN" | base64
printf %s "$TOKEN" | od -An -v -tx1 | tr -d ' \n'
echo "stderr $TOKEN" >&2
echo "$TOKEN"
"#;

#[test]
fn nothing_that_a_server_leaves_holds_a_secret() {
    let fails = format!("{LOUD}exit 7\n");
    let large = "#!/usr/bin/env bash\nyes \"a line with $TOKEN\" | head -n 30000\n";
    let mut project = Project::new();
    for (name, script) in [("loud", LOUD), ("fails", &*fails), ("large", large)] {
        project = with_tool(project, name, script);
    }
    let project = project
        .script(
            "prompts/p.sh",
            "#!/bin/sh\n# mcp: {\"secrets\": {\"TOKEN\": \"planted\"}}\necho \"$TOKEN\"\n",
        )
        .file("resources/r.meta.json", r#"{"uri": "mine://r", "secrets": {"TOKEN": "planted"}}"#)
        .script("providers/mine.sh", "#!/bin/sh\nprintf %s \"$TOKEN\"\n");
    let (home, temporary, logs) = (home(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = home.path().join("secrets.json");
    write_private(&store, &json!({ "planted": { "value": SECRET } }).to_string());
    let environment = loudest(&store, &temporary, &logs, &home);
    let environment = environment.each_ref().map(|(name, value)| (*name, value.as_str()));
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    let mut said = String::new();
    for (round, tool) in ["loud", "fails", "large", "loud", "fails", "large"].iter().enumerate() {
        // A client that repeats the secret must not bring it into the record either.
        let arguments = json!({ "name": tool, "arguments": { "echo": SECRET }, "_meta": { "progressToken": round, "x/echo": SECRET } });
        server.request(round, "tools/call", &arguments);
        loop {
            let message = server.receive();
            said.push_str(&message.to_string());
            if message["id"] == round {
                break;
            }
        }
    }
    said.push_str(&server.ask_past_news("p", "prompts/get", &json!({ "name": "p" })).to_string());
    said.push_str(&server.ask_past_news("r", "resources/read", &json!({ "uri": "mine://r" })).to_string());
    let stderr = server.finish();
    assert!(said.matches("***").count() > 10, "{said}");
    assert_clean("the answers", said.as_bytes());
    assert_clean("standard error", stderr.as_bytes());
    let folders = [project.root(), temporary.path(), logs.path(), home.path()];
    let written = [".registry", "payloads.log", "script-output.log", "trace.", "tool-debug.", "audit.log"];
    assert_files_clean(&folders, &store, &written);
    for command in [
        &["secret", "list"][..],
        &["secret", "check"],
        &["doctor", "--json"],
        &["health"],
        &["validate"],
        &["list", "--json"],
    ] {
        let mut run = Server::command();
        run.args(command).arg("--project-root").arg(project.root()).envs(environment.iter().copied());
        let output = run.output().unwrap();
        assert_clean(&command.join(" "), &[output.stdout, output.stderr].concat());
    }
}

/// Says the secret in every form, in every way that a script has.
const EVERY_WAY: &str = r#"#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"
said=$(
	for before in '' a ab; do printf '%s%s' "$before" "$TOKEN" | base64 -w 0; echo; done
	printf %s "$TOKEN" | od -An -v -tx1 | tr -d ' \n'
	echo
	python3 - <<'END'
import html, json, os, urllib.parse
token = os.environ["TOKEN"]
print(token, json.dumps(token), urllib.parse.quote(token, safe=""), html.escape(token), sep="\n")
END
)
while IFS= read -r form; do
	mcp_progress 50 "progress $form"
	mcp_log_error mine "log $form"
	echo "stderr $form" >&2
done <<<"$said"
MCP_ASK_NAME=who mcp_elicit_string "question $said" name >/dev/null
"#;

#[test]
fn nothing_that_a_server_over_http_says_holds_a_secret() {
    let results = format!("{EVERY_WAY}printf 'result %s\\n' \"$said\"\n");
    let document = r#"python3 -c 'import json, sys; t = sys.argv[1]; print(json.dumps({"content": [{"type": "text", "text": t}], "structuredContent": {t: [t]}, "_meta": {"mine/x": t}}))' "$said""#;
    let structured = format!("{EVERY_WAY}{document}\n");
    let fails = format!("{EVERY_WAY}echo \"failed $said\" >&2\nexit 7\n");
    let errs = format!("{EVERY_WAY}mcp_fail 503 \"error $said\"\n");
    let large = format!("{EVERY_WAY}yes \"large $said\" | head -n 10000\n");
    let mut project = Project::new();
    let tools = ["results", "structured", "fails", "errs", "large"];
    for (name, script) in tools.into_iter().zip([&results, &structured, &fails, &errs, &large]) {
        project = with_tool(project, name, script);
    }
    let project = project
        .script(
            "prompts/p.sh",
            "#!/bin/sh\n# mcp: {\"secrets\": {\"TOKEN\": \"planted\"}}\necho \"$TOKEN\"\n",
        )
        .script(
            "prompts/q.sh",
            "#!/bin/sh\n# mcp: {\"secrets\": {\"TOKEN\": \"planted\"}}\necho \"$TOKEN\" >&2\nexit 3\n",
        )
        .file("resources/r.meta.json", r#"{"uri": "mine://r", "secrets": {"TOKEN": "planted"}}"#)
        .file("resources/b.meta.json", r#"{"uri": "other://b", "secrets": {"TOKEN": "planted"}}"#)
        .script("providers/mine.sh", "#!/bin/sh\nprintf %s \"$TOKEN\"\n")
        .script("providers/other.sh", "#!/bin/sh\nprintf %s \"$TOKEN\" >&2\nexit 4\n");
    let (home, temporary, logs) = (home(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let [store, tokens] = ["secrets.json", "tokens"].map(|name| home.path().join(name));
    write_private(&store, &json!({ "planted": { "value": SECRET } }).to_string());
    let (line, token) = TokenLine::generate("alice", Grant::default()).unwrap();
    write_private(&tokens, &line.to_string());
    let environment = loudest(&store, &temporary, &logs, &home);
    let environment = environment.each_ref().map(|(name, value)| (*name, value.as_str()));
    let arguments = [&WITH_METRICS[..], &["--tokens", tokens.to_str().unwrap()]].concat();
    let server = HttpServer::start_with(project.root(), &arguments, &environment);
    let bearer = format!("Bearer {token}");
    let authorized = ("Authorization", &*bearer);
    let mut said = String::new();
    let mut keep = |response: Response| {
        let text = format!("{:?}\n{}", response.headers, response.text());
        said.push_str(&text);
        text
    };

    // Without a session: a question is a result, and the call goes on with its answer.
    let capabilities = json!({ "elicitation": {} });
    for tool in tools {
        let mut params = json!({ "name": tool, "arguments": { "echo": SECRET }, "_meta": {
            "progressToken": 1, "x/echo": SECRET,
            "io.modelcontextprotocol/clientCapabilities": capabilities,
            "io.modelcontextprotocol/logLevel": "debug",
        } });
        let asked = keep(server.send(&stateless_with(&[authorized], 1, "tools/call", &params)));
        assert!(asked.contains("question") && asked.contains("***"), "{tool}: {asked}");
        for method in ["notifications/progress", "notifications/message"] {
            assert!(asked.contains(method), "{method} in {asked}");
        }
        let mut result = asked.lines().filter_map(|line| {
            let message: Value = serde_json::from_str(line.trim_start_matches("data:")).ok()?;
            message["result"]["requestState"].as_str().map(str::to_owned)
        });
        params["requestState"] = json!(result.next_back().unwrap_or_else(|| panic!("{tool}: {asked}")));
        params["inputResponses"] = json!({ "who": { "action": "accept", "content": { "name": SECRET } } });
        let answer = keep(server.send(&stateless_with(&[authorized], 2, "tools/call", &params)));
        assert!(answer.contains("***"), "{tool}: {answer}");
    }
    for (method, params) in [
        ("prompts/get", json!({ "name": "p" })),
        ("prompts/get", json!({ "name": "q" })),
        ("resources/read", json!({ "uri": "mine://r" })),
        ("resources/read", json!({ "uri": "other://b" })),
        ("tools/list", json!({})),
    ] {
        keep(server.send(&stateless_with(&[authorized], 3, method, &params)));
    }

    // In a session: a client that cannot be asked, and the stream of messages that belong to no request.
    let hello = initialize("2025-11-25", &json!({})).to_string();
    let greeted = server.send(&post(&[authorized], &hello));
    let session = greeted.header("Mcp-Session-Id").unwrap().to_owned();
    let headers = [authorized, ("Mcp-Session-Id", &session)];
    keep(server.send(&post(
        &headers,
        &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
    )));
    let mut stream = server.connect();
    stream.send(&request("GET", "/mcp", &[&[("Accept", "text/event-stream")], &headers[..]].concat(), b""));
    for tool in tools {
        let params = json!({ "name": tool, "arguments": {}, "_meta": { "progressToken": tool } });
        let call = json!({ "jsonrpc": "2.0", "id": tool, "method": "tools/call", "params": params });
        let answer = keep(server.send(&post(&headers, &call.to_string())));
        assert!(answer.contains("***"), "{tool}: {answer}");
    }
    keep(server.send(&request("DELETE", "/mcp", &headers, b"")));
    keep(stream.response());

    let metrics = metrics_address(&server);
    for path in ["/metrics", "/readyz", "/health"] {
        keep(get(metrics, path, "*/*"));
    }
    assert_clean("the answers", said.as_bytes());
    assert_clean("standard error", server.finish().as_bytes());
    let folders = [project.root(), temporary.path(), logs.path(), home.path()];
    assert_files_clean(&folders, &store, &["payloads.log", "script-output.log", "trace.", "audit.log"]);
}
