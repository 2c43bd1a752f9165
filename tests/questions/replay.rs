//! States that outlive their process: sealed with keys that another server shares, for scripts that run again
//! with their earlier answers.

use crate::harness::{Project, Server, code, stateless_meta, wait_until_gone};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A tool that asks two questions, one after the other, and records each run.
const TWO_QUESTIONS: &str = r#"#!/usr/bin/env bash
. "${MCP_SDK:?}/tool-sdk.sh"
echo $$ >>started
first=$(mcp_elicit_string "First${SALT:-}?" value | jq -r .content.value)
second=$(mcp_elicit_string "Second after $first?" value | jq -r .content.value)
echo "$first and $second"
"#;

const OLD: &str = "old:b2xkIG9sZCBvbGQgb2xkIG9sZCBvbGQgb2xkIG9sZCA=";
const NEW: &str = "new:bmV3IG5ldyBuZXcgbmV3IG5ldyBuZXcgbmV3IG5ldyBuZXc=";

fn project(metadata: &Value) -> Project {
    let project = Project::new().tool("asks", TWO_QUESTIONS);
    project.write("tools/asks/tool.meta.json", &metadata.to_string());
    project
}

fn replayable() -> Project {
    project(&json!({ "name": "asks", "description": "Asks", "replay": true }))
}

fn keys(project: &Project, text: &str) -> PathBuf {
    let path = project.path("keys");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    path
}

fn server(project: &Project, text: &str, more: &[(&str, &str)]) -> Server {
    let path = keys(project, text);
    let path = path.to_str().unwrap();
    Server::start_with(project.root(), &[&[("MCPBASH_STATE_KEYS_FILE", path)], more].concat())
}

fn call(server: &mut Server, id: impl Into<Value>, state: Option<&Value>, answer: &str) -> Value {
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    let mut params = json!({ "name": "asks", "arguments": {}, "_meta": meta });
    if let Some(state) = state {
        params["requestState"] = state.clone();
        let answer = json!({ "action": "accept", "content": { "value": answer } });
        params["inputResponses"] = json!({ "question": answer });
    }
    server.ask(id, "tools/call", &params)
}

