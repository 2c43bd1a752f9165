//! `server.d/policy.yaml` and what happens beside a result: progress, log messages, completions, and changes while a user is
//! asked.

use crate::harness::{Project, Server, stateless_meta, wait_until};
use serde_json::{Value, json};
use std::os::unix::fs::chown;

const FILE: &str = "server.d/policy.yaml";

fn rules(rules: &str) -> String {
    format!("version: 1\ndefault: allow\nrules:\n{rules}")
}

fn text(answer: &Value) -> &str {
    let error = answer["error"]["message"].as_str();
    error.or(answer["result"]["content"][0]["text"].as_str()).unwrap_or_else(|| panic!("no text: {answer}"))
}

#[test]
fn progress_and_log_messages_are_redacted_by_patterns() {
    let script = "#!/usr/bin/env bash\nsource \"$MCP_SDK/tool-sdk.sh\"\nmcp_progress 50 'card 1234567812345678'\n\
                  mcp_log_info mine 'card 1234567812345678'\necho done\n";
    let project =
        Project::new().tool("pay", script).file(FILE, &rules("  - {redact: [{pattern: '[0-9]{16}'}]}\n"));
    let mut server = Server::ready(project.root());
    server.ask_past_news(0, "logging/setLevel", &json!({ "level": "debug" }));
    server.request(1, "tools/call", &json!({ "name": "pay", "_meta": { "progressToken": "t" } }));
    let mut told = Vec::new();
    loop {
        let message = server.receive();
        if message["id"] == 1 {
            assert_eq!(text(&message).trim_end(), "done");
            break;
        }
        told.push(message);
    }
    server.finish();
    let progress = told.iter().find(|message| message["method"] == "notifications/progress");
    assert_eq!(progress.expect("progress")["params"]["message"], "card [redacted]");
    let log = told.iter().find(|message| message["params"]["logger"] == "mine").expect("a log message");
    assert!(log.to_string().contains("card [redacted]"), "{log}");
    assert!(told.iter().all(|message| !message.to_string().contains("12345678")), "{told:?}");
}

#[test]
fn completions_are_policed_like_their_prompts() {
    let project = Project::new()
        .file("prompts/ask.txt", "Ask {{city}}")
        .file(
            "prompts/ask.meta.json",
            r#"{"name": "ask", "arguments": [{"name": "city", "enum": ["Bern", "Berlin"]}]}"#,
        )
        .file(FILE, &rules("  - {name: none, when: prompt.name == 'ask', deny: Not this one.}\n"));
    let mut server = Server::ready(project.root());
    let params = json!({ "ref": { "type": "ref/prompt", "name": "ask" }, "argument": { "name": "city", "value": "B" } });
    let refused = server.ask_past_news(1, "completion/complete", &params);
    assert_eq!(text(&refused), "Blocked by policy: Not this one.");
    server.finish();
    project.write(FILE, &rules("  - {redact: [{pattern: 'Berlin'}]}\n"));
    let mut server = Server::ready(project.root());
    let allowed = server.ask_past_news(1, "completion/complete", &params);
    assert_eq!(allowed["result"]["completion"]["values"], json!(["Bern", "[redacted]"]), "{allowed}");
    server.finish();
}

