//! A launcher that is a command of the project. Here it runs a shell on the same machine, with nothing of the server's
//! environment: what arrives has crossed.

use crate::harness::{Project, Server};
use serde_json::{Value, json};

/// Starts a shell without any variable, in another folder.
pub(super) fn elsewhere() -> Value {
    json!({ "run": ["env", "-i", "-C", "/", "PATH=/usr/bin:/bin", "TMPDIR=/tmp", "{command}"] })
}

/// A project whose tool `there` runs by a launcher.
pub(super) fn project(script: &str, launcher: &Value) -> Project {
    project_with(script, launcher, &json!({}))
}

/// The same with more metadata.
pub(super) fn project_with(script: &str, launcher: &Value, more: &Value) -> Project {
    let mut metadata = json!({ "name": "there", "description": "Runs elsewhere.", "launcher": launcher });
    for (key, value) in more.as_object().unwrap() {
        metadata[key] = value.clone();
    }
    Project::new()
        .script("tools/there/tool.sh", script)
        .file("tools/there/tool.meta.json", &metadata.to_string())
}

/// The answer to a call of that tool.
pub(super) fn call(project: &Project, arguments: &Value) -> Value {
    let mut server = Server::ready(project.root());
    server.ask_past_news(1, "tools/call", &json!({ "name": "there", "arguments": arguments }))["result"]
        .clone()
}

pub(super) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}"))
}

/// What a script with the SDK begins with.
pub(super) const SDK: &str = "#!/usr/bin/env bash\nset -euo pipefail\nsource \"${MCP_SDK:?}/tool-sdk.sh\"\n";

#[test]
fn arguments_standard_input_and_output_cross() {
    let script = format!("{SDK}mcp_args_get '.text'\necho\ncat\n");
    let project = project(&script, &elsewhere());
    let said = "spaces, 'quotes', \"double\", $(id), `id`, \\, *\nand a line; é";
    let result = call(&project, &json!({ "text": said }));
    let input = json!({ "text": said }).to_string();
    assert_eq!(text(&result), format!("{said}\n{input}"), "{result}");
}

#[test]
fn words_and_variables_of_a_mapping_cross_as_they_are() {
    let script = "#!/bin/sh\nprintf '[%s]' \"$@\" \"$WHO\"\n";
    let metadata = json!({ "argv": ["{one}", "{two}"], "env": { "WHO": "{who}" } });
    let project = project_with(script, &elsewhere(), &metadata);
    let result = call(&project, &json!({ "one": "a b; $(id)", "two": "it's\nthis", "who": "*'\"" }));
    assert_eq!(text(&result), "[a b; $(id)][it's\nthis][*'\"]");
}

#[test]
fn a_program_without_a_script_is_found_there() {
    let project = Project::new().file(
        "tools/there.meta.json",
        &json!({
            "name": "there",
            "command": ["only-there", "{word}"],
            "launcher": { "run": ["env", "PATH=/usr/bin:/bin:/tmp/none", "sh", "-c", "only_there=1; export only_there; exec \"$@\"", "sh", "{command}"] },
        })
        .to_string(),
    );
    let result = call(&project, &json!({ "word": "x" }));
    assert_eq!(result["isError"], true);
    assert_eq!(result["_meta"]["exitCode"], 127, "{result}");
}

#[test]
fn a_megabyte_of_arguments_crosses() {
    let script = format!("{SDK}mcp_args_get '.text | length'\necho\nwc -c\n");
    let project = project(&script, &elsewhere());
    let result = call(&project, &json!({ "text": "x".repeat(1 << 20) }));
    assert_eq!(text(&result), format!("{}\n{}", 1 << 20, (1 << 20) + 11), "{result}");
}

