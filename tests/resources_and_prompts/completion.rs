//! Completion: from scripts, from schemas, from the files of the project.

use crate::harness::{Project, Server, code, stateless_meta};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

fn prompt(name: &str, argument: &str, value: &str) -> Value {
    json!({ "ref": { "type": "ref/prompt", "name": name }, "argument": { "name": argument, "value": value } })
}

fn resource(uri: &str, argument: &str, value: &str) -> Value {
    json!({ "ref": { "type": "ref/resource", "uri": uri }, "argument": { "name": argument, "value": value } })
}

/// The answer to `completion/complete`.
fn complete(server: &mut Server, params: &Value) -> Value {
    let answer = server.ask("complete", "completion/complete", params);
    assert!(answer["result"]["completion"].is_object(), "{answer}");
    answer["result"]["completion"].clone()
}

fn values(server: &mut Server, params: &Value) -> Value {
    complete(server, params)["values"].clone()
}

fn refusal(server: &mut Server, params: &Value) -> (i64, String) {
    let answer = server.ask("refused", "completion/complete", params);
    (code(&answer), answer["error"]["message"].as_str().unwrap().to_owned())
}

fn registered(completions: &str) -> Project {
    Project::new()
        .file("server.d/register.json", &format!(r#"{{"version": 1, "completions": {completions}}}"#))
}

// Shows: capabilities-true
#[test]
fn the_capability_is_declared_if_the_revision_has_it() {
    let project = Project::new()
        .file("prompts/p.txt", "{{a}}")
        .file("prompts/p.meta.json", r#"{"arguments": {"properties": {"a": {"enum": ["x"]}}}}"#);
    for (revision, told) in
        [("2024-11-05", None), ("2025-03-26", Some(json!({}))), ("2025-11-25", Some(json!({})))]
    {
        let mut server = Server::start(project.root());
        let hello = server.initialize(revision);
        assert_eq!(hello["capabilities"].get("completions").cloned(), told, "{revision}");
        assert_eq!(values(&mut server, &prompt("p", "a", "")), json!(["x"]), "{revision}");
    }
    let mut server = Server::start(project.root());
    let mut params = prompt("p", "a", "");
    params["_meta"] = stateless_meta();
    let answer = server.ask(1, "completion/complete", &params);
    assert_eq!(answer["result"]["completion"], json!({ "values": ["x"], "total": 1, "hasMore": false }));
}

#[test]
fn the_values_of_a_schema_need_no_script() {
    let project = Project::new()
        .file("prompts/p.txt", "x")
        .file(
            "prompts/p.meta.json",
            r#"{"arguments": {"properties": {
                "language": {"enum": ["python", "PyPy", "rust"]}, "free": {"type": "string"},
                "example": {"examples": ["one", "two"]}, "flag": {"type": "boolean"},
                "file": {"format": "path"}, "folder": {"format": "directory"}}}}"#,
        )
        .file("prompts/list.txt", "x")
        .file("prompts/list.meta.json", r#"{"arguments": [{"name": "size", "enum": ["small", "large"]}]}"#)
        .file("src/main.sh", "")
        .file("src/more/deep.sh", "")
        .file(".env", "");
    let mut server = Server::ready(project.root());
    let mut ask = |argument: &str, value: &str| values(&mut server, &prompt("p", argument, value));
    assert_eq!(ask("language", "py"), json!(["python", "PyPy"]));
    assert_eq!(ask("language", ""), json!(["python", "PyPy", "rust"]));
    assert_eq!(ask("language", "x"), json!([]));
    assert_eq!(ask("free", "x"), json!([]));
    assert_eq!(ask("example", "t"), json!(["two"]));
    assert_eq!(ask("flag", "t"), json!(["true"]));
    assert_eq!(ask("file", "src/m"), json!(["src/main.sh", "src/more/"]));
    assert_eq!(ask("folder", "src/"), json!(["src/more/"]));
    assert_eq!(ask("file", "../"), json!([]));
    assert_eq!(ask("file", "/etc/"), json!([]));
    assert_eq!(values(&mut server, &prompt("list", "size", "s")), json!(["small"]));
}

// Shows: completion-limit
#[test]
fn at_most_a_hundred_values_come_at_once_and_a_cursor_leads_to_the_rest() {
    let all: Vec<String> = (0..250).map(|number| format!("v{number:03}")).collect();
    let metadata = json!({ "arguments": { "properties": { "a": { "enum": all } } } });
    let project =
        Project::new().file("prompts/p.txt", "x").file("prompts/p.meta.json", &metadata.to_string());
    let mut server = Server::ready(project.root());
    let (mut seen, mut params, mut pages) = (Vec::new(), prompt("p", "a", "v"), 0);
    loop {
        let page = complete(&mut server, &params);
        assert_eq!(page["total"], 250);
        let values = page["values"].as_array().unwrap();
        assert!(values.len() <= 100);
        seen.extend(values.iter().map(|value| value.as_str().unwrap().to_owned()));
        pages += 1;
        assert_eq!(page["hasMore"], page["nextCursor"].is_string());
        if page["hasMore"] == false {
            break;
        }
        params["cursor"] = page["nextCursor"].clone();
    }
    assert_eq!((pages, seen), (3, all));
    let mut few = prompt("p", "a", "v");
    few["limit"] = json!(2);
    assert_eq!(values(&mut server, &few), json!(["v000", "v001"]));
    for limit in [json!(0), json!("x"), json!(-1)] {
        few["limit"] = limit;
        assert_eq!(refusal(&mut server, &few).0, -32602);
    }
    let mut wrong = prompt("p", "a", "v");
    wrong["cursor"] = json!("nonsense");
    assert_eq!(refusal(&mut server, &wrong).0, -32602);
}

// Shows: completion-context
#[test]
fn a_registered_script_receives_all_context_and_its_answer_is_sent() {
    let project = registered(
        r#"[{"name": "told", "path": "completions/told.sh", "timeoutSecs": 5},
            {"name": "file:///logs/{service}.log", "path": "completions/told.sh"}]"#,
    )
    .script(
        "completions/told.sh",
        "#!/bin/sh\nread -r input\n[ \"$input\" = \"$MCP_COMPLETION_ARGS_JSON\" ] || exit 9\n\
         printf '%s\\n' \"$MCP_COMPLETION_NAME\" \"$MCP_COMPLETION_LIMIT\" \"$MCP_COMPLETION_OFFSET\" \
         \"${#MCP_COMPLETION_ARGS_HASH}\" \"$PWD\" \"$MCP_COMPLETION_ARGS_JSON\"\n",
    );
    let mut server = Server::ready(project.root());
    let mut params = prompt("told", "query", "re$(id)\"");
    params["context"] = json!({ "arguments": { "other": "known" } });
    params["limit"] = json!(7);
    let told = values(&mut server, &params);
    let root = project.root().canonicalize().unwrap();
    assert_eq!(told[0], "told");
    assert_eq!((&told[1], &told[2], &told[3]), (&json!("7"), &json!("0"), &json!("64")));
    assert_eq!(told[4], root.to_str().unwrap());
    let arguments: Value = serde_json::from_str(told[5].as_str().unwrap()).unwrap();
    let expected = json!({
        "query": "re$(id)\"", "prefix": "re$(id)\"",
        "argument": { "name": "query", "value": "re$(id)\"" },
        "context": { "arguments": { "other": "known" } },
        "ref": { "type": "ref/prompt", "name": "told" },
    });
    assert_eq!(arguments, expected);
    let told = values(&mut server, &resource("file:///logs/{service}.log", "service", "a"));
    assert_eq!(told[0], "file:///logs/{service}.log");
}

