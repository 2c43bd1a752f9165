//! POST requests, as bytes.

/// The client's `_meta` in every request of the stateless revision.
const META: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"mcp-bash-bench","version":"0.1.0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#
);

/// A request without the server's address, which is added when it is sent.
#[derive(Debug, Clone)]
pub struct Post {
    method: &'static str,
    headers: String,
    body: String,
}

impl Post {
    /// Discovers a server of the stateless revision.
    pub fn discover(id: u32) -> Self {
        Self::stateless(id, "server/discover", None, "")
    }

    /// A call of the tool `name` without arguments, in the stateless revision. The name must need no escaping.
    pub fn call_tool(id: u32, name: &str) -> Self {
        let params = format!(r#""name":"{name}","arguments":{{}},"#);
        Self::stateless(id, "tools/call", Some(name), &params)
    }

    /// Listens for changes of the tool list, in the stateless revision.
    pub fn listen(id: u32) -> Self {
        Self::stateless(id, "subscriptions/listen", None, r#""notifications":{"toolsListChanged":true},"#)
    }

    /// Begins a session.
    pub fn initialize() -> Self {
        let body = concat!(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
            r#""capabilities":{},"clientInfo":{"name":"mcp-bash-bench","version":"0.1.0"}}}"#
        );
        Self { method: "POST", headers: String::new(), body: body.to_owned() }
    }

    /// Sends that a session is initialized.
    pub fn initialized(session: Option<&str>) -> Self {
        Self::in_session(session, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned())
    }

    pub fn ping(id: u32, session: Option<&str>) -> Self {
        Self::in_session(session, format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#))
    }

    /// Opens the stream of a session for messages that belong to no request.
    pub fn open_stream(session: Option<&str>) -> Self {
        Self { method: "GET", ..Self::in_session(session, String::new()) }
    }

    fn stateless(id: u32, method: &str, name: Option<&str>, params: &str) -> Self {
        let name = name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
        let headers = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}");
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{META}}}}}"#);
        Self { method: "POST", headers, body }
    }

    fn in_session(session: Option<&str>, body: String) -> Self {
        let session = session.map(|session| format!("Mcp-Session-Id: {session}\r\n")).unwrap_or_default();
        Self { method: "POST", headers: format!("MCP-Protocol-Version: 2025-11-25\r\n{session}"), body }
    }

    /// The whole request to a `path` of the server `host`.
    pub(super) fn render(&self, host: &str, path: &str) -> Vec<u8> {
        let Self { method, headers, body } = self;
        let length = body.len();
        let common = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{common}{headers}Content-Length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_its_length_and_valid_json() {
        for post in [Post::discover(7), Post::call_tool(7, "hi"), Post::listen(7), Post::ping(7, Some("s"))] {
            let bytes = post.render("127.0.0.1:1", "/mcp");
            let text = String::from_utf8(bytes).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.ends_with(&format!("Content-Length: {}", body.len())), "{head}");
            let message: serde_json::Value = serde_json::from_str(body).unwrap();
            assert_eq!(message["id"], 7);
        }
        let call = Post::call_tool(7, "hi").render("h", "/mcp");
        assert!(memchr::memmem::find(&call, b"\r\nMcp-Name: hi\r\n").is_some());
    }
}
