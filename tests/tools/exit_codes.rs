//! Which exit codes mean success and which mean failure, by the metadata of a tool.

use crate::harness::{Project, Server};
use serde_json::{Value, json};

fn call(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    server.ask("call", "tools/call", &json!({ "name": tool, "arguments": arguments }))["result"].clone()
}

#[test]
fn a_declared_exit_code_is_a_success() {
    let project = Project::new()
        .file("notes.txt", "one\n")
        .file(
            "tools/find.meta.json",
            r#"{"command": ["grep", "-c", "-e{what}", "{file}"], "successExitCodes": [0, 1]}"#,
        )
        .file("tools/strict.meta.json", r#"{"command": ["grep", "-c", "-e{what}", "{file}"]}"#);
    // The second server reads the tool from the registry.
    for start in ["first", "second"] {
        let mut server = Server::ready(project.root());
        let nothing = json!({ "what": "two", "file": "notes.txt" });
        let found = call(&mut server, "find", &nothing);
        assert_eq!(found["content"][0]["text"], "0", "{start}: {found}");
        assert!(found["isError"] != true && found["_meta"]["exitCode"] == 1, "{start}: {found}");
        assert_eq!(call(&mut server, "strict", &nothing)["isError"], true, "{start}");
        let failed = call(&mut server, "find", &json!({ "what": "two", "file": "none" }));
        assert!(failed["isError"] == true && failed["_meta"]["exitCode"] == 2, "{start}: {failed}");
        let log = server.finish();
        let failures = log.lines().filter(|line| line.contains("a call failed") && line.contains("\"find\""));
        assert_eq!(failures.count(), 1, "{start}: {log}");
    }
}

#[test]
fn zero_is_always_a_success_and_a_signal_never() {
    let project = Project::new()
        .script("tools/exits.sh", "#!/bin/sh\n# mcp: {\"successExitCodes\": [137, 7], \"argv\": [\"{how}\"]}\n[ $1 != kill ] || kill -9 $$\nexit $1\n");
    let mut server = Server::ready(project.root());
    for (how, fails) in [("0", false), ("7", false), ("137", false), ("1", true), ("kill", true)] {
        let result = call(&mut server, "exits", &json!({ "how": how }));
        assert_eq!(result["isError"] == true, fails, "{how}: {result}");
    }
}

#[test]
fn the_output_schema_applies_to_declared_exit_codes() {
    let project = Project::new().script("tools/x/tool.sh", "#!/bin/sh\necho '{\"n\": \"none\"}'\nexit 1\n").file(
        "tools/x/tool.meta.json",
        r#"{"successExitCodes": [1], "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}"#,
    );
    let answer = Server::ready(project.root()).ask(1, "tools/call", &json!({ "name": "x" }));
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
}

#[test]
fn an_invalid_list_of_exit_codes_is_named() {
    for wrong in ["1", "\"1\"", "[256]", "[-1]", "[\"1\"]", "{\"success\": [1]}"] {
        let metadata = format!(r#"{{"command": ["true"], "successExitCodes": {wrong}}}"#);
        let project = Project::with_hi().file("tools/wrong.meta.json", &metadata);
        let log = Server::ready(project.root()).finish();
        assert!(log.contains("`successExitCodes` must be a list of exit codes"), "{wrong}: {log}");
    }
}
