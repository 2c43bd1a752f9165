//! The trace context of a request reaches the script that serves it.

use crate::harness::{Project, Server, stateless_meta};
use serde_json::{Value, json};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const PRINT: &str = "#!/bin/sh\n# mcp: {}\nprintf '%s|%s|%s' \"${TRACEPARENT-none}\" \"${TRACESTATE-none}\" \"${BAGGAGE-none}\"\n";

fn project() -> Project {
    Project::new().tool("prints", PRINT).script("prompts/prints.sh", PRINT)
}

fn told(server: &mut Server, method: &str, mut meta: Value, trace: &Value) -> String {
    for (name, value) in trace.as_object().unwrap() {
        meta[name] = value.clone();
    }
    let answer = server.ask(1, method, &json!({ "name": "prints", "_meta": meta }));
    let result = &answer["result"];
    let text = [&result["content"][0]["text"], &result["messages"][0]["content"]["text"]];
    text.iter().find_map(|text| text.as_str()).unwrap_or_else(|| panic!("{answer}")).to_owned()
}

// Shows: trace-context
#[test]
fn scripts_find_it_in_their_environment_in_both_eras() {
    let project = project();
    // The server's own trace context is not that of a call.
    let environment = [
        ("TRACEPARENT", "of the server"),
        ("MCPBASH_TOOL_ENV_MODE", "inherit"),
        ("MCPBASH_TOOL_ENV_INHERIT_ALLOW", "true"),
    ];
    let mut server = Server::start_with(project.root(), &environment);
    let trace = json!({ "traceparent": PARENT, "tracestate": "vendor=x", "baggage": "user=a%20b,x=1" });
    let all = format!("{PARENT}|vendor=x|user=a%20b,x=1");
    for method in ["tools/call", "prompts/get"] {
        assert_eq!(told(&mut server, method, stateless_meta(), &trace), all);
        assert_eq!(told(&mut server, method, stateless_meta(), &json!({})), "none|none|none");
    }
    server.initialize("2025-11-25");
    assert_eq!(told(&mut server, "tools/call", json!({}), &trace), all);
}

// Shows: trace-context
#[test]
fn an_invalid_trace_context_is_dropped() {
    let project = project();
    let mut server = Server::start(project.root());
    let hostile = [
        json!({ "traceparent": "$(touch pwned)", "tracestate": "a=1", "baggage": "x\u{0}y=1" }),
        json!({ "traceparent": format!("{PARENT}\nLD_PRELOAD=/x"), "baggage": "a=1\nb=2" }),
        json!({ "traceparent": [PARENT], "tracestate": { "a": 1 }, "baggage": 5 }),
        json!({ "traceparent": "0".repeat(100_000), "baggage": format!("a={}", "x".repeat(100_000)) }),
        json!({ "traceparent": PARENT.to_uppercase(), "tracestate": "a=1", "baggage": "no value" }),
    ];
    for trace in hostile {
        assert_eq!(told(&mut server, "tools/call", stateless_meta(), &trace), "none|none|none");
    }
    assert!(!project.path("pwned").exists());
}