fn state(answer: &Value, question: &str) -> Value {
    let asked = &answer["result"]["inputRequests"]["question"]["params"]["message"];
    assert_eq!(asked, question, "{answer}");
    answer["result"]["requestState"].clone()
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn another_server_with_the_same_key_runs_the_script_again_with_the_answers_it_had() {
    let project = replayable();
    let mut first = server(&project, OLD, &[]);
    let asked = call(&mut first, 1, None, "");
    let second_question = call(&mut first, 2, Some(&state(&asked, "First?")), "elephants");
    let state = state(&second_question, "Second after elephants?");
    let sealed = state.as_str().unwrap().strip_prefix("1.old.").unwrap_or_else(|| panic!("{state}"));
    let bytes = URL_SAFE_NO_PAD.decode(sealed).unwrap();
    assert!(!bytes.windows(9).any(|bytes| bytes == b"elephants"), "the answer can be read");
    first.finish();
    // Its key is still in the file, after the one that seals new states.
    let mut second = server(&project, &format!("{NEW}\n{OLD}\n"), &[]);
    let done = call(&mut second, 1, Some(&state), "two");
    assert_eq!(text(&done), "elephants and two");
    assert_eq!(project.wait_for_started(2).len(), 2);
    assert_eq!(code(&call(&mut second, 2, Some(&state), "two")), -32602, "a state is good once");
    second.finish();
    let mut third = server(&project, NEW, &[]);
    assert_eq!(code(&call(&mut third, 1, Some(&state), "two")), -32602, "it has not the key any more");
    assert_eq!(project.wait_for_started(2).len(), 2, "nothing was run for those that were refused");
}

#[test]
fn a_script_whose_questions_change_starts_over() {
    let project = replayable();
    let mut first = server(&project, OLD, &[]);
    let asked = state(&call(&mut first, 1, None, ""), "First?");
    let asked = state(&call(&mut first, 2, Some(&asked), "one"), "Second after one?");
    first.finish();
    let more =
        [("MCPBASH_TOOL_ENV_MODE", "allowlist"), ("MCPBASH_TOOL_ENV_ALLOWLIST", "SALT"), ("SALT", " now")];
    let mut second = server(&project, OLD, &more);
    let anew = state(&call(&mut second, 1, Some(&asked), "two"), "First now?");
    let anew = state(&call(&mut second, 2, Some(&anew), "1"), "Second after 1?");
    assert_eq!(text(&call(&mut second, 3, Some(&anew), "2")), "1 and 2");
}

#[test]
fn a_script_whose_process_was_evicted_is_run_again() {
    let project = replayable();
    let mut server = server(&project, OLD, &[("MCPBASH_MAX_PARKED_CALLS_PER_CALLER", "1")]);
    let first = state(&call(&mut server, 1, None, ""), "First?");
    let pid = project.wait_for_started(1)[0];
    let other = state(&call(&mut server, 2, None, ""), "First?");
    wait_until_gone(pid);
    // While its second question is open, it evicts the other call.
    let second = state(&call(&mut server, 3, Some(&first), "a"), "Second after a?");
    assert_eq!(text(&call(&mut server, 4, Some(&second), "b")), "a and b");
    assert_eq!(code(&call(&mut server, 5, Some(&first), "again")), -32602);
    let second = state(&call(&mut server, 6, Some(&other), "c"), "Second after c?");
    assert_eq!(text(&call(&mut server, 7, Some(&second), "d")), "c and d");
}

#[test]
fn a_script_without_replay_is_never_run_again() {
    let project = project(&json!({ "name": "asks", "description": "Asks" }));
    let mut first = server(&project, OLD, &[]);
    let asked = state(&call(&mut first, 1, None, ""), "First?");
    first.finish();
    let mut second = server(&project, OLD, &[]);
    assert_eq!(code(&call(&mut second, 1, Some(&asked), "one")), -32602);
    assert_eq!(project.wait_for_started(1).len(), 1);
}

#[test]
fn disabling_replay_takes_effect() {
    let project = replayable();
    let mut first = server(&project, OLD, &[]);
    let asked = state(&call(&mut first, 1, None, ""), "First?");
    first.finish();
    project.write("tools/asks/tool.meta.json", r#"{"name":"asks","description":"Asks"}"#);
    let mut second = server(&project, OLD, &[]);
    assert_eq!(code(&call(&mut second, 1, Some(&asked), "one")), -32602);
    assert_eq!(project.wait_for_started(1).len(), 1);
}

// Shows: state-hostile
#[test]
fn any_change_to_a_state_is_refused() {
    let project = replayable();
    let mut server = server(&project, &format!("{OLD}\n{NEW}"), &[("MCPBASH_LOG_LEVEL", "notice")]);
    let state = state(&call(&mut server, 1, None, ""), "First?");
    let state = state.as_str().unwrap();
    let flipped = |index: usize| {
        let other = if &state[index..=index] == "A" { "B" } else { "A" };
        let mut changed = state.to_owned();
        changed.replace_range(index..=index, other);
        changed
    };
    let body = state.rfind('.').unwrap() + 1;
    let mut changed: Vec<String> =
        [0, 2, body, body + 25, body + 40, body + 100, state.len() - 1].map(flipped).into();
    changed.extend([
        format!("{state}-TAMPERED"),
        format!("{state}="),
        state[..state.len() - 4].to_owned(),
        state.replacen("old", "new", 1),
        state.replacen("1.", "2.", 1),
        state.to_uppercase(),
        "1.old.".to_owned(),
        "..".to_owned(),
        "x".repeat(1_000_000),
    ]);
    let mut refusals = Vec::new();
    for (id, changed) in (100..).zip(&changed) {
        refusals.push(call(&mut server, id, Some(&json!(changed)), "stolen"));
    }
    for (refused, changed) in refusals.iter().zip(&changed) {
        assert_eq!(refused["error"], refusals[0]["error"], "{changed}");
        assert_eq!(code(refused), -32602);
    }
    let second = call(&mut server, 2, Some(&json!(state)), "mine");
    self::state(&second, "Second after mine?");
    assert_eq!(project.wait_for_started(1).len(), 1);
    let log = server.finish();
    assert!(log.contains("it was changed") && log.contains("no key of this server"), "{log}");
}

#[test]
fn keys_that_other_users_can_read_prevent_the_start() {
    let project = replayable();
    for (text, mode, why) in [
        (OLD, 0o644, "chmod 600"),
        ("old:c2hvcnQ=", 0o600, "shorter than 32 bytes"),
        ("", 0o600, "no key in it"),
    ] {
        let path = keys(&project, text);
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let mut server =
            Server::start_with(project.root(), &[("MCPBASH_STATE_KEYS_FILE", path.to_str().unwrap())]);
        assert!(!server.wait().success());
        let said = server.stderr();
        assert!(said.contains("MCPBASH_STATE_KEYS_FILE") && said.contains(why), "{said}");
        assert!(!said.contains("c2hvcnQ"), "{said}");
    }
}
