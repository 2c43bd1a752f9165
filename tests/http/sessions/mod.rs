//! Streams and sessions over HTTP: clients that disconnect and reconnect lose nothing and receive nothing twice.

mod lifetimes;
mod oldest_transport;
mod requests;
mod resuming;
mod shutdown;

use crate::harness::Project;
use crate::harness::http::Event;
use serde_json::{Value, json};

/// Reports a step, as progress.
const STEP: &str = r#"step() {
    printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":%s}}\n' \
        "$1" >>"$MCP_PROGRESS_STREAM"
}
"#;

/// `steps` reports five steps and ends; `waits` reports three, and the others when the gate is open.
fn project() -> Project {
    Project::with_hi()
        .waiting_tool("stuck")
        .tool("steps", &format!("#!/bin/sh\n{STEP}for n in 1 2 3 4 5; do step $n; done\necho done\n"))
        .tool(
            "waits",
            &format!(
                "#!/bin/sh\n{STEP}for n in 1 2 3; do step $n; done\necho $$ >>started\nread _ <gate\n\
                 for n in 4 5; do step $n; done\necho done\n"
            ),
        )
}

/// The part of a `steps` message that a client needs.
fn short(event: &Event) -> String {
    let message = event.message();
    match message["method"].as_str() {
        Some("notifications/progress") => message["params"]["progress"].to_string(),
        Some(other) => other.to_owned(),
        None => message["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned(),
    }
}

fn call(tool: &str) -> Value {
    json!({ "name": tool, "arguments": {} })
}
