//! `MCP_CALLER`: scripts see who calls, and nothing of the token.

use crate::harness::http::{HttpServer, stateless_with};
use crate::harness::{Project, Server};
use mcp_bash_transport::http::{Grant, TokenLine};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

/// A project in which every kind of script tells who calls, and a policy that knows one caller.
fn project() -> Project {
    let policy = "mcp_tools_policy_check() {\n[ \"$1\" != secret ] || [ \"$MCP_CALLER\" = alice ] && return 0\n\
        mcp_tools_error -32602 \"not for $MCP_CALLER\"\nreturn 1\n}\n";
    Project::new()
        .tool("who", "#!/bin/sh\necho \"$MCP_CALLER\"\nenv | grep -c mcpb_\ntrue\n")
        .tool("secret", "#!/bin/sh\necho told\n")
        .file("tools/py.py", "from mcp_bash import tool, context\n\n@tool\ndef of_function() -> str:\n    return str(context().caller)\n")
        .script("prompts/p.sh", "#!/bin/sh\n# mcp: {\"arguments\": [{\"name\": \"a\"}]}\necho \"$MCP_CALLER\"\n")
        .file("resources/r.meta.json", r#"{"uri": "mine://r", "provider": "mine"}"#)
        .script("providers/mine.sh", "#!/bin/sh\nprintf %s \"$MCP_CALLER\"\n")
        .script("completions/c.sh", "#!/bin/sh\nprintf '%s\\n' \"$MCP_CALLER\"\n")
        .file("server.d/policy.sh", policy)
}

fn answers(mut ask: impl FnMut(&str, &Value) -> Value) -> [String; 4] {
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned();
    let tool = ask("tools/call", &json!({ "name": "who", "arguments": {} }));
    let function = ask("tools/call", &json!({ "name": "of_function", "arguments": {} }));
    let prompt = ask("prompts/get", &json!({ "name": "p" }));
    let read = ask("resources/read", &json!({ "uri": "mine://r" }));
    [
        text(&tool["result"]["content"][0]["text"]),
        text(&function["result"]["content"][0]["text"]),
        text(&prompt["result"]["messages"][0]["content"]["text"]),
        text(&read["result"]["contents"][0]["text"]),
    ]
}

#[test]
fn scripts_and_the_policy_see_the_name_of_the_token() {
    let (project, outside) = (project(), tempfile::tempdir().unwrap());
    let made = ["alice", "bob"].map(|name| TokenLine::generate(name, Grant::default()).unwrap());
    let file = outside.path().join("tokens");
    fs::write(&file, made.each_ref().map(|(line, _)| line.to_string()).join("\n")).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    // What the operator's own shell has is not believed.
    let server = HttpServer::start_with(
        project.root(),
        &["--tokens", file.to_str().unwrap()],
        &[("MCP_CALLER", "root")],
    );
    for (name, (_, token)) in ["alice", "bob"].into_iter().zip(&made) {
        let bearer = format!("Bearer {token}");
        let ask = |method: &str, params: &Value| {
            server.send(&stateless_with(&[("Authorization", &bearer)], 1, method, params)).json()
        };
        assert_eq!(answers(ask), [&format!("{name}\n0"), name, name, name]);
        let secret = ask("tools/call", &json!({ "name": "secret", "arguments": {} }));
        if name == "alice" {
            assert_eq!(secret["result"]["content"][0]["text"], "told", "{secret}");
        } else {
            assert_eq!(secret["error"]["message"], "not for bob", "{secret}");
        }
    }
    server.finish();
}

#[test]
fn over_standard_streams_the_caller_is_the_user() {
    let project = project();
    let environment = [("USER", "ada"), ("MCP_CALLER", "root")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    let said = answers(|method, params| server.ask(1, method, params));
    assert_eq!(said, ["ada\n0", "ada", "ada", "ada"]);
    drop(server);
    let mut server = Server::ready_with(project.root(), &[("USER", ""), ("LOGNAME", "")], "2025-11-25");
    let answer = server.ask(1, "tools/call", &json!({ "name": "who", "arguments": {} }));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("user ") && text[5..].lines().next().unwrap().parse::<u32>().is_ok(), "{text}");
}