#[test]
fn scripts_find_the_json_tool() {
    let project = registered(r#"[{"name": "a", "path": "completions/a.sh"}]"#).script(
        "completions/a.sh",
        "#!/bin/sh\nprintf '%s' \"$MCP_COMPLETION_ARGS_JSON\" | \"$MCPBASH_JSON_TOOL_BIN\" -c '[.query, .argument.name]'\n",
    );
    let mut server = Server::ready(project.root());
    assert_eq!(values(&mut server, &prompt("a", "x", "typed")), json!(["typed", "x"]));
}

#[test]
fn a_script_controls_its_own_pages() {
    let project = registered(
        r#"[{"name": "counting", "path": "completions/counting.sh"}, {"name": "marking", "path": "completions/marking.sh"},
            {"name": "all", "path": "completions/all.sh"}]"#,
    )
    .script(
        "completions/counting.sh",
        "#!/bin/sh\n[ \"$MCP_COMPLETION_OFFSET\" = 0 ] && echo '{\"suggestions\": [\"a\"], \"hasMore\": true, \"next\": 40}' \
         || echo \"[\\\"from $MCP_COMPLETION_OFFSET\\\"]\"\n",
    )
    .script(
        "completions/marking.sh",
        "#!/bin/sh\n[ -z \"$MCP_COMPLETION_CURSOR\" ] && echo '{\"suggestions\": [\"a\"], \"cursor\": \"opaque\"}' \
         || echo \"[\\\"after $MCP_COMPLETION_CURSOR\\\"]\"\n",
    )
    .script("completions/all.sh", "#!/bin/sh\necho '[\"a\",\"b\",\"c\"]'\n");
    let mut server = Server::ready(project.root());
    let mut follow = |name: &str, limit: usize| {
        let mut params = prompt(name, "x", "");
        params["limit"] = json!(limit);
        let first = complete(&mut server, &params);
        assert_eq!(first["hasMore"], true, "{first}");
        params["cursor"] = first["nextCursor"].clone();
        (first, complete(&mut server, &params))
    };
    assert_eq!(follow("counting", 5).1["values"], json!(["from 40"]));
    let (first, second) = follow("marking", 5);
    assert_eq!((&first["nextCursor"], &second["values"]), (&json!("opaque"), &json!(["after opaque"])));
    let (first, second) = follow("all", 2);
    assert_eq!((&first["values"], &first["total"]), (&json!(["a", "b"]), &json!(3)));
    assert_eq!((&second["values"], &second["hasMore"]), (&json!(["c"]), &json!(false)));
    // A cursor of one completion is invalid for another.
    let mut foreign = prompt("all", "x", "");
    foreign["cursor"] = follow("counting", 5).0["nextCursor"].clone();
    assert_eq!(refusal(&mut server, &foreign).0, -32602);
}