/// A tool that asks for consent, and one that shows which policy is in force.
fn asking(policy: &str) -> Project {
    Project::new()
        .script("tools/wipe/tool.sh", "#!/bin/sh\ntouch ran\necho wiped 1234\n")
        .file("tools/wipe/tool.meta.json", r#"{"name": "wipe", "description": "Wipes", "confirm": true}"#)
        .tool("probe", "#!/bin/sh\necho probed\n")
        .file(FILE, policy)
}

/// Calls `wipe`, changes the policy while the user is asked, and returns the answer after the user has agreed.
fn changed_meanwhile(project: &Project, then: &str) -> Value {
    let mut server = Server::start(project.root());
    server.initialize_offering("2025-11-25", &json!({ "elicitation": {} }));
    server.request("wipe", "tools/call", &json!({ "name": "wipe" }));
    let question = server.receive();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    project.write(FILE, then);
    let mut calls = 0;
    wait_until("the new policy", || {
        calls += 1;
        let probed = server.ask_past_news(calls, "tools/call", &json!({ "name": "probe" }));
        (probed["result"]["isError"] == true).then_some(())
    });
    server.reply(&question, &json!({ "action": "accept", "content": { "consent": "once" } }));
    let answer = loop {
        let message = server.receive();
        if message["id"] == "wipe" {
            break message;
        }
    };
    server.finish();
    answer
}

#[test]
fn the_policy_is_asked_again_after_a_consent() {
    let project = asking(&rules("  - {allow: true}\n"));
    let refused = changed_meanwhile(&project, &rules("  - {name: closed, deny: Closed by now.}\n"));
    assert_eq!(text(&refused), "Blocked by policy: Closed by now.");
    assert!(!project.path("ran").exists(), "it has not run");

    let project = asking(&rules("  - {allow: true}\n"));
    let probe = "  - {when: tool.name == 'probe', deny: no}\n";
    let asks_more = format!("{probe}  - {{confirm: Really?}}\n");
    let refused = changed_meanwhile(&project, &rules(&asks_more));
    assert!(text(&refused).contains("changed while the user was asked"), "{refused}");
    assert!(!project.path("ran").exists(), "nobody agreed to the new question");

    let project = asking(&rules("  - {allow: true}\n"));
    let redacts = format!("{probe}  - {{redact: [{{pattern: '[0-9]{{4}}'}}]}}\n");
    let redacted = changed_meanwhile(&project, &rules(&redacts));
    assert_eq!(text(&redacted).trim_end(), "wiped [redacted]");
}

#[test]
fn the_script_policy_is_asked_again_after_a_consent() {
    const SCRIPT: &str = "server.d/policy.sh";
    let allows = "mcp_tools_policy_check() { true; }\n";
    let refuses = "mcp_tools_policy_check() { mcp_tools_error 403 'Closed by now.'; return 1; }\n";
    for (then, expected) in [(allows, "wiped 1234"), (refuses, "Closed by now."), ("exit 0\n", "policy.sh")] {
        let project = asking(&rules("  - {allow: true}\n")).file(SCRIPT, allows);
        let mut server = Server::start(project.root());
        server.initialize_offering("2025-11-25", &json!({ "elicitation": {} }));
        server.request("wipe", "tools/call", &json!({ "name": "wipe" }));
        let question = server.receive();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        project.write(SCRIPT, then);
        server.reply(&question, &json!({ "action": "accept", "content": { "consent": "once" } }));
        let answer = server.receive();
        assert!(text(&answer).contains(expected), "{expected}: {answer}");
        assert_eq!(project.path("ran").exists(), then == allows, "{answer}");
        server.finish();
    }
}

#[test]
fn the_policy_is_asked_again_after_the_client_has_named_its_folders() {
    let project = Project::new()
        .script("tools/reads/tool.sh", "#!/bin/sh\ntouch ran\necho read\n")
        .file("tools/reads/tool.meta.json", r#"{"name": "reads", "needsRoots": true}"#)
        .tool("probe", "#!/bin/sh\necho probed\n")
        .file(FILE, &rules("  - {allow: true}\n"));
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "roots": {}, "elicitation": {} });
    for (then, expected) in
        [("{deny: Closed by now.}", "Closed by now."), ("{confirm: Really?}", "changed while")]
    {
        let mut server = Server::start(project.root());
        let mut call = |tool: &str, answers: &Value| {
            let mut params = json!({ "name": tool, "_meta": meta });
            params.as_object_mut().unwrap().extend(answers.as_object().unwrap().clone());
            server.ask_past_news("call", "tools/call", &params)
        };
        let asked = call("reads", &json!({}));
        let state = asked["result"]["requestState"].as_str().unwrap_or_else(|| panic!("{asked}"));
        project.write(FILE, &rules(&format!("  - {then}\n")));
        wait_until("the new policy", || {
            let probed = call("probe", &json!({}))["result"].clone();
            (probed["isError"] == true || probed["resultType"] == "input_required").then_some(())
        });
        let answers = json!({ "requestState": state, "inputResponses": { "roots": { "roots": [] } } });
        let refused = call("reads", &answers);
        assert!(text(&refused).contains(expected), "{expected}: {refused}");
        assert!(!project.path("ran").exists(), "it has not run");
        project.write(FILE, &rules("  - {allow: true}\n"));
        server.finish();
    }
}

