//! Values from a client reach scripts through their environment, and never keep them from starting.

use crate::harness::{Project, Server, code, wait_until_asleep};
use serde_json::{Value, json};

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn progress_carries_the_clients_token_whatever_it_is() {
    let project = Project::new().tool(
        "progress",
        "#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\nmcp_progress 50 half\nprintf %s \"$MCP_PROGRESS_TOKEN\"\n",
    );
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")], "2025-11-25");
    let quoted = "\"\\\n".repeat(100);
    let told = [
        (json!("plain"), "plain"),
        (json!(7), "7"),
        (json!(quoted), &*quoted),
        (json!("a\0b"), "progress"),
        (json!("\0"), "progress"),
        (json!(""), "progress"),
        (json!("x".repeat(5_000)), "progress"),
        (json!("x".repeat(200_000)), "progress"),
    ];
    for (token, told) in &told {
        let params = json!({ "name": "progress", "_meta": { "progressToken": token } });
        server.request(1, "tools/call", &params);
        let progress = server.receive();
        assert_eq!(progress["method"], "notifications/progress", "{progress}");
        assert_eq!(progress["params"]["progressToken"], *token);
        assert_eq!(text(&server.receive()), told.trim_end());
    }
}

#[test]
fn values_too_large_for_a_variable_are_passed_as_files() {
    let project = Project::new()
        .tool(
            "sizes",
            "#!/bin/sh\nfor file in \"$MCP_TOOL_ARGS_FILE\" \"$MCP_TOOL_META_FILE\"; do wc -c <\"$file\"; done\n",
        )
        .script("prompts/size.sh", "#!/bin/sh\n# mcp: {}\nwc -c <\"$MCP_PROMPT_ARGS_FILE\"\n")
        .script("completions/size.sh", "#!/bin/sh\nwc -c <\"$MCP_COMPLETION_ARGS_FILE\"\n")
        .file(
            "server.d/register.json",
            r#"{"version": 1, "completions": [{"name": "size", "path": "completions/size.sh"}]}"#,
        );
    // Whatever the threshold: no process can receive such a variable.
    let environment = [("MCPBASH_ENV_PAYLOAD_THRESHOLD", "10000000")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    for length in [131_072, 131_050, 200_000] {
        let long = "x".repeat(length);
        let params = json!({ "name": "sizes", "arguments": { "a": long }, "_meta": { "m": long } });
        let expected = length + r#"{"a":""}"#.len();
        assert_eq!(text(&server.ask(1, "tools/call", &params)), format!("{expected}\n{expected}"));
        let prompt = server.ask(2, "prompts/get", &json!({ "name": "size", "arguments": { "a": long } }));
        assert_eq!(prompt["result"]["messages"][0]["content"]["text"], expected.to_string(), "{prompt}");
        let completion = json!({ "ref": { "type": "ref/prompt", "name": "size" }, "argument": { "name": "a", "value": long } });
        let completed = server.ask(3, "completion/complete", &completion);
        assert!(completed["result"]["completion"]["values"][0].is_string(), "{completed}");
    }
}

#[test]
fn a_cursor_that_no_script_can_have_returned_is_refused() {
    let project = Project::new()
        .script("completions/echo.sh", "#!/bin/sh\nprintf '%s\\n' \"$MCP_COMPLETION_CURSOR\"\n")
        .file(
            "server.d/register.json",
            r#"{"version": 1, "completions": [{"name": "p", "path": "completions/echo.sh"}]}"#,
        );
    let mut server = Server::ready(project.root());
    let mut params =
        json!({ "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "" } });
    params["cursor"] = json!("word of its own");
    let answer = server.ask(1, "completion/complete", &params);
    assert_eq!(answer["result"]["completion"]["values"], json!(["word of its own"]));
    for cursor in [json!("a\0b"), json!("x".repeat(200_000))] {
        params["cursor"] = cursor;
        assert_eq!(code(&server.ask(2, "completion/complete", &params)), -32602);
    }
}

#[test]
fn ten_thousand_roots_reach_a_script() {
    let mut project = Project::new().tool(
        "roots",
        r#"#!/usr/bin/env bash
. "$MCP_SDK/tool-sdk.sh"
mcp_roots_count; echo
mcp_roots_list | grep -c .
jq length "$MCP_ROOTS_FILE"
for path in "$MCPBASH_PROJECT_ROOT"/r/9999 "$MCPBASH_PROJECT_ROOT"/r; do
	if mcp_roots_contains "$path"; then echo yes; else echo no; fi
done
"#,
    );
    let count = 10_000;
    let mut roots = Vec::new();
    for number in 0..count {
        std::fs::create_dir_all(project.path(&format!("r/{number}"))).unwrap();
        roots.push(json!({ "uri": format!("file://{}", project.path(&format!("r/{number}")).display()) }));
    }
    // Part of this path must not be taken for another root.
    project = project.file("r/line\n/x", "");
    roots.push(json!({ "uri": format!("file://{}", project.path("r/line%0A").display()) }));
    let environment = [("MCPBASH_LOG_LEVEL", "emergency"), ("MCPBASH_ROOTS_REQUEST_TIMEOUT", "600")];
    let mut server = Server::start_with(project.root(), &environment);
    server.initialize_offering("2025-11-25", &json!({ "roots": {} }));
    let asked = server.receive();
    server.reply(&asked, &json!({ "roots": roots }));
    // A call waits for the roots, but not for ever: it starts when all of them were checked.
    wait_until_asleep(server.child.id());
    server.call(1, "roots");
    assert_eq!(text(&server.receive()), "10001\n10000\n10001\nyes\nno");
}

#[test]
fn variables_of_an_outer_server_are_not_passed_on() {
    let project = Project::new().tool(
        "args",
        "#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\nmcp_args_raw; printf ' %s%s' \"${MCP_PROGRESS_STREAM-}\" \"$MCP_OWN\"\n",
    );
    let project = project.file("outer", r#"{"outer": true}"#);
    let outer = project.path("outer").display().to_string();
    let environment =
        [("MCP_TOOL_ARGS_FILE", &*outer), ("MCP_PROGRESS_STREAM", &*outer), ("MCP_OWN", "mine")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    server.notify("x", &json!({}));
    let answer = server.ask(1, "tools/call", &json!({ "name": "args", "arguments": { "inner": true } }));
    let said = text(&answer);
    assert!(said.starts_with(r#"{"inner":true} "#) && said.ends_with("mine"), "{said}");
    assert!(!said.contains("outer"), "{said}");
}

#[test]
fn scripts_know_their_server_and_the_hint_for_timeouts() {
    let says = "#!/bin/sh\nprintf '%s|' \"$MCPBASH_SERVER_NAME\" \"$MCPBASH_SERVER_TITLE\" \"$MCPBASH_SERVER_VERSION\" \\\n\
                \"$MCPBASH_SERVER_DESCRIPTION\" \"$MCPBASH_SERVER_WEBSITE_URL\" \"$MCPBASH_SERVER_ICONS\" \\\n\
                \"$MCPBASH_SERVER_INSTRUCTIONS\" \"$MCPBASH_TIMEOUT_HINT\"\n";
    let project = Project::new()
        .tool("says", says)
        .file("tools/says/tool.meta.json", r#"{"name": "says", "timeoutHint": "ask for less"}"#)
        .tool("plain", "#!/bin/sh\necho \"$MCPBASH_SERVER_NAME|$MCPBASH_TIMEOUT_HINT\"\n")
        .file(
            "server.d/server.meta.json",
            r#"{"name": "demo", "version": "1.2", "description": "Shows", "websiteUrl": "https://example.com"}"#,
        )
        .file("server.d/server.instructions.md", "Be kind");
    // A server whose environment says something else about it.
    let environment = [
        ("MCPBASH_LOG_LEVEL", "emergency"),
        ("MCPBASH_SERVER_TITLE", "other"),
        ("MCPBASH_TIMEOUT_HINT", "old"),
    ];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    let mut call = |name: &str| {
        let answer = server.ask_past_news(1, "tools/call", &json!({ "name": name }));
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    assert_eq!(call("says"), "demo|Demo|1.2|Shows|https://example.com||Be kind|ask for less|");
    assert_eq!(call("plain"), "demo|");
    // No process can be given such values.
    let description = "x".repeat(200_000);
    project.write(
        "server.d/server.meta.json",
        &json!({ "name": "changed", "title": "a\0b", "description": description }).to_string(),
    );
    assert!(call("says").starts_with("changed||0.0.0||"), "{}", call("says"));
}
