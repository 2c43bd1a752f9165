//! Requests of a driver, as lines of JSON.

/// A request without its id, which is added when it is sent.
#[derive(Debug, Clone)]
pub struct Request {
    /// The text after the id, including the closing brace and the line end.
    tail: String,
}

impl Request {
    /// A request for `method`, which must need no escaping in JSON.
    pub fn new(method: &str) -> Self {
        Self { tail: format!(",\"method\":\"{method}\"}}\n") }
    }

    /// A request for `method` with `params`, which must be JSON on one line.
    pub fn with_params(method: &str, params: &str) -> Self {
        Self { tail: format!(",\"method\":\"{method}\",\"params\":{params}}}\n") }
    }

    pub fn ping() -> Self {
        Self::new("ping")
    }

    pub fn list_tools() -> Self {
        Self::new("tools/list")
    }

    /// A call of the tool `name`, which must need no escaping, with `arguments`, a JSON object on one line.
    pub fn call_tool(name: &str, arguments: &str) -> Self {
        Self::with_params("tools/call", &format!(r#"{{"name":"{name}","arguments":{arguments}}}"#))
    }

    pub(crate) fn initialize() -> Self {
        let params = concat!(
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"#,
            r#""clientInfo":{"name":"mcp-bash-bench","version":"0.1.0"}}"#
        );
        Self::with_params("initialize", params)
    }

    /// Appends the whole line to `out`.
    pub(crate) fn write_line(&self, id: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        out.extend_from_slice(id.to_string().as_bytes());
        out.extend_from_slice(self.tail.as_bytes());
    }
}
