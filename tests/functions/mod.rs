//! Python and Node.js files whose functions are tools: detected by their content, checked by their types,
//! refused where any other script would be.

mod calls;
// With a sandbox.
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod compiled_sdk;
mod definitions;
mod environments;
mod first_results;
mod foreign_files;
mod hanging_files;
mod identity;
mod reading;
mod roots;
// Elsewhere the sandbox is that of macOS.
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod sandboxes;
mod session_state;
mod short_sessions;
mod tools;

use crate::harness::{Project, Server};
use serde_json::{Value, json};

/// Two typed functions, as a user writes them.
pub(crate) const SUMS: &str = r#"from mcp_bash import tool

@tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b

@tool
def repeat(word: str, times: int = 2) -> str:
    """Says a word several times."""
    return " ".join([word] * times)
"#;

/// A session that receives only notifications that a test asks for.
pub(crate) fn quiet(project: &Project) -> Server {
    quiet_with(project, &[])
}

pub(crate) fn quiet_with(project: &Project, environment: &[(&str, &str)]) -> Server {
    let environment: Vec<_> =
        [("MCPBASH_LOG_LEVEL", "emergency")].iter().chain(environment).copied().collect();
    Server::ready_with(project.root(), &environment, "2025-11-25")
}

/// The answer to a call, and the notifications before it.
pub(crate) fn call_and_news(server: &mut Server, tool: &str, arguments: &Value) -> (Value, Vec<Value>) {
    let params =
        json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": format!("of {tool}") } });
    server.request("call", "tools/call", &params);
    let mut news = Vec::new();
    loop {
        let message = server.receive();
        if message["id"] == "call" {
            return (message, news);
        }
        news.push(message);
    }
}

pub(crate) fn call(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    call_and_news(server, tool, arguments).0
}

/// The text of a result, whether it is an error or not.
pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

pub(crate) fn tools(server: &mut Server) -> Vec<Value> {
    server.request("list", "tools/list", &json!({}));
    loop {
        let message = server.receive();
        if message["id"] == "list" {
            return message["result"]["tools"].as_array().unwrap_or_else(|| panic!("{message}")).clone();
        }
    }
}

pub(crate) fn names(server: &mut Server) -> Vec<String> {
    tools(server).iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// The server's standard error about a file, in the session that this closes.
pub(crate) fn told_of(server: Server, file: &str) -> String {
    server.finish().lines().filter(|line| line.contains(file)).collect::<Vec<_>>().join("\n")
}
