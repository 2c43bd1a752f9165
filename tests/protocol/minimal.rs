//! Minimal mode: lifecycle, ping and logging, and nothing else.

use crate::harness::{Project, Server, code, stateless_meta};
use serde_json::json;

// Shows: capabilities-true
#[test]
fn everything_but_lifecycle_ping_and_logging_is_not_found() {
    let project = Project::with_hi();
    let mut server = Server::start_with(project.root(), &[("MCPBASH_FORCE_MINIMAL", "true")]);
    assert_eq!(server.initialize("2025-11-25")["capabilities"], json!({ "logging": {} }));
    for (method, capability) in [
        ("tools/list", "Tools"),
        ("tools/call", "Tools"),
        ("resources/list", "Resources"),
        ("prompts/get", "Prompts"),
        ("completion/complete", "Completion"),
    ] {
        let refused = server.ask(1, method, &json!({}));
        assert_eq!(code(&refused), -32601, "{method}");
        let message = format!("{capability} capability unavailable in minimal mode");
        assert_eq!(refused["error"]["message"], message, "{method}");
        assert!(refused["error"]["data"].as_str().unwrap().contains("MCPBASH_FORCE_MINIMAL"), "{refused}");
    }
    let unknown = server.ask(1, "no/such", &json!({}));
    assert_eq!((code(&unknown), &unknown["error"]["message"]), (-32601, &json!("Method not found: no/such")));
    assert_eq!(server.ask(2, "logging/setLevel", &json!({ "level": "error" }))["result"], json!({}));
    server.expect_silence();
    let meta = json!({ "_meta": stateless_meta() });
    assert_eq!(server.ask(3, "server/discover", &meta)["result"]["capabilities"], json!({ "logging": {} }));
    assert_eq!(code(&server.ask(4, "tools/list", &meta)), -32601);
    assert_eq!(server.ask(5, "shutdown", &json!({}))["result"], json!({}));
}
