//! Progress: live, strictly increasing, only for tokens from the client, and never after the answer.

use crate::harness::{Project, Server};
use serde_json::{Value, json};

/// A tool that reports each of these values as progress.
fn project(values: &str) -> Project {
    Project::new().tool(
        "report",
        &format!(
            r#"#!/bin/sh
for value in {values}; do
    printf '{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":"forged","progress":%s,"total":10,"message":"at %s"}}}}\n' "$value" "$value" >>"$MCP_PROGRESS_STREAM"
done
echo "token $MCP_PROGRESS_TOKEN"
"#
        ),
    )
}

fn call(server: &mut Server, token: &Value) -> (Vec<Value>, Value) {
    server.request(1, "tools/call", &json!({ "name": "report", "_meta": { "progressToken": token } }));
    let mut notifications = Vec::new();
    loop {
        let message = server.receive();
        if message.get("id").is_some() {
            return (notifications, message);
        }
        notifications.push(message["params"].clone());
    }
}

fn values(notifications: &[Value]) -> Vec<String> {
    notifications.iter().map(|params| params["progress"].to_string()).collect()
}

// Shows: progress-increasing
#[test]
fn only_increasing_values_are_sent_with_the_clients_token() {
    let project = project("1 2 2 1.5 nonsense 3 -1 4.25");
    let mut server = Server::ready(project.root());
    // An empty token would look like none to a script.
    let tokens =
        [(json!("a \"quoted\" token"), "a \"quoted\" token"), (json!(7), "7"), (json!(""), "progress")];
    for (token, shown) in tokens {
        let (notifications, answer) = call(&mut server, &token);
        assert_eq!(values(&notifications), ["1", "2", "3", "4.25"]);
        assert!(notifications.iter().all(|params| params["progressToken"] == token), "{notifications:?}");
        assert_eq!(notifications[0]["total"], 10);
        assert_eq!(notifications[0]["message"], "at 1");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert_eq!(text, format!("token {shown}"));
    }
    server.expect_silence();
}

// Shows: progress-message
#[test]
fn the_oldest_revision_gets_no_message() {
    let project = project("1");
    let mut server = Server::ready_with(project.root(), &[], "2024-11-05");
    let (notifications, _) = call(&mut server, &json!(1));
    assert_eq!(notifications, [json!({ "progressToken": 1, "progress": 1, "total": 10 })]);
}

// Shows: progress-token
#[test]
fn without_a_token_nothing_is_sent() {
    let project = Project::new().tool("report", "#!/bin/sh\necho \"${MCP_PROGRESS_TOKEN:-none}\"\n");
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "error")], "2025-11-25");
    server.call(1, "report");
    assert_eq!(server.receive()["result"]["content"][0]["text"], "none");
}

// Shows: progress-ends
#[test]
fn above_the_rate_limit_the_last_value_is_still_sent_before_the_answer() {
    let numbers: Vec<String> = (1..=500).map(|number| number.to_string()).collect();
    let project = project(&numbers.join(" "));
    let mut server =
        Server::ready_with(project.root(), &[("MCPBASH_MAX_PROGRESS_PER_MIN", "10")], "2025-11-25");
    let (notifications, _) = call(&mut server, &json!("t"));
    let told = values(&notifications);
    assert_eq!(told.len(), 11, "{told:?}");
    assert_eq!(told.last().unwrap(), "500");
}

#[test]
fn a_limit_of_one_lets_one_through() {
    let project = project("5 10 15");
    let mut server =
        Server::ready_with(project.root(), &[("MCPBASH_MAX_PROGRESS_PER_MIN", "1")], "2025-11-25");
    let (notifications, _) = call(&mut server, &json!("t"));
    assert_eq!(values(&notifications), ["5"]);
}

#[test]
fn buffering_keeps_progress_until_just_before_the_answer() {
    let project = project("1 2 3").gate();
    // When more empty lines than the pipe holds were written, everything before them has been read.
    let rest = "yes | head -n 100000 >>\"$MCP_PROGRESS_STREAM\"; touch reported; read _ <gate; echo \"token";
    let report = project.read("tools/report/tool.sh").replace("echo \"token", rest);
    let project = project.script("tools/report/tool.sh", &report);
    let environment = [("MCPBASH_ENABLE_LIVE_PROGRESS", "false")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    server.request(1, "tools/call", &json!({ "name": "report", "_meta": { "progressToken": 1 } }));
    project.wait_for_file("reported");
    server.expect_silence();
    project.open_gate();
    let told: Vec<Value> = (0..3).map(|_| server.receive()["params"]["progress"].clone()).collect();
    assert_eq!(told, [json!(1), json!(2), json!(3)]);
    assert_eq!(server.receive()["id"], 1);
}

#[test]
fn live_progress_comes_while_the_tool_runs() {
    let project = project("1").gate();
    let report = project.read("tools/report/tool.sh").replace("echo \"token", "read _ <gate; echo \"token");
    let project = project.script("tools/report/tool.sh", &report);
    let mut server = Server::ready(project.root());
    server.request(1, "tools/call", &json!({ "name": "report", "_meta": { "progressToken": "live" } }));
    assert_eq!(server.receive()["params"]["progress"], 1);
    project.open_gate();
    assert_eq!(server.receive()["id"], 1);
}

#[test]
fn garbage_on_the_progress_stream_is_ignored() {
    let project = Project::new().tool(
        "rubbish",
        "#!/bin/sh\nhead -c 200000 /dev/urandom >>\"$MCP_PROGRESS_STREAM\"\nyes '{}' | head -n 5000 >>\"$MCP_PROGRESS_STREAM\"\nprintf '{\"method\":\"notifications/progress\",\"params\":{\"progress\":\"x\"}}\\n[1]\\n\\n{' >>\"$MCP_PROGRESS_STREAM\"\necho fine\n",
    );
    let mut server = Server::ready(project.root());
    server.request(1, "tools/call", &json!({ "name": "rubbish", "_meta": { "progressToken": 1 } }));
    assert_eq!(server.receive()["result"]["content"][0]["text"], "fine");
    server.expect_silence();
}
