//! HTTP requests of clients, as bytes.

use serde_json::{Value, json};

/// The header of a request without a session.
pub(crate) const STATELESS: (&str, &str) = ("MCP-Protocol-Version", "2026-07-28");

/// The `_meta` of a message without a session.
pub(crate) fn add_meta(message: &mut Value, capabilities: &Value) {
    for (name, value) in [
        ("protocolVersion", json!(STATELESS.1)),
        ("clientCapabilities", capabilities.clone()),
        ("clientInfo", json!({ "name": "soak", "version": "1" })),
        ("logLevel", json!("debug")),
    ] {
        message["params"]["_meta"][format!("io.modelcontextprotocol/{name}")] = value;
    }
}

pub(crate) fn post(headers: &[(&str, &str)], message: &Value) -> Vec<u8> {
    let body = message.to_string();
    let length = body.len().to_string();
    let usual = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("Content-Length", &length),
    ];
    request("POST", &[&usual[..], headers].concat(), &body)
}

/// Opens the stream of a session, or the rest of a stream after an event.
pub(crate) fn get(headers: &[(&str, &str)], last: Option<&str>) -> Vec<u8> {
    let last = last.map(|id| ("Last-Event-ID", id));
    let usual = [("Accept", "text/event-stream")];
    request("GET", &[&usual, headers, last.as_slice()].concat(), "")
}

/// Deletes a session.
pub(crate) fn delete(headers: &[(&str, &str)]) -> Vec<u8> {
    request("DELETE", headers, "")
}

fn request(method: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let headers: String = headers.iter().map(|(name, value)| [name, ": ", value, "\r\n"].concat()).collect();
    format!("{method} /mcp HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n{body}").into_bytes()
}

/// The message that begins a session.
pub(crate) fn initialize(capabilities: &Value) -> Value {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": capabilities,
        "clientInfo": { "name": "soak", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}
