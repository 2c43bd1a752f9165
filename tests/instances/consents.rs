//! Consents of a caller without a session hold at every server.

use super::Fleet;
use crate::harness::{Project, stateless_meta};
use serde_json::{Value, json};

const REMOVE: &str = r#"{
    "name": "remove", "description": "Removes a file", "confirm": "Remove {file}?", "argv": ["{file}"],
    "inputSchema": {"type": "object", "properties": {"file": {"type": "string"}}, "required": ["file"]}
}"#;

fn call(fleet: &Fleet, server: usize, file: &str, state: Option<&Value>) -> Value {
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": { "form": {} } });
    let mut params = json!({ "name": "remove", "arguments": { "file": file } });
    if let Some(state) = state {
        params["requestState"] = state.clone();
        let chosen = json!({ "action": "accept", "content": { "consent": "session" } });
        params["inputResponses"] = json!({ "consent": chosen });
    }
    fleet.ask_with(server, "tools/call", &params, &meta)
}

fn is_asked(answer: &Value) -> bool {
    answer["result"]["requestState"].is_string()
}

#[test]
fn what_a_person_has_allowed_at_one_server_is_allowed_at_the_others() {
    let project = Project::new()
        .script("tools/remove/tool.sh", "#!/bin/sh\necho \"removed $1\"\n")
        .file("tools/remove/tool.meta.json", REMOVE);
    let mut fleet = Fleet::start(&project, 2);
    let asked = call(&fleet, 0, "a", None);
    assert!(is_asked(&asked), "{asked}");
    let done = call(&fleet, 0, "a", Some(&asked["result"]["requestState"]));
    assert_eq!(done["result"]["content"][0]["text"], "removed a", "{done}");
    let done = call(&fleet, 1, "a", None);
    assert_eq!(done["result"]["content"][0]["text"], "removed a", "{done}");
    let other = call(&fleet, 1, "b", None);
    assert!(is_asked(&other), "another call: {other}");
    fleet.database.kill();
    let asked = call(&fleet, 1, "a", None);
    assert!(is_asked(&asked), "without the database a person is asked once more: {asked}");
}
