//! The extension of the stateless era, over pipes.

use super::{Stores, ask, call, declaring, get, metadata, text, wait_for, waiting};
use crate::harness::{Project, code, exists, stateless_meta, wait_until_gone};
use serde_json::{Value, json};

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// A project whose tools end in every way.
fn endings() -> Project {
    let project = Project::with_hi()
        .tool("succeeds", "#!/bin/sh\necho done\n")
        .tool("fails", "#!/bin/sh\necho no >&2\nexit 3\n")
        .tool(
            "refuses",
            "#!/bin/bash\n. \"${MCP_SDK:?}/tool-sdk.sh\"\nmcp_fail 503 'not today' '{\"after\":30}'\n",
        );
    for name in ["succeeds", "fails", "refuses"] {
        project.write(&format!("tools/{name}/tool.meta.json"), &metadata(name, "optional", &json!({})));
    }
    project
}

// Shows: tasks-create
#[test]
fn a_call_is_answered_with_a_task_that_can_be_asked_for_at_once() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    let mut server = stores.start(&project);
    let id = call(&mut server, "waits");
    assert_eq!(get(&mut server, &id)["status"], "working");
    project.wait_for_started(1);
    assert_eq!(get(&mut server, &id)["status"], "working");
    project.open_gate();
    let task = wait_for(&mut server, &id, "completed");
    assert_eq!(text(&task), "went");
    assert!(task["result"]["_meta"].get("io.modelcontextprotocol/related-task").is_none(), "{task}");
    assert_eq!(get(&mut server, &id), task, "it stays as it is");
    server.finish();
}

// Shows: tasks-outcomes
#[test]
fn a_tool_that_fails_completes_and_an_error_of_the_protocol_fails() {
    let (project, stores) = (endings(), Stores::new());
    let mut server = stores.start(&project);
    let [succeeds, fails, refuses] = ["succeeds", "fails", "refuses"].map(|tool| call(&mut server, tool));
    assert_eq!(text(&wait_for(&mut server, &succeeds, "completed")), "done");
    let failed = wait_for(&mut server, &fails, "completed");
    assert_eq!(failed["result"]["isError"], true, "{failed}");
    let ended = wait_for(&mut server, &refuses, "failed");
    let error = json!({ "code": 503, "message": "not today", "data": { "after": 30 } });
    assert_eq!((&ended["error"], ended.get("result")), (&error, None), "{ended}");
}

// Shows: tasks-capability
#[test]
fn tasks_are_an_extension_that_each_request_declares() {
    let (project, stores) = (endings(), Stores::new());
    project.write("tools/fails/tool.meta.json", &metadata("fails", "required", &json!({})));
    let mut server = stores.start(&project);
    let discovered = server.ask(1, "server/discover", &json!({ "_meta": stateless_meta() }));
    let capabilities = &discovered["result"]["capabilities"];
    assert_eq!(capabilities["extensions"], json!({ TASKS: {} }), "{capabilities}");
    assert!(capabilities.get("tasks").is_none(), "{capabilities}");
    let listed = server.ask(2, "tools/list", &json!({ "_meta": stateless_meta() }));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().all(|tool| tool.get("execution").is_none()), "{listed}");

    let undeclared = |mut params: Value| {
        params["_meta"] = stateless_meta();
        params
    };
    let answer = server.ask(3, "tools/call", &undeclared(json!({ "name": "succeeds", "arguments": {} })));
    assert_eq!(answer["result"]["resultType"], "complete", "an optional one runs as a call: {answer}");
    let required = json!({ "extensions": { TASKS: {} } });
    let refused = [
        ("tools/call", json!({ "name": "fails", "arguments": {} })),
        ("tasks/get", json!({ "taskId": "x" })),
        ("tasks/update", json!({ "taskId": "x", "inputResponses": {} })),
        ("tasks/cancel", json!({ "taskId": "x" })),
        ("subscriptions/listen", json!({ "notifications": { "taskIds": ["x"] } })),
    ];
    for (method, params) in refused {
        let answer = server.ask(method, method, &undeclared(params));
        assert_eq!(code(&answer), -32021, "{answer}");
        assert_eq!(answer["error"]["data"]["requiredCapabilities"], required, "{answer}");
    }
    let hi = ask(&mut server, "tools/call", json!({ "name": "hi", "arguments": {}, "task": { "ttl": 1 } }));
    assert_eq!(hi["result"]["resultType"], "complete", "one that is never a task: {hi}");
}

// Shows: tasks-unknown
#[test]
fn what_is_no_task_is_refused_and_removed_methods_are_unknown() {
    let (project, stores) = (endings(), Stores::new());
    let mut server = stores.start(&project);
    let id = call(&mut server, "succeeds");
    let ids =
        ["", "x", "../../etc/passwd", &"0".repeat(32), &id[1..], &id.to_uppercase(), &format!("{id}.json")];
    for id in ids {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let answer = ask(&mut server, method, json!({ "taskId": id, "inputResponses": {} }));
            assert_eq!(code(&answer), -32602, "{method} {id:?}: {answer}");
        }
    }
    for params in [json!({}), json!({ "taskId": 7 }), json!({ "taskId": null })] {
        assert_eq!(code(&ask(&mut server, "tasks/get", params)), -32602);
    }
    assert_eq!(code(&ask(&mut server, "tasks/update", json!({ "taskId": id }))), -32602);
    for method in ["tasks/result", "tasks/list", "tasks/made-up"] {
        assert_eq!(code(&ask(&mut server, method, json!({ "taskId": id }))), -32601, "{method}");
    }
}

