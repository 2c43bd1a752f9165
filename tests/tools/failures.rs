//! A failed call reports the cause, to the model in its answer and to the operator in one line.

use crate::harness::{Project, Server};
use serde_json::{Value, json};

fn answer(project: &Project, tool: &str) -> Value {
    Server::ready(project.root()).ask("call", "tools/call", &json!({ "name": tool }))
}

fn text_of_failure(answer: &Value) -> String {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let items = answer["result"]["content"].as_array().unwrap().iter();
    items.map(|item| item["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_script_that_does_not_start_says_what_is_really_missing() {
    let missing =
        "its interpreter `/usr/bin/pythn3`, which the first line of tools/x/tool.sh names, is not there";
    for (script, problem, remedy) in [
        ("#!/usr/bin/pythn3\nprint(1)\n", missing, "install it, or correct the line"),
        ("#!/bin/bash\r\necho hi\r\n", "`/bin/bash\\r` is not found", "Unix line endings"),
        ("#!/usr/bin/env bash\r\necho hi\r\n", "`bash\\r` is not found", "Unix line endings"),
        ("\u{feff}#!/bin/sh\necho hi\n", "tools/x/tool.sh begins with a byte order mark", "without BOM"),
        ("echo hi\n", "tools/x/tool.sh has no `#!` line", "`#!/usr/bin/env bash`"),
        ("\u{7f}ELF\0\0\0", "cannot execute binary file tools/x/tool.sh", "build it for this one"),
    ] {
        let project = Project::new().tool("x", script);
        let text = text_of_failure(&answer(&project, "x"));
        assert!(text.contains(problem) && text.contains(remedy), "{script:?}: {text}");
    }
}

#[test]
fn an_interpreter_that_may_not_be_executed_is_named() {
    let project = Project::new().file("notes", "no program\n");
    let interpreter = project.path("notes").display().to_string();
    let project = project.tool("x", &format!("#!{interpreter}\n"));
    let text = text_of_failure(&answer(&project, "x"));
    assert!(text.contains("its interpreter `notes`") && text.contains("may not be executed"), "{text}");
}

#[test]
fn prompts_and_resources_report_it_as_well() {
    let project = Project::new()
        .script("prompts/p/prompt.sh", "#!/nowhere/sh\n")
        .file("prompts/p/prompt.meta.json", r#"{"name": "p"}"#)
        .script("prompts/q/prompt.sh", "#!/usr/bin/env sh\r\necho hi\r\n")
        .file("prompts/q/prompt.meta.json", r#"{"name": "q"}"#)
        .script("providers/mine.sh", "#!/nowhere/sh\n")
        .file("resources/r.meta.json", r#"{"uri": "mine://r", "name": "r", "provider": "mine"}"#);
    let mut server = Server::ready(project.root());
    for (method, params, problem) in [
        ("prompts/get", json!({ "name": "p" }), "its interpreter `/nowhere/sh`"),
        ("prompts/get", json!({ "name": "q" }), "`sh\\r` is not found"),
        ("resources/read", json!({ "uri": "mine://r" }), "its interpreter `/nowhere/sh`"),
    ] {
        let answer = server.ask(1, method, &params);
        let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(message.contains(problem), "{message}");
    }
}

#[test]
fn invalid_json_output_is_quoted_with_a_hint() {
    let metadata = r#"{"outputSchema": {"type": "object"}}"#;
    let project = Project::new()
        .script("tools/noisy/tool.sh", "#!/bin/sh\necho\necho 'DEBUG: connecting'\necho '{\"a\": 1}'\n")
        .file("tools/noisy/tool.meta.json", metadata)
        .script("tools/empty/tool.sh", "#!/bin/sh\n")
        .file("tools/empty/tool.meta.json", metadata)
        .script("tools/bare/tool.sh", "#!/bin/sh\necho '{\"content\": []}'\n")
        .file("tools/bare/tool.meta.json", metadata);
    let mut server = Server::ready(project.root());
    for (tool, words) in [
        ("noisy", &["It begins with `DEBUG: connecting`", "standard error (`>&2`)", "`mcp_log`"][..]),
        ("empty", &["it printed nothing"]),
        ("bare", &["its result has no `structuredContent`"]),
    ] {
        let answer = server.ask("call", "tools/call", &json!({ "name": tool }));
        let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
        for word in words {
            assert!(message.contains(word), "{word}: {message}");
        }
    }
}

/// The events of a log about calls that are warnings or worse.
fn warnings(stderr: &str) -> Vec<Value> {
    let events = stderr.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is_warning = |event: &Value| event["level"] == "warning" || event["level"] == "error";
    events.filter(|event| event["logger"] == "mcp.tools" && is_warning(event)).collect()
}

#[test]
fn a_failed_call_is_one_warning_for_the_operator() {
    let project = Project::with_hi()
        .tool("broken", "#!/bin/sh\necho first >&2\necho 'disk full' >&2\necho >&2\nexit 3\n")
        .tool("missing", "#!/nowhere/sh\n")
        .tool("quiet", "#!/bin/sh\nkill -9 $$\n")
        .script("tools/slow/tool.sh", "#!/bin/sh\necho waiting >&2\nsleep 1000\n")
        .file("tools/slow/tool.meta.json", r#"{"timeoutSecs": 1}"#);
    let mut server = Server::ready(project.root());
    for tool in ["hi", "broken", "missing", "quiet", "slow"] {
        server.ask(tool, "tools/call", &json!({ "name": tool }));
    }
    let mut told = warnings(&server.finish());
    // The checks report the missing interpreter separately.
    told.retain(|event| event["logger"] != "mcp.checks");
    assert!(told.iter().all(|event| event["message"] == "a call failed"), "{told:?}");
    let of = |tool: &str| {
        let of_tool: Vec<_> = told.iter().filter(|event| event["tool"] == tool).collect();
        assert_eq!(of_tool.len(), 1, "{tool}: {told:?}");
        of_tool[0]
    };
    assert_eq!(of("broken")["exitCode"], 3);
    assert!(of("missing")["error"].as_str().unwrap().contains("/nowhere/sh"), "{told:?}");
    assert_eq!((&of("quiet")["exitCode"], &of("quiet")["signal"]), (&json!(137), &json!(9)));
    assert_eq!(of("slow")["timedOut"], true);
    let all = format!("{told:?}");
    assert!(!all.contains("disk full") && !all.contains("waiting"), "what scripts say is not logged: {all}");
    assert_eq!(told.len(), 4, "{told:?}");
}

#[test]
fn a_failing_command_of_a_script_with_the_sdk_names_its_line() {
    let sdk = "#!/usr/bin/env bash\nsource \"$MCP_SDK/tool-sdk.sh\"\n";
    for (body, report) in [
        (
            "printf 'a\\n' | grep b | sort\n",
            "line 3: a command failed (exit 1; the parts of the pipeline ended with 0 1 0)",
        ),
        ("f() {\n  false\n}\nf\n", "line 4: a command failed (exit 1)"),
        ("x=$(grep -q b </dev/null)\n", "line 3: a command failed (exit 1)"),
    ] {
        let project = Project::new().tool("x", &format!("{sdk}{body}"));
        let text = text_of_failure(&answer(&project, "x"));
        assert!(text.ends_with(&format!("tools/x/tool.sh: {report}")), "{text}");
    }
    // A script that reports its own error, exits on purpose or continues needs no report.
    for body in ["echo sorry >&2; exit 3\n", "set +e\nfalse\necho sorry >&2\nexit 1\n"] {
        let project = Project::new().tool("x", &format!("{sdk}{body}"));
        assert_eq!(text_of_failure(&answer(&project, "x")), "sorry");
    }
}
