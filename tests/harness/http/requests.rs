//! Requests as bytes.

use crate::harness::stateless_meta;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The first message of a session.
pub(crate) fn initialize(revision: &str, capabilities: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": "init", "method": "initialize", "params": {
        "protocolVersion": revision,
        "capabilities": capabilities,
        "clientInfo": { "name": "test", "version": "1" },
    } })
}

/// A request as bytes. Adds the host and the length of the body unless `headers` have them.
pub(crate) fn request(method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let is_said = |name: &str| headers.iter().any(|(said, _)| said.eq_ignore_ascii_case(name));
    let mut text = format!("{method} {target} HTTP/1.1\r\n");
    if !is_said("Host") {
        text.push_str("Host: 127.0.0.1\r\n");
    }
    for (name, value) in headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    if !body.is_empty() && !is_said("Content-Length") && !is_said("Transfer-Encoding") {
        let _ = write!(text, "Content-Length: {}\r\n", body.len());
    }
    text.push_str("\r\n");
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// A POST of a message, with more headers. A header here replaces the usual one of that name.
pub(crate) fn post(headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let usual = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    let is_said = |name: &str| headers.iter().any(|(said, _)| said.eq_ignore_ascii_case(name));
    let mut all: Vec<_> = usual.into_iter().filter(|(name, _)| !is_said(name)).collect();
    all.extend_from_slice(headers);
    request("POST", "/mcp", &all, body.as_bytes())
}

/// A message that describes itself completely.
pub(crate) fn stateless_message(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    let mut params = params.clone();
    let mut meta = stateless_meta();
    for (name, value) in params["_meta"].as_object().into_iter().flatten() {
        meta[name] = value.clone();
    }
    params["_meta"] = meta;
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

/// A POST of the stateless era, with the headers that repeat it.
pub(crate) fn stateless(id: impl Into<Value>, method: &str, params: &Value) -> Vec<u8> {
    stateless_with(&[], id, method, params)
}

/// The same with more headers.
pub(crate) fn stateless_with(
    headers: &[(&str, &str)],
    id: impl Into<Value>,
    method: &str,
    params: &Value,
) -> Vec<u8> {
    let mut all = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
    let name = params["name"].as_str().or(params["uri"].as_str());
    all.extend(name.map(|name| ("Mcp-Name", name)));
    all.extend_from_slice(headers);
    post(&all, &stateless_message(id, method, params).to_string())
}
