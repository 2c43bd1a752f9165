//! Tools and prompts that need capabilities which the client may lack.

use crate::harness::{Project, Server, code, stateless_meta};
use serde_json::{Value, json};

fn project() -> Project {
    let tool = json!({
        "name": "needs", "description": "Needs a model",
        "requiredCapabilities": ["sampling", "elicitation.url"],
    });
    let project = Project::new().tool("needs", "#!/bin/sh\necho ran >>runs\necho done\n");
    project.write("tools/needs/tool.meta.json", &tool.to_string());
    project.script(
        "prompts/needs.sh",
        "#!/bin/sh\n# mcp: {\"requiredCapabilities\": [\"elicitation\"]}\necho ran >>\"$MCPBASH_PROJECT_ROOT/runs\"\n",
    )
}

fn ask(server: &mut Server, id: u32, method: &str, offered: &Value) -> Value {
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = offered.clone();
    server.ask(id, method, &json!({ "name": "needs", "_meta": meta }))
}

// Shows: missing-capability
#[test]
fn a_missing_capability_is_named_before_anything_runs() {
    let project = project();
    let mut server = Server::start(project.root());
    let refused = ask(&mut server, 1, "tools/call", &json!({}));
    assert_eq!(code(&refused), -32021);
    let missing = &refused["error"]["data"]["requiredCapabilities"];
    assert_eq!(*missing, json!({ "sampling": {}, "elicitation": { "url": {} } }));
    let refused = ask(&mut server, 2, "tools/call", &json!({ "sampling": {}, "elicitation": {} }));
    assert_eq!(refused["error"]["data"]["requiredCapabilities"], json!({ "elicitation": { "url": {} } }));
    let refused = ask(&mut server, 3, "prompts/get", &json!({ "sampling": {} }));
    assert_eq!(refused["error"]["data"]["requiredCapabilities"], json!({ "elicitation": { "form": {} } }));
    assert_eq!(project.read("runs"), "");
    let done = ask(&mut server, 4, "tools/call", &json!({ "sampling": {}, "elicitation": { "url": {} } }));
    assert_eq!(done["result"]["content"][0]["text"], "done", "{done}");
}

#[test]
fn a_missing_capability_is_named_in_a_session_too() {
    let project = project();
    let mut server = Server::start(project.root());
    server.initialize_offering("2025-11-25", &json!({ "sampling": {}, "elicitation": {} }));
    let refused = server.ask(1, "tools/call", &json!({ "name": "needs" }));
    assert_eq!(code(&refused), -32021);
    let got = server.ask(2, "prompts/get", &json!({ "name": "needs" }));
    assert!(got["result"]["messages"].is_array(), "{got}");
}

#[test]
fn an_unknown_capability_is_an_error_of_the_author() {
    let project = project();
    project.write("tools/needs/tool.meta.json", r#"{"name":"needs","requiredCapabilities":["telepathy"]}"#);
    let server = Server::start(project.root());
    let log = server.finish();
    assert!(log.contains("requiredCapabilities") && log.contains("elicitation.url, sampling"), "{log}");
}
