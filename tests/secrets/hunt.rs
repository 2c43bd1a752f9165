//! The hunt: a server that records, logs, traces and keeps as much as it can is used, and then every file that it wrote and
//! everything that it said is searched for the secret.

use super::{SECRET, home, with_tool, write_private};
use crate::harness::{Project, Server};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

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
    let set = |path: &Path| path.to_str().unwrap().to_owned();
    let environment = [
        ("MCPBASH_SECRETS_FILE", set(&store)),
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
    ];
    let environment: Vec<_> = environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
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
    let mut left = Vec::new();
    for folder in [project.root(), temporary.path(), logs.path(), home.path()] {
        files(folder, &mut left);
    }
    let names: Vec<_> = left.iter().map(|path| path.display().to_string()).collect();
    for expected in [".registry", "payloads.log", "script-output.log", "trace.", "tool-debug.", "audit.log"] {
        assert!(names.iter().any(|name| name.contains(expected)), "{expected} in {names:?}");
    }
    for path in left.iter().filter(|path| **path != store) {
        assert_clean(&path.display().to_string(), &fs::read(path).unwrap());
    }
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
