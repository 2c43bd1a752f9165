//! Shutdown over HTTP: the line of each call comes before that of the end of the server.

use super::{Audited, records};
use crate::harness::Project;
use crate::harness::http::HttpServer;
use rustix::process::Signal;
use serde_json::json;

fn project() -> Project {
    Project::new()
        .script("tools/wipe/tool.sh", "#!/bin/sh\n: >wiped\n")
        .file("tools/wipe/tool.meta.json", r#"{"name": "wipe", "description": "Wipes", "confirm": true}"#)
}

#[test]
fn a_call_whose_user_is_asked_is_answered_and_recorded_before_the_server_ends() {
    for is_durable in ["false", "true"] {
        let audited = Audited::new(project());
        let log = audited.log();
        let settings = [("MCPBASH_HTTP_DRAIN_TIMEOUT", "0"), ("MCPBASH_AUDIT_DURABLE", is_durable)];
        let mut server =
            HttpServer::start_with(audited.project.root(), &["--audit", log.to_str().unwrap()], &settings);
        let session = server.session_offering("2025-11-25", &json!({ "elicitation": {} }));
        let mut stream = session.request(1, "tools/call", &json!({ "name": "wipe" })).events();
        let question = stream.next_message().unwrap().message();
        assert_eq!(question["method"], "elicitation/create");
        server.signal(Signal::TERM);
        let answer = stream.next_message().unwrap().message();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(answer["id"] == 1 && text.contains("the server is shutting down"), "{answer}");
        assert_eq!(server.wait().code(), Some(0), "{}", server.log());
        assert!(!audited.project.root().join("wiped").exists());
        let all = records(&log);
        let lines: Vec<[&str; 3]> = all
            .iter()
            .filter(|record| record["event.name"] != "mcp.begun")
            .map(|record| {
                ["event.name", "outcome", "consent"].map(|name| record[name].as_str().unwrap_or_default())
            })
            .collect();
        assert_eq!(
            lines,
            [
                ["mcp.server.start", "", ""],
                ["mcp.question", "", ""],
                ["mcp.answer", "cancelled", "no answer"],
                ["mcp.tools.call", "refused", "unanswered"],
                ["mcp.server.end", "", ""],
            ]
        );
        assert_eq!(audited.verify().code, 0);
    }
}
