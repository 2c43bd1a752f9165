//! Sealed states: any server continues a call whose script may run again, and no state is used twice among them.

use super::Fleet;
use crate::harness::{Project, code, stateless_meta};
use serde_json::{Value, json};
use std::thread;

pub(super) const ASKS: &str = "#!/usr/bin/env bash\n. \"${MCP_SDK:?}/tool-sdk.sh\"\necho $$ >>started\n\
                    name=$(mcp_elicit_string 'Who?' name | jq -r .content.name)\necho \"Hello $name\"\n";

pub(super) fn call(fleet: &Fleet, server: usize, state: Option<&Value>) -> Value {
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    let mut params = json!({ "name": "asks", "arguments": {} });
    if let Some(state) = state {
        params["requestState"] = state.clone();
        params["inputResponses"] =
            json!({ "question": { "action": "accept", "content": { "name": "Ada" } } });
    }
    fleet.ask_with(server, "tools/call", &params, &meta)
}

#[test]
fn a_call_goes_on_at_another_server_and_only_once_among_all() {
    let project = Project::new().tool("asks", ASKS);
    let metadata = json!({ "name": "asks", "description": "Asks", "replay": true });
    project.write("tools/asks/tool.meta.json", &metadata.to_string());
    let fleet = Fleet::start(&project, 3);
    let asked = call(&fleet, 0, None);
    let state = asked["result"]["requestState"].clone();
    assert!(state.is_string(), "{asked}");
    let answers: Vec<Value> = thread::scope(|scope| {
        let calls: Vec<_> = [1, 2, 1, 2]
            .map(|server| {
                let (fleet, state) = (&fleet, &state);
                scope.spawn(move || call(fleet, server, Some(state)))
            })
            .into_iter()
            .collect();
        calls.into_iter().map(|call| call.join().expect("an answer")).collect()
    });
    let done = answers.iter().filter(|answer| answer["result"]["content"][0]["text"] == "Hello Ada").count();
    assert_eq!(done, 1, "{answers:?}");
    for refused in answers.iter().filter(|answer| answer.get("error").is_some()) {
        assert_eq!(code(refused), -32602, "{refused}");
    }
    assert_eq!(project.wait_for_started(2).len(), 2, "once to ask, once to go on");
}
