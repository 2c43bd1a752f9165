//! Roles that are narrowed while a question is open: the answer starts nothing that the caller may no longer use.

use super::roles_file::Stage;
use crate::harness::http::stateless_with;
use crate::harness::{Project, wait_until};
use serde_json::{Value, json};

/// Asks the user, and leaves a trace when it has its answer.
const ASKS: &str = "#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\ntouch asked\nMCP_ASK_NAME=who mcp_elicit_string 'Who?' name >/dev/null\ntouch went-on\n";

fn stage() -> Stage {
    let project = Project::new()
        .script("tools/wipe/tool.sh", "#!/bin/sh\ntouch ran\necho wiped\n")
        .file("tools/wipe/tool.meta.json", r#"{"name": "wipe", "description": "Wipes", "confirm": true}"#)
        .tool("asks", ASKS)
        .script("tools/reads/tool.sh", "#!/bin/sh\ntouch read\necho read\n")
        .file("tools/reads/tool.meta.json", r#"{"name": "reads", "needsRoots": true}"#)
        .tool("look", "#!/bin/sh\necho looked\n");
    Stage::of(project, ALL)
}

const ALL: &str = "roles: {all: {given: {tokens: [one]}}}\n";
const LOOKS: &str = "roles: {some: {tools: [look], given: {tokens: [one]}}}\n";

/// Calls a tool with a client that answers questions: `answers` go with the state of an earlier answer.
fn call(stage: &Stage, tool: &str, answers: Option<(&Value, &Value)>) -> Value {
    let meta = json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": {}, "roots": {} } });
    let mut params = json!({ "name": tool, "arguments": {}, "_meta": meta });
    if let Some((asked, answers)) = answers {
        params["requestState"] = asked["result"]["requestState"].clone();
        params["inputResponses"] = answers.clone();
    }
    let bearer = [("Authorization", &*stage.bearer)];
    stage.server.send(&stateless_with(&bearer, 1, "tools/call", &params)).json()
}

fn is_listed(stage: &Stage, tool: &str) -> bool {
    let bearer = [("Authorization", &*stage.bearer)];
    let listed = stage.server.send(&stateless_with(&bearer, 1, "tools/list", &json!({}))).json();
    listed["result"]["tools"].as_array().is_some_and(|tools| tools.iter().any(|one| one["name"] == tool))
}

#[test]
fn the_answer_to_a_question_starts_nothing_that_is_no_longer_allowed() {
    let consent = json!({ "consent": { "action": "accept", "content": { "consent": "once" } } });
    let who = json!({ "who": { "action": "accept", "content": { "name": "x" } } });
    let roots = json!({ "roots": { "roots": [] } });
    for (tool, answers, trace) in
        [("wipe", consent, "ran"), ("asks", who, "went-on"), ("reads", roots, "read")]
    {
        let stage = stage();
        let asked = call(&stage, tool, None);
        assert_eq!(asked["result"]["resultType"], "input_required", "{tool}: {asked}");
        stage.project.write("server.d/roles.yaml", LOOKS);
        wait_until("the change to count", || (!is_listed(&stage, tool)).then_some(()));
        let refused = call(&stage, tool, Some((&asked, &answers)));
        let words = refused["error"]["message"].as_str().unwrap_or_else(|| panic!("{tool}: {refused}"));
        assert!(words.contains("is not allowed"), "{tool}: {words}");
        assert!(!stage.project.path(trace).exists(), "{tool} has gone on");
        assert_eq!(call(&stage, "look", None)["result"]["content"][0]["text"], "looked");

        // With its rights back, the caller is asked again.
        stage.project.write("server.d/roles.yaml", ALL);
        wait_until("the role to be back", || is_listed(&stage, tool).then_some(()));
        let again = call(&stage, tool, None);
        assert!(!stage.project.path(trace).exists(), "{tool} has gone on");
        let done = call(&stage, tool, Some((&again, &answers)));
        assert!(done["result"]["isError"] != true && done["error"].is_null(), "{tool}: {done}");
        assert!(stage.project.path(trace).exists(), "{tool} has not gone on");
        stage.server.finish();
    }
}