#[test]
fn output_crosses_byte_for_byte_and_standard_error_is_not_mixed_with_it() {
    let script =
        "#!/bin/sh\nprintf 'no end of line' >&2\nhead -c 300000 /dev/zero | tr '\\0' 'é'\nprintf done\n";
    let project = project(script, &elsewhere());
    let said = call(&project, &json!({}));
    assert!(text(&said).ends_with("done"), "{said}");
    let failing = project_with(
        "#!/bin/sh\necho out\necho 'one line' >&2\nprintf two >&2\nexit 3\n",
        &elsewhere(),
        &json!({}),
    );
    let result = call(&failing, &json!({}));
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(result["_meta"]["exitCode"], 3, "{result}");
    assert!(result.to_string().contains("one line\\ntwo"), "{result}");
}

#[test]
fn the_folder_of_the_tool_and_the_library_are_carried_and_nothing_else() {
    let script = "#!/bin/sh\ncd \"$MCPBASH_PROJECT_ROOT\" && find . -type f | sort && cat tools/there/data.txt && ./lib/own\n";
    let project = project_with(script, &json!({ "run": elsewhere()["run"], "carry": ["extra"] }), &json!({}))
        .file("tools/there/data.txt", "data\n")
        .script("lib/own", "#!/bin/sh\necho library\n")
        .file("extra/more.txt", "")
        .script("tools/other/tool.sh", "#!/bin/sh\n")
        .file("server.d/secret.txt", "");
    let result = call(&project, &json!({}));
    let expected = "./extra/more.txt\n./lib/own\n./tools/there/data.txt\n./tools/there/tool.meta.json\n\
                    ./tools/there/tool.sh\ndata\nlibrary";
    assert_eq!(text(&result), expected, "{result}");
}

#[test]
fn files_that_are_there_are_not_carried() {
    let launcher = json!({ "run": elsewhere()["run"], "files": "there" });
    let project = project("#!/bin/sh\npwd\necho \"$0\"\n", &launcher);
    let result = call(&project, &json!({}));
    let root = project.root().canonicalize().unwrap();
    let script = root.join("tools/there/tool.sh");
    assert_eq!(text(&result), format!("{}\n{}", root.display(), script.display()), "{result}");
}

