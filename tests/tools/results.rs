//! The output of a tool becomes a result.

use crate::harness::{Project, Server, code, stateless_meta};
use serde_json::{Value, json};

/// The result of a tool with this script.
fn result_of(script: &str) -> Value {
    answer_to(script, "2025-11-25")["result"].clone()
}

fn answer_to(script: &str, revision: &str) -> Value {
    let project = Project::new().tool("tool", &format!("#!/bin/sh\n{script}\n"));
    let mut server = Server::ready_with(project.root(), &[], revision);
    server.call(1, "tool");
    server.receive()
}

#[test]
fn text_stays_text() {
    let result = result_of("printf 'two\\nlines\\n\\n'");
    assert_eq!(result["content"], json!([{ "type": "text", "text": "two\nlines\n" }]));
    assert_eq!((&result["isError"], result.get("_meta")), (&json!(false), None));
    assert!(result.get("structuredContent").is_none());
    assert_eq!(result_of("echo '5'").get("structuredContent"), None);
    assert_eq!(result_of("echo '{broken'")["content"][0]["text"], "{broken");
    assert_eq!(result_of(":")["content"][0]["text"], "");
}

#[test]
fn files_left_by_a_script_do_not_reach_the_next_call() {
    let project = Project::new()
        .tool(
            "leaver",
            "#!/bin/sh\necho stale >$MCP_TOOL_ERROR_FILE; echo stale >$MCP_CANCEL_FILE; mkdir $MCP_TOOL_RESOURCES_FILE\n",
        )
        .tool(
            "finder",
            "#!/bin/sh\nfor file in $MCP_TOOL_ERROR_FILE $MCP_CANCEL_FILE $MCP_TOOL_RESOURCES_FILE; do [ ! -e $file ] || echo $file; done\n",
        );
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "error")], "2025-11-25");
    for _ in 0..3 {
        for tool in ["leaver", "finder"] {
            let result = server.ask(1, "tools/call", &json!({ "name": tool }));
            assert_eq!(result["result"]["content"][0]["text"], "", "{tool}");
        }
    }
}