/// Without a session the client is asked for them only if something looks at them.
#[test]
fn a_rule_about_the_folders_of_the_client_knows_them() {
    let rule = "  - {when: 'roots.exists(root, root == \"/usr\")', deny: Not there.}\n  - {allow: true}\n";
    let project = Project::new().tool("reads", "#!/bin/sh\necho read\n").file(FILE, &rules(rule));
    for (folder, expected) in [("/usr", "Not there."), ("/etc", "read")] {
        let uri = format!("file://{folder}");
        let named = json!({ "roots": [{ "uri": uri }] });
        let mut server = Server::start(project.root());
        server.initialize_offering("2025-11-25", &json!({ "roots": {} }));
        let asked = server.receive();
        server.reply(&asked, &named);
        let answer = server.ask_past_news("call", "tools/call", &json!({ "name": "reads" }));
        assert!(text(&answer).contains(expected), "{folder}: {answer}");
        server.finish();

        let mut server = Server::start(project.root());
        let mut meta = stateless_meta();
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "roots": {} });
        let mut params = json!({ "name": "reads", "_meta": meta });
        let asked = server.ask_past_news("asks", "tools/call", &params);
        params["requestState"] = asked["result"]["requestState"].clone();
        params["inputResponses"] = json!({ "roots": named });
        let answer = server.ask_past_news("call", "tools/call", &params);
        assert!(text(&answer).contains(expected), "{folder}: {asked} {answer}");
        server.finish();
    }
}

#[test]
fn the_policy_is_asked_again_if_the_folders_of_a_session_came_late() {
    let project = Project::new()
        .tool("reads", "#!/bin/sh\ntouch ran\necho read\n")
        .file("prompts/greet.txt", "Hello")
        .file(FILE, &rules("  - {allow: true}\n"));
    let mut server = Server::start_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")]);
    server.initialize_offering("2025-11-25", &json!({ "roots": {} }));
    let asked = server.receive();
    assert_eq!(asked["method"], "roots/list", "{asked}");
    // The call waits for the folders.
    server.request("call", "tools/call", &json!({ "name": "reads" }));
    project.write(FILE, &rules("  - {deny: Closed by now.}\n"));
    wait_until("the new policy", || {
        let probed = server.ask_past_news("probe", "prompts/get", &json!({ "name": "greet" }));
        probed["error"].is_object().then_some(())
    });
    server.reply(&asked, &json!({ "roots": [] }));
    let refused = server.receive();
    assert_eq!((&refused["id"], text(&refused)), (&json!("call"), "Blocked by policy: Closed by now."));
    assert!(!project.path("ran").exists(), "it has not run");
    server.finish();
}

#[test]
fn a_policy_of_another_user_lets_nothing_run() {
    if !rustix::process::geteuid().is_root() {
        // Only root can give a file away. The other ways to distrust a file have tests of their own.
        return;
    }
    let project = asking(&rules("  - {allow: true}\n"));
    chown(project.path(FILE), Some(65534), None).expect("another owner");
    let mut server = Server::ready(project.root());
    let refused = server.ask_past_news(1, "tools/call", &json!({ "name": "probe" }));
    assert!(text(&refused).contains("lets nothing run"), "{refused}");
    assert!(text(&refused).contains("policy.yaml"), "{refused}");
    server.finish();
}