#[test]
fn nothing_is_left_in_the_folder_for_temporary_files() {
    let folder = tempfile::tempdir().unwrap();
    let launcher = json!({ "run": elsewhere()["run"], "temporary": folder.path() });
    let project = project("#!/bin/sh\necho \"$MCP_CANCEL_FILE\"\n", &launcher);
    let result = call(&project, &json!({}));
    assert!(text(&result).starts_with(folder.path().to_str().unwrap()), "{result}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[test]
fn variables_of_the_server_stay_here_and_declared_ones_cross() {
    let script = "#!/bin/sh\necho \"${HERE_ONLY-none} ${WANTED-none} ${HOME-none}\"\n";
    let project = project_with(script, &elsewhere(), &json!({ "env": ["WANTED"] }));
    let environment = [("HERE_ONLY", "x"), ("WANTED", "it's 'wanted'")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    let answer = server.ask_past_news(1, "tools/call", &json!({ "name": "there", "arguments": {} }));
    assert_eq!(text(&answer["result"]), "none it's 'wanted' none", "{answer}");
}

#[test]
fn progress_and_logs_arrive_while_the_tool_runs() {
    let script =
        format!("{SDK}mcp_progress 40 'almost'\nmcp_log_info here 'a message'\ncat >/dev/null\necho done\n");
    let project = project(&script, &elsewhere());
    let mut server = Server::start_with(project.root(), &[]);
    server.initialize("2025-11-25");
    let params = json!({ "name": "there", "arguments": {}, "_meta": { "progressToken": "p" } });
    server.request(1, "tools/call", &params);
    let mut seen = Vec::new();
    loop {
        let message = server.receive();
        if message.get("id").is_some() {
            assert_eq!(text(&message["result"]), "done", "{message}");
            break;
        }
        seen.push(message);
    }
    let has = |method: &str, word: &str| {
        seen.iter().any(|message| message["method"] == method && message.to_string().contains(word))
    };
    assert!(has("notifications/progress", "almost"), "{seen:?}");
    assert!(has("notifications/message", "a message"), "{seen:?}");
}

#[test]
fn a_question_reaches_the_user_and_its_answer_the_tool() {
    let script = format!("{SDK}mcp_elicit_string 'Your \"name\"?' name\n");
    let project = project(&script, &elsewhere());
    let mut server = Server::start_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")]);
    server.initialize_offering("2025-11-25", &json!({ "elicitation": {} }));
    server.call(1, "there");
    let question = server.receive();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    assert_eq!(question["params"]["message"], "Your \"name\"?");
    server.reply(&question, &json!({ "action": "accept", "content": { "name": "Zoë\n'x'" } }));
    let answer = server.receive();
    let said: Value = serde_json::from_str(text(&answer["result"])).unwrap();
    assert_eq!(said, json!({ "action": "accept", "content": { "name": "Zoë\n'x'" } }));
}

#[test]
fn a_long_message_is_not_torn_by_standard_error() {
    let script = format!(
        "{SDK}long=$(head -c 3500 /dev/zero | tr '\\0' x)\nfor n in 1 2 3 4 5; do mcp_log_info here \"$n $long end\"; echo noise >&2; done\nexit 3\n"
    );
    let project = project(&script, &elsewhere());
    let mut server = Server::start_with(project.root(), &[]);
    server.initialize("2025-11-25");
    server.call(1, "there");
    let mut whole = 0;
    loop {
        let message = server.receive();
        if message.get("id").is_some() {
            assert!(message.to_string().contains("noise\\nnoise\\nnoise\\nnoise\\nnoise"), "{message}");
            break;
        }
        let text = message.to_string();
        whole +=
            usize::from(text.contains(&"x".repeat(3500)) && text.contains(" end") && !text.contains("noise"));
    }
    assert_eq!(whole, 5);
}

#[test]
fn an_error_of_the_tool_itself_crosses() {
    let script = format!("{SDK}mcp_fail_invalid_args 'no such thing'\n");
    let project = project(&script, &elsewhere());
    let mut server = Server::ready(project.root());
    let answer = server.ask_past_news(1, "tools/call", &json!({ "name": "there", "arguments": {} }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(answer["error"]["message"], "no such thing", "{answer}");
}

#[test]
fn failures_name_the_launcher_and_the_host_and_a_success_has_no_meta() {
    let node = std::process::Command::new("uname").arg("-n").output().unwrap();
    let node = String::from_utf8(node.stdout).unwrap();
    let works = project("#!/bin/sh\necho hi\n", &elsewhere());
    let fails = project("#!/bin/sh\necho hi\nexit 3\n", &elsewhere());
    for (project, environment) in [(&fails, vec![]), (&works, vec![("MCPBASH_RESULT_META_ALWAYS", "true")])] {
        let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
        let params = json!({ "name": "there", "arguments": {} });
        let result = server.ask_past_news(1, "tools/call", &params)["result"].clone();
        let launcher = &result["_meta"]["mcpbash/launcher"];
        assert_eq!(launcher["name"], "custom", "{result}");
        assert_eq!(launcher["node"], node.trim(), "{result}");
    }
    // Agents that show the model a result with `_meta` as JSON show it the text of this one.
    let result = call(&works, &json!({}));
    assert!(result.get("_meta").is_none() && text(&result) == "hi", "{result}");
}

#[test]
fn a_launcher_of_the_project_is_used_by_name_and_by_default() {
    let config = json!({ "launchers": { "near": elsewhere() }, "launcher": "near" });
    let project = Project::new()
        .file("server.d/server.meta.json", &config.to_string())
        .tool("by_default", "#!/bin/sh\necho \"${HOME-none}\"\n")
        .script("tools/here/tool.sh", "#!/bin/sh\necho \"${HOME-none}\"\n")
        .file("tools/here/tool.meta.json", r#"{"name": "here", "launcher": "here"}"#);
    let mut server = Server::ready(project.root());
    let answer = server.ask_past_news(1, "tools/call", &json!({ "name": "by_default", "arguments": {} }));
    assert_eq!(text(&answer["result"]), "none", "{answer}");
    let answer = server.ask_past_news(2, "tools/call", &json!({ "name": "here", "arguments": {} }));
    assert_ne!(text(&answer["result"]), "none", "{answer}");
}
