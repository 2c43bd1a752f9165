//! A handler that panics costs its request, not the server.

use crate::harness::{Project, Server, code};
use serde_json::json;

// Shows: one-answer
#[test]
fn a_panic_is_answered_once_and_the_server_keeps_running() {
    let project = Project::with_hi();
    for method in ["tools/list", "tools/call"] {
        let mut server = Server::ready_with(project.root(), &[("MCPBASH_TEST_PANIC", method)], "2025-11-25");
        for id in 1..=20 {
            server.request(id, method, &json!({ "name": "hi" }));
            let mut answer = server.receive();
            if answer["method"] == "notifications/message" {
                assert_eq!(answer["params"]["level"], "critical");
                answer = server.receive();
            }
            assert_eq!((code(&answer), &answer["id"]), (-32603, &json!(id)));
        }
        let other = if method == "tools/list" { "tools/call" } else { "tools/list" };
        assert!(server.ask(99, other, &json!({ "name": "hi" }))["result"].is_object());
        server.expect_silence();
        let stderr = server.finish();
        assert!(stderr.contains("mcp.panic"), "{stderr}");
    }
}

#[test]
fn a_panic_inside_a_batch_leaves_the_other_answers() {
    let project = Project::with_hi();
    let environment = [("MCPBASH_TEST_PANIC", "tools/call"), ("MCPBASH_LOG_LEVEL", "emergency")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-03-26");
    server.send(&json!([
        { "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "hi" } },
        { "jsonrpc": "2.0", "id": 2, "method": "ping" },
    ]));
    assert_eq!(server.receive().as_array().map(Vec::len), Some(2));
}