// Shows: tools-structured-text
#[test]
fn an_object_is_structured_content_as_well_and_keeps_its_numbers() {
    let project = Project::new()
        .tool("tool", "#!/bin/sh\nprintf '{ \"z\": 1.10,\\n  \"a\": 12345678901234567890123 }\\n'\n");
    let mut server = Server::ready(project.root());
    server.call(1, "tool");
    let line = server.receive_line();
    assert!(line.contains(r#""structuredContent":{"z":1.10,"a":12345678901234567890123}"#), "{line}");
    assert!(line.contains(r#""text":"{ \"z\": 1.10,\n  \"a\""#), "{line}");

    for old in ["2024-11-05", "2025-03-26"] {
        let old = answer_to("echo '{\"a\": 1}'", old)["result"].clone();
        assert_eq!(old["structuredContent"], json!({ "a": 1 }), "{old}");
        assert_eq!(old["content"][0]["text"], r#"{"a": 1}"#);
    }
}

#[test]
fn a_whole_result_passes_through_with_our_meta_added() {
    let result = result_of(
        r#"cat <<'END'
{ "content": [ {"type": "text", "text": "a"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"},
               {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
               {"type": "resource_link", "uri": "file:///x", "name": "x"} ],
  "structuredContent": {"n": {"deep": [1, {}]}},
  "isError": true,
  "_meta": {"com.example/a": {"b": {}}, "exitCode": 99} }
END
echo note >&2"#,
    );
    assert_eq!(result["content"].as_array().unwrap().len(), 5);
    // Beside images and files, the structured content is sent as text.
    assert_eq!(result["content"][4], json!({ "type": "text", "text": r#"{"n":{"deep":[1,{}]}}"# }));
    assert_eq!(result.get("structuredContent"), None);
    assert_eq!(result["isError"], true);
    assert_eq!(result["_meta"], json!({ "com.example/a": { "b": {} }, "stderr": "note" }));
}

#[test]
fn only_failures_carry_the_exit_status() {
    let quiet = result_of("echo hi; echo note >&2");
    assert_eq!(quiet.get("_meta"), None, "{quiet}");
    let failed = result_of("echo partial; echo 'disk full' >&2; exit 3");
    assert_eq!(
        (&failed["content"][0]["text"], &failed["_meta"]),
        (&json!("disk full"), &json!({ "exitCode": 3 }))
    );
    let own = result_of(
        r#"echo why >&2; echo '{"content":[{"type":"text","text":"told"}],"isError":true}'; exit 4"#,
    );
    assert_eq!(own["_meta"], json!({ "exitCode": 4, "stderr": "why" }));

    let project = Project::new().tool("tool", "#!/bin/sh\necho hi; echo note >&2\n");
    let always = [("MCPBASH_RESULT_META_ALWAYS", "true")];
    let mut server = Server::ready_with(project.root(), &always, "2025-11-25");
    server.call(1, "tool");
    assert_eq!(server.receive()["result"]["_meta"], json!({ "exitCode": 0, "stderr": "note" }));
}

#[test]
fn structured_content_is_sent_beside_files_only_with_an_output_schema() {
    let script = r#"#!/bin/bash
source "$MCP_SDK/tool-sdk.sh"
echo data >"$MCPBASH_PROJECT_ROOT/a.txt"
mcp_result_text_with_resource '{"rows": 1}' --path "$MCPBASH_PROJECT_ROOT/a.txt"
"#;
    let project = Project::new()
        .tool("plain", script)
        .script("tools/promised/tool.sh", script)
        .file("tools/promised/tool.meta.json", r#"{"name": "promised", "outputSchema": {"type": "object"}}"#);
    let mut server = Server::ready(project.root());
    for (tool, is_structured) in [("plain", false), ("promised", true)] {
        server.call(tool, tool);
        let result = server.receive()["result"].clone();
        let said = json!({ "success": true, "result": { "rows": 1 } });
        assert_eq!(result.get("structuredContent"), is_structured.then_some(&said), "{result}");
        let content = result["content"].as_array().unwrap();
        assert_eq!(content.len(), 2, "{result}");
        let text: Value = serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap();
        assert_eq!((&text, &content[1]["resource"]["text"]), (&said, &json!("data\n")), "{result}");
    }
}

// Shows: tools-content
#[test]
fn older_revisions_get_text_for_unsupported_content() {
    let script = r#"echo '{"content":[{"type":"audio","data":"AAAA","mimeType":"audio/wav"},{"type":"resource_link","uri":"file:///x","name":"x"}],"isError":false}'"#;
    let kinds = |revision| {
        let content = answer_to(script, revision)["result"]["content"].clone();
        content
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["type"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds("2024-11-05"), ["text", "text"]);
    assert_eq!(kinds("2025-03-26"), ["audio", "text"]);
    assert_eq!(kinds("2025-06-18"), ["audio", "resource_link"]);
}

#[test]
fn a_whole_result_of_a_failing_script_is_an_error() {
    let result = result_of(r#"echo '{"content":[{"type":"text","text":"why"}]}'; exit 3"#);
    assert_eq!((&result["isError"], &result["content"][0]["text"]), (&json!(true), &json!("why")));
    assert_eq!(result["_meta"]["exitCode"], 3);
}

#[test]
fn a_script_can_report_an_error() {
    let newest = "2025-11-25";
    let answer = answer_to(
        r#"printf '{"code": -32602, "message": "no such city", "data": {"city": "Atlantis"}}' >"$MCP_TOOL_ERROR_FILE"; exit 1"#,
        newest,
    );
    assert_eq!(
        answer["error"],
        json!({ "code": -32602, "message": "no such city", "data": { "city": "Atlantis" } })
    );
    let printed = answer_to(r#"echo '{"code": -32001, "message": "printed"}'; exit 1"#, newest);
    assert_eq!(printed["error"], json!({ "code": -32001, "message": "printed" }));
    let rubbish = answer_to(r#"echo rubbish >"$MCP_TOOL_ERROR_FILE"; exit 1"#, newest);
    assert_eq!((code(&rubbish), &rubbish["error"]["data"]), (-32603, &json!("rubbish")));
    let unharmed = answer_to(r#"echo '{"code": 5, "message": "only data"}'"#, newest);
    assert_eq!(unharmed["result"]["structuredContent"]["message"], "only data");
}

#[test]
fn files_that_a_script_names_are_embedded_if_they_are_in_the_project() {
    let project = Project::new()
        .file("data/note.md", "# hi\n")
        .file("data/with space.txt", "s")
        .tool(
            "json",
            r#"#!/bin/sh
printf '\000\377' >data/blob.bin
cat >"$MCP_TOOL_RESOURCES_FILE" <<END
["data/note.md", {"path": "$PWD/data/blob.bin", "uri": "my://blob", "mimeType": "application/x"}, "/etc/passwd", "../outside", "gone", 5]
END
echo done
"#,
        )
        .tool(
            "tabs",
            "#!/bin/sh\nprintf 'data/with space.txt\\ttext/x-odd\\tmy://odd\\n\\ndata/with space.txt\\n' >\"$MCP_TOOL_RESOURCES_FILE\"\n",
        );
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "warning")], "2025-11-25");
    server.call(1, "json");
    let mut answer = server.receive();
    while answer.get("id").is_none() {
        answer = server.receive();
    }
    let content = answer["result"]["content"].clone();
    assert_eq!(content[0]["text"], "done");
    assert_eq!(content[1]["resource"]["text"], "# hi\n");
    assert_eq!(content[1]["resource"]["mimeType"], "text/markdown");
    assert_eq!(
        content[2]["resource"],
        json!({ "uri": "my://blob", "mimeType": "application/x", "blob": "AP8=" })
    );
    let left_out = content[3]["text"].as_str().unwrap();
    assert!(left_out.contains("the file /etc/passwd is left out: it is outside the project"), "{content}");
    assert_eq!((left_out.lines().count(), content.as_array().unwrap().len()), (3, 4), "{content}");
    server.call(2, "tabs");
    let content = server.receive()["result"]["content"].clone();
    assert_eq!(content[1]["resource"], json!({ "uri": "my://odd", "mimeType": "text/x-odd", "text": "s" }));
    assert!(content[2]["resource"]["uri"].as_str().unwrap().ends_with("/data/with%20space.txt"), "{content}");
    let stderr = server.finish();
    let kind = "files that a tool named for its result are left out";
    assert!(stderr.contains(kind) && stderr.contains(r#""problems":3"#), "{stderr}");
    assert!(!stderr.contains("passwd"), "what a script names is for its caller: {stderr}");
}

#[test]
fn a_script_runs_in_the_project_with_the_documented_variables() {
    let project = Project::new().tool("env", "#!/bin/sh\npwd\nenv | sort\n");
    let environment =
        [("MCPBASH_REMOTE_TOKEN_KEY", "k"), ("SECRET_THING", "hidden"), ("MCPBASH_OWN", "shown")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    server.call(1, "env");
    let answer = server.receive();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    let root = project.root().canonicalize().unwrap();
    assert_eq!(text.lines().next().unwrap(), root.to_str().unwrap());
    for expected in [
        "MCP_TOOL_NAME=env",
        "MCP_TOOL_ARGS_JSON={}",
        "MCP_TOOL_META_JSON={}",
        "MCPBASH_OWN=shown",
        "PATH=",
        "MCP_TOOL_ERROR_FILE=/",
        "MCP_TOOL_RESOURCES_FILE=/",
        "\"path\":\"env/tool.sh\"",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    for hidden in ["SECRET_THING", "REMOTE_TOKEN"] {
        assert!(!text.contains(hidden), "{hidden} in {text}");
    }
}

#[test]
fn the_environment_has_three_modes_and_a_gate() {
    let project = Project::new().tool("env", "#!/bin/sh\necho \"${ONE:-} ${TWO:-}\"\n");
    let see = |settings: &[(&str, &str)]| {
        let environment: Vec<_> = [("ONE", "1"), ("TWO", "2")].iter().chain(settings).copied().collect();
        let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
        server.call(1, "env");
        let text = server.receive()["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        (text, server.finish())
    };
    assert_eq!(see(&[]).0, " ");
    let listed = [("MCPBASH_TOOL_ENV_MODE", "allowlist"), ("MCPBASH_TOOL_ENV_ALLOWLIST", "TWO, THREE")];
    assert_eq!(see(&listed).0, " 2");
    let inherited = [("MCPBASH_TOOL_ENV_MODE", "inherit"), ("MCPBASH_TOOL_ENV_INHERIT_ALLOW", "true")];
    assert_eq!(see(&inherited).0, "1 2");
}

#[test]
fn a_bare_path_is_extended_by_the_login_shell_or_by_a_setting() {
    let project = Project::new()
        .tool("path", "#!/bin/sh\necho \"$PATH\"\n")
        .script("login-shell", "#!/bin/sh\necho noise of a profile\nPATH=/opt/mine/bin:$PATH\nexport PATH\nshift\nexec /bin/sh \"$@\"\n");
    let shell = project.path("login-shell");
    let see = |settings: &[(&str, &str)], wanted: &str| {
        let mut environment = vec![("SHELL", shell.to_str().unwrap()), ("PATH", "/usr/bin:/bin")];
        environment.extend(settings);
        crate::harness::wait_until(&format!("the path {wanted}"), || {
            // A server runs the login shell once. That fails with `ETXTBSY` while another test, about to
            // start a process, still holds the file open for writing. Then the next server is tried.
            let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
            let mut is_seen = || {
                server.call("call", "path");
                server.receive()["result"]["content"][0]["text"] == wanted
            };
            (0..100).any(|_| is_seen()).then_some(())
        });
    };
    see(&[], "/usr/bin:/bin:/opt/mine/bin");
    see(&[("MCPBASH_PATH", "/bin:/usr/bin:/set")], "/bin:/usr/bin:/set");
    see(&[("PATH", "/usr/bin:/bin:/usr/local/own")], "/usr/bin:/bin:/usr/local/own");
    let mut command = Server::command();
    command.arg("--health").current_dir(project.root()).env("SHELL", &shell).env("PATH", "/usr/bin:/bin");
    let report: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    assert_eq!(
        (&report["path"], &report["pathSource"]),
        (&json!("/usr/bin:/bin:/opt/mine/bin"), &json!("login shell"))
    );
}

#[test]
fn a_script_without_the_executable_bit_runs_by_its_shebang() {
    let project = Project::new()
        .file("tools/plain/tool.sh", "#!/usr/bin/env bash\necho \"bash ${BASH_VERSION:+yes} $0\"\n")
        .file("tools/plain/tool.meta.json", r#"{"name": "plain"}"#)
        .file("tools/flagged/tool.sh", "#!/bin/sh -e\nfalse\necho never\n")
        .file("tools/flagged/tool.meta.json", r#"{"name": "flagged"}"#);
    let mut server = Server::ready(project.root());
    server.call(1, "plain");
    let script = project.path("tools/plain/tool.sh");
    assert_eq!(server.receive()["result"]["content"][0]["text"], format!("bash yes {}", script.display()));
    server.call(2, "flagged");
    assert_eq!(server.receive()["result"]["_meta"]["exitCode"], 1);
}

#[test]
fn long_output_is_cut_in_the_middle_and_kept_in_full() {
    let project = Project::new()
        .tool("long", "#!/bin/sh\nseq 1 20000\n")
        .tool("fails", "#!/bin/sh\nseq 1 20000\nexit 3\n")
        .tool("too-long", "#!/bin/sh\nseq 1 200000\n");
    let limits = [("MCPBASH_MAX_RESULT_TEXT_BYTES", "1000"), ("MCPBASH_MAX_TOOL_OUTPUT_SIZE", "200000")];
    let mut server = Server::ready_with(project.root(), &limits, "2025-11-25");
    let whole = (1..=20000).map(|number| number.to_string()).collect::<Vec<_>>().join("\n");
    for tool in ["long", "fails"] {
        server.call(tool, tool);
        let result = server.receive()["result"].clone();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("1\n2\n3\n") && text.trim_end().ends_with("\n19999\n20000"), "{text}");
        assert!(text.len() < 1300 && text.contains("bytes are left out here, 197"), "{text}");
        assert!(text.contains(" of 20000 lines; "), "{text}");
        assert_eq!(result["content"][1], Value::Null, "frameworks pass a link on as a file");
        let at = &result["content"][0]["_meta"]["mcpbash/wholeText"];
        assert!(text.contains(at["uri"].as_str().unwrap()));
        assert_eq!(at["size"], whole.len());
        let read = server.ask("read", "resources/read", &json!({ "uri": at["uri"] }));
        let kept = read["result"]["contents"][0]["text"].as_str().unwrap();
        assert_eq!(kept.trim_end(), whole);
    }
    server.call("too-long", "too-long");
    let error = server.receive();
    assert_eq!(code(&error), -32603);
    assert!(error["error"]["message"].as_str().unwrap().contains("MCPBASH_MAX_TOOL_OUTPUT_SIZE"));

    let unlimited = [("MCPBASH_MAX_RESULT_TEXT_BYTES", "0")];
    let mut server = Server::ready_with(project.root(), &unlimited, "2025-11-25");
    server.call(1, "long");
    assert_eq!(server.receive()["result"]["content"][0]["text"], whole);
}

#[test]
fn no_member_of_a_result_occurs_twice() {
    let meta = r#"{"io.modelcontextprotocol/serverInfo":{"name":"evil"},"io.modelcontextprotocol\/serverInfo":1,"exitCode":7,"\u0065xitCode":8,"stderr":"x","own":1,"own":2}"#;
    let whole = format!(
        r#"{{"content":[{{"type":"text","text":"t"}}],"structuredContent":{{}},"isError":false,"resultType":"evil","ttlMs":1,"_meta":{meta}}}"#
    );
    let prompt =
        format!(r#"{{"messages":[{{"role":"user","content":"t"}}],"resultType":"evil","_meta":{meta}}}"#);
    let script =
        |printed: &str| format!("#!/bin/sh\n# mcp: {{}}\necho oops >&2\ncat <<'EOT'\n{printed}\nEOT\n");
    let project = Project::new().tool("whole", &script(&whole)).script("prompts/whole.sh", &script(&prompt));
    let mut server = Server::start(project.root());
    for method in ["tools/call", "prompts/get"] {
        server.request(method, method, &json!({ "name": "whole", "_meta": stateless_meta() }));
        let line = server.receive_line();
        let answer: Value = serde_json::from_str(&line).unwrap();
        let meta = &answer["result"]["_meta"];
        assert!(meta["io.modelcontextprotocol/serverInfo"]["version"].is_string(), "{line}");
        assert_eq!(meta["own"], 2, "{line}");
        for name in
            ["serverInfo\"", "own\"", "resultType\"", "content\":[", "isError\"", "xitCode\"", "_meta\""]
        {
            assert!(line.matches(name).count() <= 1, "{name} in {line}");
        }
        assert!(!line.contains("evil"), "{line}");
    }
    server.request(1, "tools/call", &json!({ "name": "whole", "_meta": stateless_meta() }));
    let answer = server.receive();
    assert_eq!(
        (answer["result"]["_meta"].get("exitCode"), answer["result"]["_meta"].get("stderr")),
        (None, None)
    );
}

#[test]
fn a_tool_runs_in_the_folder_from_its_metadata() {
    let here = |cwd: &str| format!("{{\"description\": \"Where it is\", \"cwd\": \"{cwd}\"}}");
    let project = Project::new()
        .script("tools/plain/tool.sh", "#!/bin/sh\npwd -P\n")
        .script("tools/own/tool.sh", "#!/bin/sh\npwd -P\n")
        .file("tools/own/tool.meta.json", &here("tool"))
        .script("tools/below/tool.sh", "#!/bin/sh\npwd -P\n")
        .file("tools/below/tool.meta.json", &here("data"))
        .script("tools/outside/tool.sh", "#!/bin/sh\npwd -P\n")
        .file("tools/outside/tool.meta.json", &here("../elsewhere"));
    let mut server = Server::ready(project.root());
    let mut run = |name: &str| server.ask(name, "tools/call", &json!({ "name": name }));
    let root = project.root().canonicalize().unwrap();
    let text =
        |answer: &Value| answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    assert_eq!(text(&run("plain")), root.to_str().unwrap());
    assert_eq!(text(&run("own")), root.join("tools/own").to_str().unwrap());
    let missing = run("below");
    assert_eq!(missing["result"]["isError"], true, "{missing}");
    assert!(text(&missing).contains("runs in the folder data, which is not there"), "{missing}");
    std::fs::create_dir(project.path("data")).unwrap();
    assert_eq!(text(&run("below")), root.join("data").to_str().unwrap());
    // A path out of the project makes the tool invalid.
    assert_eq!(code(&run("outside")), -32602);
}

/// Strict clients refuse lone surrogates, which JSON can write as escapes, so they are replaced.
#[test]
fn lone_surrogates_in_a_result_are_replaced() {
    let whole = r#"{"content":[{"type":"text","text":"a\ud83db \ud83d\ude00"}],"structuredContent":{"\ud83d":"\udc00"},"_meta":{"k":"\ud83d"}}"#;
    let result = result_of(&format!("cat <<'EOF'\n{whole}\nEOF"));
    assert_eq!(result["content"][0]["text"], "a\u{fffd}b \u{1f600}", "{result}");
    assert_eq!(result["structuredContent"], json!({ "\u{fffd}": "\u{fffd}" }));
    assert_eq!(result["_meta"]["k"], "\u{fffd}");
    let other = result_of("cat <<'EOF'\n{\"a\":\"\\ud83d\"}\nEOF");
    assert_eq!(other["structuredContent"], json!({ "a": "\u{fffd}" }), "{other}");
    // Output that is not JSON stays unchanged.
    assert_eq!(result_of("printf '%s' '\\ud83d {'")["content"][0]["text"], "\\ud83d {");
    let error = answer_to(
        "printf '%s' '{\"code\":-32001,\"message\":\"a\\ud83d\",\"data\":\"\\ud83d\"}' >\"$MCP_TOOL_ERROR_FILE\"; exit 1",
        "2025-11-25",
    );
    assert_eq!(error["error"], json!({ "code": -32001, "message": "a\u{fffd}", "data": "\u{fffd}" }));
    let project = Project::new()
        .tool("says", "#!/bin/sh\nprintf '%s\\n' '{\"method\":\"notifications/message\",\"params\":{\"level\":\"error\",\"data\":\"\\ud83d!\"}}' >\"$MCP_LOG_STREAM\"\n")
        .script("tools/odd/tool.sh", "#!/bin/sh\n")
        .file("tools/odd/tool.meta.json", r#"{"description":"a\ud83d","annotations":{"title":"\ud83d"}}"#)
        .script("prompts/p/prompt.sh", "#!/bin/sh\nprintf '%s' '[{\"role\":\"user\",\"content\":\"\\ud83d\"}]'\n")
        .file("prompts/p/prompt.meta.json", r#"{"name": "p"}"#);
    let mut server = Server::ready_with(project.root(), &[], "2025-11-25");
    server.call(1, "says");
    assert_eq!(server.receive()["params"]["data"], "\u{fffd}!");
    assert_eq!(server.receive()["id"], 1);
    let listed = server.ask(2, "tools/list", &json!({}));
    let odd = listed["result"]["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "odd");
    assert_eq!(odd.unwrap()["annotations"]["title"], "\u{fffd}", "{listed}");
    let prompt = server.ask(3, "prompts/get", &json!({ "name": "p" }));
    assert_eq!(prompt["result"]["messages"][0]["content"]["text"], "\u{fffd}", "{prompt}");
}

#[test]
fn a_result_whose_content_no_client_can_read_is_refused() {
    for (item, problem) in [
        (r#"{"type":"weird","text":1}"#, "as its `type`"),
        (r#"{"type":"text","text":1}"#, "lacks the text `text`"),
        (r#""text""#, "is no object"),
        (r#"{"type":"resource","resource":{"uri":"a:b"}}"#, "lacks `text` or `blob`"),
    ] {
        let prints = format!("printf '%s' '{{\"content\":[{item}]}}'");
        let answer = answer_to(&prints, "2025-11-25");
        assert_eq!(code(&answer), -32603, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(problem), "{item}: {answer}");
        // Everything in a failed result is sent as text.
        let failed = result_of(&format!("{prints}; exit 1"));
        assert_eq!(
            (&failed["isError"], &failed["content"][0]["type"]),
            (&json!(true), &json!("text")),
            "{failed}"
        );
        assert!(failed["content"][0]["text"].as_str().unwrap().contains(item), "{failed}");
    }
}

#[test]
fn files_under_the_roots_and_in_the_folder_of_the_call_are_embedded() {
    let elsewhere = Project::new().file("shared/in.txt", "in\n").file("sharedx/beside.txt", "no\n");
    std::os::unix::fs::symlink("/etc/hostname", elsewhere.path("shared/link")).unwrap();
    let project = Project::new().tool(
        "embeds",
        r#"#!/bin/sh
own=$(dirname "$MCP_TOOL_RESOURCES_FILE")/made.txt
echo made >"$own"
printf '%s\n' "$OUTSIDE/shared/in.txt" "$own" "$OUTSIDE/sharedx/beside.txt" "$OUTSIDE/shared/link" >"$MCP_TOOL_RESOURCES_FILE"
echo done
"#,
    );
    let outside = elsewhere.root().display().to_string();
    let roots = format!("{outside}/shared");
    let environment = [
        ("MCPBASH_LOG_LEVEL", "emergency"),
        ("MCPBASH_TOOL_ENV_ALLOWLIST", "OUTSIDE"),
        ("OUTSIDE", &*outside),
        ("MCPBASH_ROOTS", &*roots),
    ];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    let answer = server.ask(1, "tools/call", &json!({ "name": "embeds" }));
    let content = answer["result"]["content"].as_array().unwrap();
    let texts: Vec<&Value> =
        content.iter().map(|item| item["resource"].get("text").unwrap_or(&item["text"])).collect();
    assert_eq!(texts[..3], ["done", "in\n", "made\n"], "{answer}");
    let left_out: Vec<&str> = texts[3].as_str().unwrap().lines().collect();
    assert!(
        left_out.len() == 2 && left_out[0].contains("/sharedx/beside.txt is left out: it is outside"),
        "{answer}"
    );
    assert!(left_out[1].contains("/shared/link is left out: it is outside"), "a link leads out: {answer}");
}

/// Checks that a result was cut at the default of 100 kB. Returns its text, and where the whole text is.
fn cut_at_the_default(result: &Value) -> (&str, &Value) {
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
    assert!((80_000..105_000).contains(&text.len()), "{} bytes", text.len());
    assert!(text.contains("bytes are left out here"), "it is marked");
    let at = &result["content"][0]["_meta"]["mcpbash/wholeText"];
    assert!(at["uri"].is_string(), "{at}");
    assert!(result.to_string().len() < 250_000, "nothing else is long");
    (text, at)
}

/// A script that prints an object with a long text.
const LONG_OBJECT: &str =
    "#!/bin/sh\nprintf '{\"numbers\":\"'\nseq -s ' ' 1 60000 | tr -d '\\n'\nprintf '\"}'\n";

#[test]
fn results_are_sized_for_a_model_whichever_way_they_are_written() {
    let whole_result = r#"#!/bin/sh
printf '{"content":[{"type":"text","annotations":{"priority":1},"text":"'
seq -s ' ' 1 60000 | tr -d '\n'
printf '"}],"structuredContent":{"numbers":"'
seq -s ' ' 1 60000 | tr -d '\n'
printf '"}}\n'
"#;
    let project = Project::new()
        .tool("lines", "#!/bin/sh\nseq 1 60000\n")
        .tool("result", whole_result)
        .tool("object", LONG_OBJECT);
    let mut server = Server::ready(project.root());
    let mut called = |name: &str| {
        server.call(name, name);
        let result = server.receive()["result"].clone();
        let (text, at) = cut_at_the_default(&result);
        let read = server.ask("read", "resources/read", &json!({ "uri": at["uri"] }));
        let kept = read["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
        (text.to_owned(), kept, result.clone())
    };
    let (text, kept, _) = called("lines");
    assert!(text.starts_with("1\n2\n") && text.ends_with("\n60000"), "{}", &text[..100]);
    assert_eq!(kept.lines().count(), 60_000);
    let (_, kept, result) = called("result");
    assert!(kept.starts_with("1 2 3 ") && kept.ends_with(" 60000"));
    assert_eq!(result["content"][0]["annotations"], json!({ "priority": 1 }));
    // Clients would show the model all of it.
    assert_eq!(result.get("structuredContent"), None);
    let (_, kept, result) = called("object");
    assert!(serde_json::from_str::<Value>(&kept).unwrap()["numbers"].is_string());
    assert_eq!(result.get("structuredContent"), None);
}

#[test]
fn what_an_output_schema_promises_is_sent_whole() {
    let metadata = json!({ "name": "rows", "description": "Rows", "outputSchema": { "type": "object" } });
    let project = Project::new()
        .script("tools/rows/tool.sh", LONG_OBJECT)
        .file("tools/rows/tool.meta.json", &metadata.to_string());
    let mut server = Server::ready(project.root());
    server.call(1, "rows");
    let result = server.receive()["result"].clone();
    assert!(result["structuredContent"]["numbers"].as_str().unwrap().ends_with(" 60000"));
    assert!(result["content"][0]["text"].as_str().unwrap().len() < 105_000);
}
