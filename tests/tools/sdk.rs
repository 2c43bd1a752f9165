//! The bash SDK inside real tools, in real sessions.

use crate::harness::{Project, Server, code};
use serde_json::{Value, json};

/// A bash tool whose script sources the SDK.
fn tool(body: &str) -> Project {
    tool_with(body, &json!({}))
}

fn tool_with(body: &str, schema: &Value) -> Project {
    let metadata = json!({ "name": "try", "inputSchema": { "type": "object", "properties": schema } });
    Project::new()
        .script(
            "tools/try/tool.sh",
            &format!(
                "#!/usr/bin/env bash\nset -euo pipefail\nsource \"${{MCP_SDK:?}}/tool-sdk.sh\"\n{body}\n"
            ),
        )
        .file("tools/try/tool.meta.json", &metadata.to_string())
}

fn call(server: &mut Server, arguments: &Value) -> Value {
    server.request("call", "tools/call", &json!({ "name": "try", "arguments": arguments }));
    loop {
        let message = server.receive();
        if message["id"] == "call" {
            return message;
        }
    }
}

fn run(body: &str, arguments: &Value) -> Value {
    let project = tool(body);
    call(&mut Server::ready(project.root()), arguments)
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn arguments_are_read_by_filters() {
    let body = r#"
name=$(mcp_args_require '.name' 'a name is needed')
count=$(mcp_args_int '.count' --default 3 --min 1 --max 10)
loud=$(mcp_args_bool '.loud' --default false)
second=$(mcp_args_get '.list | map(select(. > 1)) | first')
mcp_emit_text "$name $count $loud $second $(mcp_args_raw)""#;
    let arguments = json!({ "name": "Zoë \"Q\"", "loud": true, "list": [1, 2, 3] });
    let answer = run(body, &arguments);
    assert_eq!(text(&answer), format!("Zoë \"Q\" 3 true 2 {arguments}"));

    let missing = run(body, &json!({}));
    assert_eq!(code(&missing), -32602, "{missing}");
    assert!(missing["error"]["message"].as_str().unwrap().contains("a name is needed"), "{missing}");
    let wrong = run(body, &json!({ "name": "x", "count": 99, "list": [] }));
    assert_eq!(code(&wrong), -32602, "{wrong}");
}

#[test]
fn the_meta_of_a_request_can_be_read() {
    let project = tool(r#"mcp_emit_text "$(mcp_meta_get '.["x/y"].z') $(mcp_meta_raw)""#);
    let mut server = Server::ready(project.root());
    let meta = json!({ "x/y": { "z": 7 } });
    let answer = server.ask(1, "tools/call", &json!({ "name": "try", "arguments": {}, "_meta": meta }));
    assert_eq!(text(&answer), format!("7 {meta}"));
}

#[test]
fn results_have_their_shapes() {
    let answer = run(r#"mcp_result_success '{"a": 1.10}'"#, &json!({}));
    assert_eq!(answer["result"]["structuredContent"]["success"], true, "{answer}");
    assert_eq!(answer["result"]["structuredContent"]["result"], json!({ "a": 1.10 }), "{answer}");
    assert_eq!(answer["result"]["isError"], false);

    let answer = run(r#"mcp_result_error '{"type": "busy", "message": "Try later"}'"#, &json!({}));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(answer["result"]["structuredContent"]["error"]["type"], "busy", "{answer}");

    let answer = run(r#"mcp_error not_found "No such host" --hint "Look again""#, &json!({}));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(answer["result"].to_string().contains("Look again"), "{answer}");

    let answer = run(r#"mcp_emit_json "$(mcp_json_obj name 'a "b"' n 1)""#, &json!({}));
    assert_eq!(answer["result"]["structuredContent"]["name"], "a \"b\"", "{answer}");

    let answer = run(r#"mcp_fail -32001 "Not today" '{"until":"Monday"}'"#, &json!({}));
    assert_eq!((code(&answer), &answer["error"]["message"]), (-32001, &json!("Not today")));
    assert_eq!(answer["error"]["data"], json!({ "until": "Monday" }));
}

#[test]
fn files_become_part_of_a_result() {
    let body = r#"
printf 'report\n' >"$MCPBASH_PROJECT_ROOT/report.txt"
mcp_result_text_with_resource '{"done": true}' --path "$MCPBASH_PROJECT_ROOT/report.txt" --mime text/plain"#;
    let answer = run(body, &json!({}));
    let content = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let resource =
        content.iter().find(|item| item["type"] == "resource").unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(resource["resource"]["text"], "report\n");
}

#[test]
fn progress_and_logs_are_sent_while_it_runs() {
    let project = tool(
        r#"mcp_progress 10 "a \"tenth\""
mcp_log info here '{"at": 1}'
mcp_log_debug here "not for this client"
mcp_progress 100 done 100
mcp_emit_text ok"#,
    );
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "info")], "2025-11-25");
    server.request(1, "tools/call", &json!({ "name": "try", "_meta": { "progressToken": "t" } }));
    let mut heard = Vec::new();
    loop {
        let message = server.receive();
        if message.get("id").is_some() {
            break;
        }
        heard.push(message["params"].clone());
    }
    let progress: Vec<&Value> = heard.iter().filter(|params| params.get("progressToken").is_some()).collect();
    assert_eq!(progress.len(), 2, "{heard:?}");
    assert_eq!(progress[0]["progress"], 10);
    assert_eq!(progress[0]["message"], "a \"tenth\"");
    let logs: Vec<&Value> = heard.iter().filter(|params| params["logger"] == "here").collect();
    assert_eq!(logs.len(), 1, "{heard:?}");
    assert_eq!(logs[0]["data"], json!({ "at": 1 }));
}

#[test]
fn a_helper_in_another_language_reports_progress_too() {
    let project = tool(
        r#"python3 - <<'EOT'
import os
with open(os.environ["MCP_PROGRESS_STREAM"], "a") as stream:
    stream.write('{"method":"notifications/progress","params":{"progress":1}}\n')
EOT
mcp_emit_text ok"#,
    );
    let mut server = Server::ready(project.root());
    server.request(1, "tools/call", &json!({ "name": "try", "_meta": { "progressToken": 5 } }));
    assert_eq!(server.receive()["params"]["progress"], 1);
}

// Shows: progress-rate
#[test]
fn ten_thousand_reports_are_sent_within_the_limit_and_the_last_always() {
    let project = tool(r#"for i in $(seq 10000); do mcp_progress "$i" "" 10000; done; mcp_emit_text ok"#);
    let mut server = Server::ready(project.root());
    server.request(1, "tools/call", &json!({ "name": "try", "_meta": { "progressToken": 5 } }));
    let mut values = Vec::new();
    loop {
        let message = server.receive();
        if message.get("id").is_some() {
            assert_eq!(text(&message), "ok");
            break;
        }
        values.push(message["params"]["progress"].as_u64().unwrap());
    }
    assert_eq!(values[..100], (1..=100).collect::<Vec<_>>(), "a hundred a minute");
    assert!(values[100] > 101, "and no more: {values:?}");
    assert_eq!(values.last(), Some(&10000));
    assert!(values.is_sorted_by(|one, other| one < other));
}

#[test]
fn a_script_can_check_for_cancellation() {
    let project = tool(
        r#"trap 'mcp_is_cancelled && echo yes >"$MCPBASH_PROJECT_ROOT/cancelled"; exit 1' TERM
echo >"$MCPBASH_PROJECT_ROOT/started"
while :; do sleep 0.1; done"#,
    );
    let mut server = Server::ready(project.root());
    server.call(1, "try");
    project.wait_for_file("started");
    server.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    crate::harness::wait_until("the word", || (project.read("cancelled") == "yes\n").then_some(()));
}

#[test]
fn a_script_on_a_machine_without_jq_finds_the_built_in_one() {
    let project = tool(
        r#"printf '{"a":[1,2]}' | PATH=/nowhere:${PATH##*:} jq -c '.a | map(. + 1)'
printf '{"a":1.10}' | "$MCPBASH_JSON_TOOL_BIN" -r .a"#,
    );
    let empty = project.path("empty-path");
    std::fs::create_dir(&empty).unwrap();
    for program in ["bash", "cat", "seq", "sleep", "env"] {
        let found = ["/bin", "/usr/bin"].iter().map(|folder| format!("{folder}/{program}"));
        let found = found.into_iter().find(|path| std::path::Path::new(path).exists()).unwrap();
        std::os::unix::fs::symlink(found, empty.join(program)).unwrap();
    }
    let path = empty.to_str().unwrap().to_owned();
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_PATH", &path)], "2025-11-25");
    assert_eq!(text(&call(&mut server, &json!({}))), "[2,3]\n1.10");
}

#[test]
fn configuration_is_loaded_and_read() {
    let project = tool(
        r#"mcp_config_load --env MY_CONFIG --file "$MCPBASH_PROJECT_ROOT/config.json" --defaults '{"retries": 3}'
mcp_emit_text "$(mcp_config_get '.host') $(mcp_config_get '.retries') $(mcp_config_get '.none' --default fallback)""#,
    )
    .file("config.json", r#"{"host": "example.com"}"#);
    let mut server = Server::ready(project.root());
    assert_eq!(text(&call(&mut server, &json!({}))), "example.com 3 fallback");
}

#[test]
fn downloads_stay_off_the_private_network() {
    let body = r#"
outcome=$(mcp_download_safe --url "https://127.0.0.1/x" --out "$MCPBASH_PROJECT_ROOT/x" --allow 127.0.0.1 || true)
mcp_emit_text "$outcome""#;
    let answer = run(body, &json!({}));
    let outcome: Value = serde_json::from_str(text(&answer)).unwrap();
    assert_eq!(outcome["success"], false);
    assert_eq!(outcome["error"]["type"], "host_blocked", "{outcome}");
}

#[test]
fn every_other_function_works_inside_a_tool() {
    let project = tool(
        r#"mcp_json_escape $'a\t"b"'; echo
mcp_json_arr one 'two "2"'; echo
mcp_json_truncate '[1,2,3,4,5,6,7,8,9,10]' 12; echo
mcp_is_valid_json '{"a":1}' && echo valid
mcp_is_valid_json '{"a":' || echo invalid
mcp_byte_length 'Zoë'; echo
mcp_extract_cli_error '{"error":{"message":"no licence"}}' '' 1; echo
tries=0
flaky() { tries=$((tries + 1)); [ "$tries" -ge 3 ] || return 7; }
mcp_with_retry 5 0.01 -- flaky && echo "after $tries tries"
mcp_path_collapse /a/./b/../c; echo
mcp_path_normalize "$MCPBASH_PROJECT_ROOT/../$(basename "$MCPBASH_PROJECT_ROOT")/new" | sed 's,.*/,,'; echo
mcp_require_path .folder --default-to-single-root | sed 's,.*/,,'; echo
mcp_debug 'for those who look'
mcp_run_with_progress --pattern '([0-9]+)%' --extract match1 --interval 0.02 -- bash -c 'for i in 25 50 100; do echo "$i%" >&2; done; echo ran'"#,
    )
    .file("folder/x", "");
    let mut server = Server::ready(project.root());
    let params = json!({ "name": "try", "arguments": { "folder": project.path("folder") }, "_meta": { "progressToken": 1 } });
    server.request("call", "tools/call", &params);
    let mut progress = Vec::new();
    let answer = loop {
        let message = server.receive();
        if message["id"] == "call" {
            break message;
        }
        progress.extend(message["params"]["progress"].as_u64());
    };
    let said: Vec<&str> = text(&answer).lines().filter(|line| !line.is_empty()).collect();
    let truncated: Value = serde_json::from_str(said[2]).unwrap();
    assert_eq!((&truncated["truncated"], &truncated["total"]), (&json!(true), &json!(10)), "{truncated}");
    assert_eq!(said[..2], [r#""a\t\"b\"""#, r#"["one","two \"2\""]"#]);
    assert_eq!(
        said[3..],
        ["valid", "invalid", "4", "no licence", "after 3 tries", "/a/c", "new", "folder", "ran"]
    );
    assert_eq!(progress.last(), Some(&100), "{progress:?}");

    let outside = call(&mut server, &json!({ "folder": "/etc" }));
    assert_eq!(outside["result"]["isError"], true, "{outside}");
    let refused = run(r#"mcp_fail_invalid_args "from must be before to""#, &json!({}));
    assert_eq!((code(&refused), &refused["error"]["message"]), (-32602, &json!("from must be before to")));
    let blocked = run(
        r#"mcp_download_safe_or_fail --url https://10.0.0.1/x --out "$PWD/x" --allow 10.0.0.1"#,
        &json!({}),
    );
    assert!(blocked.get("error").is_some() || blocked["result"]["isError"] == true, "{blocked}");
}
