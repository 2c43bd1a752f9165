//! Scripts that ask: the user through forms and pages, the client's model, and for the roots.

use crate::harness::{ONE_AT_A_TIME, Project, Server, code, stateless_meta, wait_until};
use serde_json::{Value, json};

/// A bash tool that prints the output of `body`.
fn tool(body: &str) -> Project {
    Project::new().tool(
        "asks",
        &format!("#!/usr/bin/env bash\nset -uo pipefail\nsource \"${{MCP_SDK:?}}/tool-sdk.sh\"\n{body}\n"),
    )
}

fn session(project: &Project, revision: &str, capabilities: &Value) -> Server {
    session_with(project, &[], revision, capabilities)
}

fn session_with(
    project: &Project,
    environment: &[(&str, &str)],
    revision: &str,
    capabilities: &Value,
) -> Server {
    let environment: Vec<_> =
        [("MCPBASH_LOG_LEVEL", "emergency")].iter().chain(environment).copied().collect();
    let mut server = Server::start_with(project.root(), &environment);
    server.initialize_offering(revision, capabilities);
    server
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

// Shows: elicitation-form
#[test]
fn a_form_is_shown_and_its_answer_reaches_the_script() {
    let project = tool(r#"mcp_elicit_string 'Your "name"?' name"#);
    let mut server = session(&project, "2025-11-25", &json!({ "elicitation": {} }));
    server.call(1, "asks");
    let question = server.receive();
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "Your \"name\"?");
    assert_eq!(question["params"]["mode"], "form");
    assert_eq!(question["params"]["requestedSchema"]["required"], json!(["name"]));
    server.reply(&question, &json!({ "action": "accept", "content": { "name": "Zoë" } }));
    let answer: Value = serde_json::from_str(text(&server.receive())).unwrap();
    assert_eq!(answer, json!({ "action": "accept", "content": { "name": "Zoë" } }));
}

#[test]
fn waiting_for_a_user_does_not_count_against_the_timeout() {
    let project = tool("mcp_elicit_string 'Who?' name").tool("sleeps", "#!/bin/sh\nsleep 1000\n");
    let mut server = session(&project, "2025-11-25", &json!({ "elicitation": {} }));
    let limited = |tool: &str| json!({ "name": tool, "arguments": {}, "timeoutSecs": 4 });
    server.request("asks", "tools/call", &limited("asks"));
    let question = server.receive();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    // Another call with the same limit starts now and times out, so that much time has passed while the
    // question was open.
    let ended = server.ask("sleeps", "tools/call", &limited("sleeps"));
    assert_eq!(ended["result"]["structuredContent"]["error"]["type"], "timeout", "{ended}");
    server.reply(&question, &json!({ "action": "accept", "content": { "name": "Zoë" } }));
    assert!(text(&server.receive()).contains("Zoë"));
}

// Shows: elicitation-form
#[test]
fn every_kind_of_question_is_a_form_the_client_knows() {
    let project = tool(
        r"mcp_elicit_confirm 'Sure?'; echo
mcp_elicit_choice 'Which?' red green; echo
mcp_elicit_titled_choice 'Which?' 'r:Red' 'g:Green'; echo
mcp_elicit_multi_choice 'Which ones?' red green; echo
mcp_elicit_titled_multi_choice 'Which ones?' 'r:Red' 'g:Green'; echo",
    );
    let mut server = session(&project, "2025-11-25", &json!({ "elicitation": { "form": {} } }));
    server.call(1, "asks");
    for _ in 0..5 {
        let question = server.receive();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        server.reply(&question, &json!({ "action": "decline" }));
    }
    let said = server.receive();
    let lines: Vec<&str> = text(&said).lines().collect();
    assert_eq!(lines, [r#"{"action":"decline","content":null}"#; 5]);
}

#[test]
fn older_forms_have_no_mode() {
    let project = tool("mcp_elicit_confirm 'Sure?'");
    let mut server = session(&project, "2025-06-18", &json!({ "elicitation": {} }));
    server.call(1, "asks");
    let question = server.receive();
    assert!(question["params"].get("mode").is_none(), "{question}");
    server.reply(&question, &json!({ "action": "cancel" }));
    assert!(text(&server.receive()).contains("cancel"));
}

// Shows: elicitation-url
#[test]
fn url_questions_go_only_to_clients_that_support_them() {
    let project = tool("mcp_elicit_url 'Please pay' 'https://pay.example/1'");
    let mut server = session(&project, "2025-11-25", &json!({ "elicitation": { "url": {} } }));
    server.call(1, "asks");
    let question = server.receive();
    assert_eq!(question["params"]["mode"], "url");
    assert_eq!(question["params"]["url"], "https://pay.example/1");
    server.reply(&question, &json!({ "action": "accept" }));
    assert_eq!(text(&server.receive()), r#"{"action":"accept","content":null}"#);

    let mut server = session(&project, "2025-11-25", &json!({ "elicitation": { "form": {} } }));
    server.call(1, "asks");
    assert_eq!(text(&server.receive()), r#"{"action":"decline","content":null}"#);
}

/// A script that asks the user without the SDK, in its own spelling, and prints the answer.
fn asks_plainly(params: &str) -> Project {
    tool(&format!(
        r#"python3 - <<'EOT'
import os, socket
with socket.socket(socket.AF_UNIX) as desk:
    desk.connect(os.environ["MCP_ASK_SOCKET"])
    question = r'''{{"method": "elicitation/create", "params": {params}}}'''
    desk.sendall((os.environ["MCP_ASK_KEY"] + "\n" + question + "\n").encode())
    print(desk.makefile().readline().strip())
EOT"#
    ))
}

#[test]
fn a_url_question_is_recognized_in_any_spelling() {
    let page = r#"{ "message": "Pay", "m\u006fde" : "url" , "url": "https://pay.example/1", "elicitationId": "mine" }"#;
    let form = r#"{"mode": "form", "message": "Sure?", "requestedSchema": {"type":"object","properties":{},"default":{"mode":"url"}}}"#;
    let twice = r#"{"mode": "form", "mode": "url", "message": "Sure?", "url": "https://pay.example/1"}"#;
    let odd = r#"{"mode": "telepathy", "message": "Sure?"}"#;
    let (forms, pages) = (json!({ "elicitation": { "form": {} } }), json!({ "elicitation": { "url": {} } }));
    for (params, capabilities, mode) in [(page, &pages, "url"), (form, &forms, "form")] {
        let project = asks_plainly(params);
        let mut server = session(&project, "2025-11-25", capabilities);
        server.call(1, "asks");
        let line = server.receive_line();
        assert_eq!(line.matches("elicitationId").count(), usize::from(mode == "url"), "{line}");
        let question: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(question["params"]["mode"], mode);
        assert_ne!(question["params"]["elicitationId"], "mine");
        server.reply(&question, &json!({ "action": "accept" }));
        assert!(text(&server.receive()).contains("accept"));
    }
    for (params, capabilities) in [(page, &forms), (form, &pages), (odd, &forms), (odd, &pages)] {
        let project = asks_plainly(params);
        let mut server = session(&project, "2025-11-25", capabilities);
        server.call(1, "asks");
        assert!(text(&server.receive()).contains("decline"), "{params}");
    }
    let project = asks_plainly(twice);
    let mut server = session(&project, "2025-11-25", &forms);
    server.call(1, "asks");
    assert!(text(&server.receive()).contains("cannot be read"));
}

#[test]
fn after_the_end_of_input_no_question_is_waited_for() {
    let project = tool(
        r#"for n in 1 2; do mcp_elicit "Question $n?" '{"type":"object","properties":{}}' 300 || echo " status $?"; done
printf '{"message":"Old?"}' >"$MCP_ELICIT_REQUEST_FILE"
while [ ! -f "$MCP_ELICIT_RESPONSE_FILE" ]; do sleep 0.02; done
cat "$MCP_ELICIT_RESPONSE_FILE""#,
    );
    let mut server = session(&project, "2025-11-25", &json!({ "elicitation": {} }));
    server.call(1, "asks");
    assert_eq!(server.receive()["params"]["message"], "Question 1?");
    server.close_input();
    let rest = server.rest();
    assert_eq!(rest.len(), 1, "nothing more is asked: {rest:?}");
    let error = r#"{"action":"error","content":null}"#;
    assert_eq!(text(&rest[0]), format!("{error} status 1\n{error} status 1\n{error}"));
    assert!(server.wait().success());
}

#[test]
fn an_answer_just_before_the_end_of_input_counts() {
    let project = tool("mcp_elicit_confirm 'Sure?'");
    let mut server = session(&project, "2025-11-25", &json!({ "elicitation": {} }));
    server.call(1, "asks");
    let question = server.receive();
    server.reply(&question, &json!({ "action": "accept", "content": { "confirmed": true } }));
    server.close_input();
    assert!(text(&server.rest()[0]).contains("true"));
}

#[test]
fn a_question_that_is_withdrawn_does_not_hold_up_the_next() {
    let project = tool(
        r#"form='{"mode":"form","message":"First?","requestedSchema":{"type":"object","properties":{}}}'
"$MCPBASH_BIN" ask elicitation/create "$form" --timeout 300 & first=$!
read _ <gate
mcp_elicit_string 'Second?' value & second=$!
kill $first; wait $first || true
wait $second"#,
    )
    .gate();
    let mut server = session(&project, "2025-11-25", &json!({ "elicitation": {} }));
    server.call(1, "asks");
    let first = server.receive();
    project.open_gate();
    let withdrawn = server.receive();
    assert_eq!(withdrawn["params"]["requestId"], first["id"], "{withdrawn}");
    let second = server.receive();
    assert_eq!(second["params"]["message"], "Second?");
    server.reply(&second, &json!({ "action": "accept", "content": { "value": "yes" } }));
    assert!(text(&server.receive()).contains("yes"));
}

// Shows: undeclared-unasked
#[test]
fn a_client_without_elicitation_is_not_asked() {
    let project = tool(r#"mcp_elicit_confirm 'Sure?' || echo " supported=$MCP_ELICIT_SUPPORTED""#);
    for revision in ["2025-11-25", "2025-03-26"] {
        let mut server = session(&project, revision, &json!({}));
        server.call(1, "asks");
        assert_eq!(text(&server.receive()), "{\"action\":\"decline\",\"content\":null} supported=0");
    }
}

#[test]
fn a_client_that_offers_forms_is_asked_at_every_revision() {
    let project = tool("mcp_elicit_confirm 'Sure?'");
    for revision in ["2024-11-05", "2025-03-26"] {
        let mut server = session(&project, revision, &json!({ "elicitation": {} }));
        server.call(1, "asks");
        let question = server.receive();
        assert_eq!(
            (&question["method"], question["params"].get("mode")),
            (&json!("elicitation/create"), None)
        );
        server.reply(&question, &json!({ "action": "accept", "content": { "confirmed": true } }));
        assert!(text(&server.receive()).contains("accept"), "{revision}");
    }
}

#[test]
fn a_question_that_is_not_answered_in_time_is_withdrawn() {
    let project = tool(r#"mcp_elicit 'Hello?' '{"type":"object","properties":{}}' 1 || echo " status $?""#);
    let mut server = session(&project, "2025-11-25", &json!({ "elicitation": {} }));
    server.call(1, "asks");
    let question = server.receive();
    let cancelled = server.receive();
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], question["id"]);
    assert_eq!(text(&server.receive()), "{\"action\":\"error\",\"content\":null} status 1");
    // A late answer is harmless.
    server.reply(&question, &json!({ "action": "accept" }));
    server.expect_silence();
}

#[test]
fn a_cancelled_call_withdraws_its_question() {
    let project = tool("mcp_elicit_confirm 'Sure?'");
    let mut server = session_with(&project, &ONE_AT_A_TIME, "2025-11-25", &json!({ "elicitation": {} }));
    server.call(1, "asks");
    let question = server.receive();
    server.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    let cancelled = server.receive();
    assert_eq!(cancelled["params"]["requestId"], question["id"], "{cancelled}");
    server.expect_silence_of_calls();
}

#[test]
fn an_error_of_the_client_is_not_an_answer() {
    let project = tool("mcp_elicit_confirm 'Sure?' || echo ' failed'");
    let mut server = session(&project, "2025-11-25", &json!({ "elicitation": {} }));
    server.call(1, "asks");
    let question = server.receive();
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": { "code": -1, "message": "no" } }));
    assert_eq!(text(&server.receive()), "{\"action\":\"error\",\"content\":null} failed");
}

#[test]
fn questions_of_parallel_children_do_not_get_mixed_up() {
    let project = tool(
        r#"for n in 1 2 3 4; do mcp_elicit_string "question $n" "value" >"$MCPBASH_PROJECT_ROOT/answer.$n" & done; wait
cat "$MCPBASH_PROJECT_ROOT"/answer.*"#,
    );
    let mut server = session(&project, "2025-11-25", &json!({ "elicitation": {} }));
    server.call(1, "asks");
    for _ in 0..4 {
        let question = server.receive();
        let message = question["params"]["message"].clone();
        server.reply(&question, &json!({ "action": "accept", "content": { "value": message } }));
    }
    let said = server.receive();
    for n in 1..=4 {
        assert!(project.read(&format!("answer.{n}")).contains(&format!("question {n}")), "{said}");
    }
}

/// A tool that asks in the older way, through files.
fn tool_that_asks_through_files() -> Project {
    tool(
        r#"printf '{"message":"Old?","schema":{"type":"object","properties":{"x":{"type":"string"}}},"mode":"form"}' >"$MCP_ELICIT_REQUEST_FILE.tmp"
mv "$MCP_ELICIT_REQUEST_FILE.tmp" "$MCP_ELICIT_REQUEST_FILE"
while [ ! -f "$MCP_ELICIT_RESPONSE_FILE" ]; do sleep 0.02; done
cat "$MCP_ELICIT_RESPONSE_FILE""#,
    )
}

fn expect_question_through_files(server: &mut Server, call: u64) {
    server.call(call, "asks");
    let question = server.receive();
    assert_eq!(question["params"]["message"], "Old?", "{question}");
    assert_eq!(question["params"]["requestedSchema"]["properties"]["x"]["type"], "string");
    server.reply(&question, &json!({ "action": "accept", "content": { "x": "y" } }));
    assert_eq!(text(&server.receive()), r#"{"action":"accept","content":{"x":"y"}}"#);
}

#[test]
fn the_older_way_through_files_still_works() {
    let project = tool_that_asks_through_files();
    let mut server = session(&project, "2025-11-25", &json!({ "elicitation": {} }));
    expect_question_through_files(&mut server, 1);
}

#[test]
fn a_user_without_file_watches_is_asked_all_the_same() {
    for limit in ["max_inotify_instances", "max_inotify_watches"] {
        let project = tool_that_asks_through_files();
        let mut command = Server::command_of("unshare");
        let script = format!("echo 0 >/proc/sys/user/{limit} && exec \"$@\"");
        command.args(["--user", "--map-root-user", "sh", "-c", &script, "sh"]);
        command.args([env!("CARGO_BIN_EXE_mcp-bash"), "--project-root"]).arg(project.root());
        command.env("MCPBASH_LOG_LEVEL", "emergency");
        let mut server = Server::spawn(command);
        server.initialize_offering("2025-11-25", &json!({ "elicitation": {} }));
        // The second call starts when nothing is polled any more.
        for call in [1, 2] {
            expect_question_through_files(&mut server, call);
        }
        server.finish();
    }
}

#[test]
fn a_program_in_another_language_asks_through_the_socket() {
    let project = tool(
        r#"python3 - <<'EOT'
import json, os, socket
with socket.socket(socket.AF_UNIX) as desk:
    desk.connect(os.environ["MCP_ASK_SOCKET"])
    question = {"method": "sampling/createMessage", "params": {"messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}], "maxTokens": 5}}
    desk.sendall((os.environ["MCP_ASK_KEY"] + "\n" + json.dumps(question) + "\n").encode())
    print(json.loads(desk.makefile().readline())["result"]["content"]["text"])
EOT"#,
    );
    let mut server = session(&project, "2025-11-25", &json!({ "sampling": {} }));
    server.call(1, "asks");
    let question = server.receive();
    assert_eq!(question["method"], "sampling/createMessage");
    server.reply(
        &question,
        &json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "Hello." } }),
    );
    assert_eq!(text(&server.receive()), "Hello.");
}

// Shows: sampling
#[test]
fn the_clients_model_can_be_asked() {
    let project = tool(r#"mcp_sample 'Summarise "this"' --system 'Be brief' --max-tokens 20"#);
    let mut server = session(&project, "2025-11-25", &json!({ "sampling": {} }));
    server.call(1, "asks");
    let question = server.receive();
    assert_eq!(question["params"]["messages"][0]["content"]["text"], "Summarise \"this\"");
    assert_eq!(question["params"]["systemPrompt"], "Be brief");
    assert_eq!(question["params"]["maxTokens"], 20);
    let result =
        json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "Short." } });
    server.reply(&question, &result);
    let said: Value = serde_json::from_str(text(&server.receive())).unwrap();
    assert_eq!(said["content"]["text"], "Short.");

    let mut server = session(&project, "2025-11-25", &json!({ "elicitation": {} }));
    server.call(1, "asks");
    assert_eq!(server.receive()["result"]["isError"], true);
}

fn stateless_call(server: &mut Server, id: u32, extra: &Value) -> Value {
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": { "form": {} } });
    let mut params = json!({ "name": "asks", "arguments": { "n": 1 }, "_meta": meta });
    for (name, value) in extra.as_object().unwrap() {
        params[name] = value.clone();
    }
    server.ask(id, "tools/call", &params)
}

// Shows: input-required
#[test]
fn without_sessions_the_same_process_continues_with_the_answer() {
    let project = tool(
        r#"first=$(mcp_elicit_string 'First?' value); second=$(mcp_elicit_string 'Second?' value)
echo "$$ $first $second"; echo $$ >"$MCPBASH_PROJECT_ROOT/pid""#,
    );
    let mut server = Server::start(project.root());
    let asked = stateless_call(&mut server, 1, &json!({}));
    let result = &asked["result"];
    assert_eq!(result["resultType"], "input_required", "{asked}");
    assert_eq!(result["inputRequests"]["question"]["method"], "elicitation/create");
    assert_eq!(result["inputRequests"]["question"]["params"]["message"], "First?");
    let word = result["requestState"].clone();

    // Without the answer the question is asked again, with a new state.
    let again = stateless_call(&mut server, 2, &json!({ "requestState": word, "inputResponses": {} }));
    assert_eq!(again["result"]["inputRequests"]["question"]["params"]["message"], "First?");
    let used = stateless_call(&mut server, 3, &json!({ "requestState": word, "inputResponses": {} }));
    assert_eq!(code(&used), -32602, "a word is good once");

    let answer = |text: &str| json!({ "question": { "action": "accept", "content": { "value": text } } });
    let word = again["result"]["requestState"].clone();
    let second =
        stateless_call(&mut server, 4, &json!({ "requestState": word, "inputResponses": answer("one") }));
    assert_eq!(second["result"]["inputRequests"]["question"]["params"]["message"], "Second?", "{second}");
    let word = second["result"]["requestState"].clone();
    let done =
        stateless_call(&mut server, 5, &json!({ "requestState": word, "inputResponses": answer("two") }));
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    let said = text(&done);
    assert!(said.contains("one") && said.contains("two"), "{said}");
    assert!(said.starts_with(project.read("pid").trim()), "{said}");
}

// Shows: state-hostile
#[test]
fn the_returned_state_is_not_trusted() {
    let project = tool("mcp_elicit_confirm 'Sure?'");
    let mut server = Server::start(project.root());
    for forged in [json!("forged"), json!("")] {
        let refused = stateless_call(&mut server, 1, &json!({ "requestState": forged }));
        assert_eq!(code(&refused), -32602, "{refused}");
    }
    assert_eq!(code(&stateless_call(&mut server, 2, &json!({ "requestState": 7 }))), -32602);
    let asked = stateless_call(&mut server, 3, &json!({}));
    let word = asked["result"]["requestState"].clone();
    let other = json!({ "requestState": word, "arguments": { "n": 2 },
        "inputResponses": { "question": { "action": "accept" } } });
    assert_eq!(code(&stateless_call(&mut server, 4, &other)), -32602, "another call");
}

#[test]
fn a_result_waits_for_a_late_answer() {
    let project =
        tool(r#"mcp_elicit 'Hello?' '{"type":"object","properties":{}}' 1 || true; echo; echo done"#)
            .tool("hi", "#!/bin/sh\necho hi\n");
    let mut server = Server::start_with(project.root(), &ONE_AT_A_TIME);
    let asked = stateless_call(&mut server, 1, &json!({}));
    let word = asked["result"]["requestState"].clone();
    // The next call starts when the script has given up and exited.
    let next = server.ask("next", "tools/call", &json!({ "name": "hi", "_meta": stateless_meta() }));
    assert_eq!(text(&next), "hi");
    let answers = json!({ "question": { "action": "accept", "content": {} } });
    let late = stateless_call(&mut server, 2, &json!({ "requestState": word, "inputResponses": answers }));
    assert!(text(&late).ends_with("done"), "{late}");
}

// Shows: roots
#[test]
fn roots_come_from_the_client_and_follow_its_changes() {
    let project = tool(r#"mcp_roots_list; echo; mcp_roots_count; echo; echo "$MCP_ROOTS_JSON""#)
        .file("a b/x", "")
        .file("c/x", "");
    let root = |path: &str| format!("file://{}", project.path(path).display()).replace(' ', "%20");
    let mut server = session(&project, "2025-11-25", &json!({ "roots": { "listChanged": true } }));
    let asked = server.receive();
    assert_eq!(asked["method"], "roots/list");
    let listed = json!({ "roots": [{ "uri": root("a b"), "name": "A" }, { "uri": root("nowhere") },
        { "uri": "https://example.com/" }] });
    server.reply(&asked, &listed);
    server.call(1, "asks");
    let answer = server.receive();
    let path = |path: &str| project.path(path).canonicalize().unwrap().display().to_string();
    let lines: Vec<&str> = text(&answer).lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines[..2], [&*path("a b"), "1"]);
    let json: Value = serde_json::from_str(lines[2]).unwrap();
    assert_eq!(
        json,
        json!([{ "uri": root("a b").replace(&project.path("a b").display().to_string().replace(' ', "%20"), &path("a b").replace(' ', "%20")), "name": "A", "path": path("a b") }])
    );

    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" });
    server.send_together(&vec![changed; 5]);
    let asked = server.receive();
    assert_eq!(asked["method"], "roots/list");
    server.reply(&asked, &json!({ "roots": [{ "uri": root("c") }] }));
    wait_until("the new roots", || {
        server.call("again", "asks");
        let answer = server.receive();
        text(&answer).starts_with(&path("c")).then_some(())
    });
}

#[test]
fn without_roots_from_the_client_the_projects_roots_apply() {
    let script = "mcp_roots_list";
    let folder =
        |project: &Project, path: &str| project.path(path).canonicalize().unwrap().display().to_string();
    let project = tool(script);
    let mut server = session(&project, "2025-11-25", &json!({}));
    server.call(1, "asks");
    assert_eq!(text(&server.receive()).trim(), folder(&project, ""), "the project itself");

    let project = tool(script)
        .file(
            "config/roots.json",
            r#"{"roots": [{"path": "./data", "name": "Data"}, {"path": "./missing"}]}"#,
        )
        .file("data/x", "")
        .file("other/x", "");
    let mut server = session(&project, "2025-11-25", &json!({}));
    server.call(1, "asks");
    assert_eq!(text(&server.receive()).trim(), folder(&project, "data"));

    let mut server = Server::start_with(project.root(), &[("MCPBASH_ROOTS", "other:data")]);
    server.initialize("2025-11-25");
    server.call(1, "asks");
    let expected = format!("{}\n{}", folder(&project, "other"), folder(&project, "data"));
    assert_eq!(text(&server.receive()).trim(), expected);

    let mut command = Server::command();
    command.arg("--project-root").arg(project.root()).args(["--roots", "data,other"]);
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    server.call(1, "asks");
    let expected = format!("{}\n{}", folder(&project, "data"), folder(&project, "other"));
    assert_eq!(text(&server.receive()).trim(), expected, "the flag");

    // An invalid setting opens nothing.
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_ROOTS", "nowhere")], "2025-11-25");
    server.call(1, "asks");
    let mut answer = server.receive();
    while answer["id"] != 1 {
        answer = server.receive();
    }
    assert_eq!(text(&answer).trim(), "");
    assert!(server.finish().contains("MCPBASH_ROOTS (or --roots) names nowhere"));
}

// Shows: roots-respected
#[test]
fn paths_outside_the_roots_are_refused() {
    let project = tool(
        r#"cd "$MCPBASH_PROJECT_ROOT"
for path in inside/x inside/../outside inside/link/passwd /etc/passwd inside/new; do
	if mcp_roots_contains "$MCPBASH_PROJECT_ROOT/${path#"$MCPBASH_PROJECT_ROOT"/}"; then echo "yes $path"; else echo "no $path"; fi
done
mcp_roots_contains /etc/passwd && echo "yes /etc/passwd" || echo "no /etc/passwd""#,
    )
    .file("inside/x", "")
    .file("outside", "");
    std::os::unix::fs::symlink("/etc", project.path("inside/link")).unwrap();
    let mut server = Server::start_with(project.root(), &[("MCPBASH_ROOTS", "inside")]);
    server.initialize("2025-11-25");
    server.call(1, "asks");
    let answer = server.receive();
    let lines: Vec<&str> = text(&answer).lines().collect();
    assert_eq!(lines[..3], ["yes inside/x", "no inside/../outside", "no inside/link/passwd"]);
    assert_eq!(lines[5], "no /etc/passwd");
    assert_eq!(lines[4], "yes inside/new");
}