#[test]
fn a_project_without_tasks_does_not_mention_them() {
    let (project, stores) = (Project::with_hi(), Stores::new());
    let mut server = stores.start(&project);
    let discovered = server.ask(1, "server/discover", &json!({ "_meta": stateless_meta() }));
    assert!(discovered["result"]["capabilities"].get("extensions").is_none(), "{discovered}");
    assert_eq!(code(&ask(&mut server, "tasks/get", json!({ "taskId": "x" }))), -32601);
    let answer = ask(&mut server, "tools/call", json!({ "name": "hi", "arguments": {} }));
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    server.finish();
    assert!(!stores.path().exists(), "nothing is made");
}

// Shows: tasks-cancel
#[test]
fn cancelling_kills_the_last_process_and_can_be_repeated() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    let script = "#!/bin/sh\nsleep 600 &\necho $! >>started\necho $$ >>started\nread _ <gate\n";
    project.write_script("tools/waits/tool.sh", script);
    let mut server = stores.start(&project);
    let id = call(&mut server, "waits");
    let processes = project.wait_for_started(2);
    for _ in 0..2 {
        let answer = ask(&mut server, "tasks/cancel", json!({ "taskId": id }));
        let mut result = answer["result"].clone();
        result.as_object_mut().unwrap().remove("_meta");
        assert_eq!(result, json!({ "resultType": "complete" }), "{answer}");
        let task = wait_for(&mut server, &id, "cancelled");
        assert!(task.get("result").is_none() && task.get("error").is_none(), "{task}");
    }
    processes.into_iter().for_each(wait_until_gone);
}

#[test]
fn a_task_is_not_cancelled_with_the_request_that_made_it() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    let mut server = stores.start(&project);
    let id = call(&mut server, "waits");
    let [process] = project.wait_for_started(1)[..] else { panic!("one process") };
    server.notify("notifications/cancelled", &json!({ "requestId": "tools/call" }));
    assert_eq!(get(&mut server, &id)["status"], "working");
    assert!(exists(process));
    project.open_gate();
    assert_eq!(text(&wait_for(&mut server, &id, "completed")), "went");
}

#[test]
fn progress_becomes_the_message_of_the_status() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    let script = "#!/bin/bash\n. \"${MCP_SDK:?}/tool-sdk.sh\"\nmcp_progress 40 'Copying the second disk'\nread _ <gate\necho went\n";
    project.write_script("tools/waits/tool.sh", script);
    let mut server = stores.start(&project);
    let id = call(&mut server, "waits");
    crate::harness::wait_until("a message", || {
        (get(&mut server, &id)["statusMessage"] == "Copying the second disk").then_some(())
    });
    project.open_gate();
    wait_for(&mut server, &id, "completed");
    server.expect_silence();
}

#[test]
fn a_result_of_five_megabytes_arrives_whole() {
    let project = Project::new().tool("long", "#!/bin/sh\nhead -c 5000000 /dev/zero | tr '\\0' x\n");
    project.write("tools/long/tool.meta.json", &metadata("long", "optional", &json!({})));
    let stores = Stores::new();
    let settings = [("MCPBASH_MAX_RESULT_TEXT_BYTES", "0")];
    let mut server = stores.start_with(&project, &settings);
    let id = call(&mut server, "long");
    let task = wait_for(&mut server, &id, "completed");
    let long = text(&task);
    assert!(long.len() == 5_000_000 && long.bytes().all(|byte| byte == b'x'), "{} bytes", long.len());
}

#[test]
fn the_project_decides_for_tools_that_say_nothing() {
    let project = Project::with_hi().file("server.d/server.meta.json", r#"{"tasks": "optional"}"#);
    let project = project.tool("never", "#!/bin/sh\necho now\n");
    project.write("tools/never/tool.meta.json", &metadata("never", "forbidden", &json!({})));
    let stores = Stores::new();
    let mut server = stores.start(&project);
    let id = call(&mut server, "hi");
    wait_for(&mut server, &id, "completed");
    let never = ask(&mut server, "tools/call", json!({ "name": "never", "arguments": {} }));
    assert_eq!(never["result"]["resultType"], "complete", "{never}");
}

// Shows: tasks-ttl
#[test]
fn a_task_is_known_until_it_expires() {
    let (project, stores) = (endings(), Stores::new());
    let mut server = stores.start_with(&project, &[("MCPBASH_TASK_TTL_SECS", "2")]);
    let answer = ask(&mut server, "tools/call", json!({ "name": "succeeds", "arguments": {} }));
    assert_eq!(answer["result"]["ttlMs"], 2000, "{answer}");
    let id = answer["result"]["taskId"].as_str().unwrap().to_owned();
    crate::harness::wait_until("it to expire", || {
        let answer = ask(&mut server, "tasks/get", json!({ "taskId": id }));
        answer.get("error").is_some().then(|| assert_eq!(code(&answer), -32602))
    });
    let limited = [("MCPBASH_MAX_TASKS_PER_CALLER", "2")];
    let mut server = stores.start_with(&project, &limited);
    (0..2).for_each(|_| drop(call(&mut server, "succeeds")));
    let refused = ask(&mut server, "tools/call", json!({ "name": "succeeds", "arguments": {} }));
    let message = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("MCPBASH_MAX_TASKS_PER_CALLER"), "{refused}");
}

#[test]
fn one_that_runs_too_long_is_stopped_when_it_expires() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    let mut server = stores.start_with(&project, &[("MCPBASH_TASK_TTL_SECS", "1")]);
    call(&mut server, "waits");
    project.wait_for_started(1).into_iter().for_each(wait_until_gone);
    let files = || stores.path().read_dir().unwrap().count();
    crate::harness::wait_until("its files to be gone", || (files() == 0).then_some(()));
    let meta = declaring(&json!({}));
    assert!(server.ask(9, "server/discover", &json!({ "_meta": meta })).get("result").is_some());
}