#[test]
fn a_script_beside_its_prompt_completes_it() {
    let project = Project::new()
        .file("prompts/p.txt", "{{a}}")
        .file("prompts/p.meta.json", r#"{"arguments": [{"name": "a", "enum": ["not asked"]}]}"#)
        .file("prompts/chat.meta.json", r#"{"messages": [{"content": "Hi"}]}"#)
        .script("prompts/chat.completion", "#!/bin/sh\necho chatting\n")
        .script(
            "prompts/p.completion.sh",
            "#!/bin/sh\nprintf '%s\\n' \"$MCP_PROMPT_REL_PATH\" \"$MCP_PROMPT_PATH\" \"$MCP_PROMPT_METADATA\"\n",
        );
    let mut server = Server::ready(project.root());
    let told = values(&mut server, &prompt("p", "a", ""));
    assert_eq!(told[0], "p.txt");
    assert!(told[1].as_str().unwrap().ends_with("/prompts/p.txt"));
    let metadata: Value = serde_json::from_str(told[2].as_str().unwrap()).unwrap();
    assert_eq!(metadata["name"], "p");
    assert_eq!(values(&mut server, &prompt("chat", "anything", "")), json!(["chatting"]));
}

#[test]
fn scripts_that_fail_time_out_or_are_not_trusted_are_named() {
    let project = registered(
        r#"[{"name": "fails", "path": "completions/fails.sh"}, {"name": "slow", "path": "completions/slow.sh", "timeoutSecs": 1},
            {"name": "open", "path": "completions/open.sh"}, {"name": "wrong", "path": "completions/wrong.sh"},
            {"name": "text", "path": "completions/text.sh"}]"#,
    )
    .script("completions/text.sh", "#!/bin/sh\necho '{\"suggestions\": \"a\"}'\n")
    .script("completions/fails.sh", "#!/bin/sh\necho oh no >&2\nexit 4\n")
    .script("completions/slow.sh", "#!/bin/sh\nsleep 1000\n")
    .script("completions/open.sh", "#!/bin/sh\ntouch \"$MCPBASH_PROJECT_ROOT/ran\"\n")
    .script("completions/wrong.sh", "#!/bin/sh\necho '[1, 2]'\n");
    let everyone = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(project.path("completions/open.sh"), everyone).unwrap();
    let mut server = Server::ready(project.root());
    for (name, number, problem) in [
        ("fails", -32603, "The completion of 'fails' failed (exit 4) and printed: oh no"),
        ("slow", -32603, "timed out after 1 s"),
        ("open", -32602, "run `chmod go-w` on it"),
        ("wrong", -32603, "must print strings as its suggestions, and printed: [1, 2]"),
        ("text", -32603, "must print strings as its suggestions, and printed: {\"suggestions\": \"a\"}"),
    ] {
        let (found, message) = refusal(&mut server, &prompt(name, "x", ""));
        assert_eq!(found, number, "{message}");
        assert!(message.contains(problem), "{problem} in {message}");
    }
    assert!(!project.path("ran").exists());
}

// Shows: completion-unknown
#[test]
fn unknown_references_are_refused() {
    let project = Project::new()
        .file("prompts/p.txt", "{{a}}")
        .file("prompts/p.meta.json", r#"{"arguments": [{"name": "a"}]}"#);
    let mut server = Server::ready(project.root());
    let cases = [
        (prompt("gone", "a", ""), "Unknown prompt: gone"),
        (prompt("p", "b", ""), "no argument `b`; it has `a`"),
        (resource("file:///gone", "a", ""), "Unknown resource: file:///gone"),
        (
            json!({ "ref": { "type": "ref/tool", "name": "p" }, "argument": { "name": "a", "value": "" } }),
            "ref/prompt",
        ),
        (
            json!({ "ref": { "type": "ref/prompt" }, "argument": { "name": "a", "value": "" } }),
            "`name` is missing",
        ),
        (json!({ "argument": { "name": "a", "value": "" } }), "`ref` is missing"),
        (json!({ "ref": { "type": "ref/prompt", "name": "p" } }), "`argument` is missing"),
        (prompt("p", "", ""), "`argument.name` is missing"),
        (
            json!({ "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": 5 } }),
            "`value`",
        ),
    ];
    for (params, problem) in cases {
        let (number, message) = refusal(&mut server, &params);
        assert_eq!(number, -32602, "{params}");
        assert!(message.contains(problem), "{problem} in {message}");
    }
}

#[test]
fn registrations_are_strict_and_hooks_register_too() {
    for (entry, problem) in [
        (r#"{"path": "completions/a.sh"}"#, "`name` is missing"),
        (r#"{"name": "a"}"#, "`path` is missing"),
        (r#"{"name": "a", "path": "completions/gone.sh"}"#, "no file"),
        (r#"{"name": "a", "path": "/bin/sh"}"#, "below the project"),
    ] {
        let project = registered(&format!("[{entry}]"))
            .script("completions/a.sh", "#!/bin/sh\n")
            .file("prompts/p.txt", "");
        let mut server = Server::ready(project.root());
        let (number, message) = refusal(&mut server, &prompt("a", "x", ""));
        assert_eq!(number, -32603, "{message}");
        assert!(message.contains("completions[0]") && message.contains(problem), "{problem} in {message}");
    }
    let project = Project::new().script("completions/a.sh", "#!/bin/sh\necho hooked\n").script(
        "server.d/register.sh",
        "mcp_completion_manual_begin\n\
         mcp_completion_register_manual '{\"name\": \"a\", \"path\": \"completions/a.sh\", \"timeoutSecs\": 5}'\n\
         mcp_completion_manual_finalize\n",
    );
    let environment = [("MCPBASH_ALLOW_PROJECT_HOOKS", "true")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    assert_eq!(values(&mut server, &prompt("a", "x", "")), json!(["hooked"]));
}

#[test]
fn the_schema_answers_if_a_script_offers_nothing() {
    let all: Vec<String> = (0..150).map(|number| format!("v{number:03}")).collect();
    let metadata = json!({ "arguments": { "properties": {
        "fixed": { "enum": all }, "free": { "type": "string" }, "of_script": { "enum": ["never"] } } } });
    let script = r#"#!/bin/sh
case $MCP_COMPLETION_ARGS_JSON in
*'"name":"of_script"'*) echo '["of the script"]' ;;
*'"name":"fixed"'*) [ "$MCP_COMPLETION_LIMIT" = 7 ] && echo '[]' ;;
esac
exit 0
"#;
    let project = Project::new()
        .file("prompts/p.txt", "x")
        .file("prompts/p.meta.json", &metadata.to_string())
        .script("prompts/p.completion.sh", script);
    let mut server = Server::ready(project.root());
    assert_eq!(values(&mut server, &prompt("p", "of_script", "")), json!(["of the script"]));
    assert_eq!(values(&mut server, &prompt("p", "free", "")), json!([]));
    assert_eq!(values(&mut server, &prompt("p", "unknown", "")), json!([]));
    assert_eq!(values(&mut server, &prompt("p", "fixed", "v00")), json!(all[..10]));
    let mut limited = prompt("p", "fixed", "");
    limited["limit"] = json!(7);
    assert_eq!(values(&mut server, &limited), json!(all[..7]), "an empty list");
    let mut params = prompt("p", "fixed", "");
    let first = complete(&mut server, &params);
    assert_eq!((&first["values"], &first["total"]), (&json!(all[..100]), &json!(150)));
    params["cursor"] = first["nextCursor"].clone();
    assert_eq!(complete(&mut server, &params)["values"], json!(all[100..]));
}
