//! Minimal mode: lifecycle, ping and logging, and nothing else.

use crate::harness::{Project, Server, code, stateless_meta};
use serde_json::json;

// Shows: capabilities-true
#[test]
fn everything_but_lifecycle_ping_and_logging_is_not_found() {
    let project = Project::with_hi();
    let mut server = Server::start_with(project.root(), &[("MCPBASH_FORCE_MINIMAL", "true")]);
    assert_eq!(server.initialize("2025-11-25")["capabilities"], json!({ "logging": {} }));
    for method in ["tools/list", "tools/call", "resources/list", "prompts/get", "completion/complete"] {
        assert_eq!(code(&server.ask(1, method, &json!({}))), -32601, "{method}");
    }
    assert_eq!(server.ask(2, "logging/setLevel", &json!({ "level": "error" }))["result"], json!({}));
    server.expect_silence();
    let meta = json!({ "_meta": stateless_meta() });
    assert_eq!(server.ask(3, "server/discover", &meta)["result"]["capabilities"], json!({ "logging": {} }));
    assert_eq!(code(&server.ask(4, "tools/list", &meta)), -32601);
    assert_eq!(server.ask(5, "shutdown", &json!({}))["result"], json!({}));
}
