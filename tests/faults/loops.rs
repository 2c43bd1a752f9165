//! Loops that a server needs for its whole lifetime, when one of them panics.

use crate::harness::metrics::{get, start_with};
use crate::harness::{Project, Server, wait_until};
use serde_json::json;

#[test]
fn a_loop_that_panicked_does_its_work_again() {
    let project = Project::with_hi();
    for name in ["accept", "accept_watchers", "expire_sessions", "give_memory_back"] {
        let environment = [("MCPBASH_TEST_PANIC", name), ("MCPBASH_HTTP_SESSION_IDLE_TIMEOUT", "2")];
        let (server, metrics) = start_with(&project, &environment);
        wait_until("the panic", || server.log().contains("mcp.panic").then_some(()));
        server.expect_service();
        assert_eq!(get(metrics, "/readyz", "*/*").status, 200, "{name}");
        // An idle session expires; the metrics count it without using it.
        let session = server.session("2025-11-25");
        let count = || get(metrics, "/metrics", "*/*").text();
        wait_until("its end", || count().contains("\nmcp_server_sessions 0\n").then_some(()));
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        assert_eq!(session.send(&ping).response().status, 404, "{name}");
        server.finish();
    }
}

#[test]
fn a_subscription_is_polled_again_after_a_panic() {
    let project = Project::new()
        .file("note", "one")
        .script("providers/mine.sh", "#!/bin/sh\ncat \"$MCPBASH_PROJECT_ROOT/note\"\n")
        .file(
            "resources/note.meta.json",
            "{\"name\": \"note\", \"uri\": \"mine://note\", \"provider\": \"mine\"}",
        );
    let environment = [("MCPBASH_TEST_PANIC", "poll"), ("MCPBASH_RESOURCES_POLL_INTERVAL_SECS", "1")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    let subscribed =
        server.ask_past_news("subscribe", "resources/subscribe", &json!({ "uri": "mine://note" }));
    assert!(subscribed["result"].is_object(), "{subscribed}");
    wait_until("the change", || {
        project.write("note", &format!("{:?}", std::time::Instant::now()));
        let told = server.told_so_far();
        told.iter().any(|told| told["method"] == "notifications/resources/updated").then_some(())
    });
    assert!(server.finish().contains("mcp.panic"));
}

#[test]
fn a_server_that_can_no_longer_write_exits_and_says_why() {
    let project = Project::new().tool("long", "#!/bin/sh\nhead -c 300000 /dev/zero | tr '\\0' x\n");
    let environment = [("MCPBASH_TEST_PANIC", "writer"), ("MCPBASH_MAX_RESULT_TEXT_BYTES", "0")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    // A thread writes results larger than a pipe. The input stays open.
    server.request(1, "tools/call", &json!({ "name": "long" }));
    assert_eq!(server.wait().code(), Some(1));
    let said = server.stderr();
    assert!(said.contains("the thread that writes to standard output panicked"), "{said}");
}
