//! JSON-RPC errors: the error object of an answer, and the codes this server uses.

use crate::{ObjectError, Revision};
use mcp_bash_harmless::clip;
use std::borrow::Cow;

/// Error codes: JSON-RPC's own, those of the MCP specification, and those of older servers that our clients know.
pub mod code {
    pub const PARSE_ERROR: i32 = -32700;
    pub const INVALID_REQUEST: i32 = -32600;
    pub const METHOD_NOT_FOUND: i32 = -32601;
    pub const INVALID_PARAMS: i32 = -32602;
    pub const INTERNAL_ERROR: i32 = -32603;
    /// A request before `initialize`, or before `notifications/initialized`.
    pub const NOT_INITIALIZED: i32 = -32000;
    /// A resource that does not exist, before the stateless era.
    pub const RESOURCE_NOT_FOUND: i32 = -32002;
    /// A request after `shutdown`.
    pub const SHUTTING_DOWN: i32 = -32003;
    /// `exit` before `shutdown`.
    pub const EXIT_BEFORE_SHUTDOWN: i32 = -32005;
    /// A request whose token lacks a scope, over HTTP.
    pub const INSUFFICIENT_SCOPE: i32 = -32010;
    /// Headers of an HTTP request that contradict its body.
    pub const HEADER_MISMATCH: i32 = -32020;
    /// A request whose work needs a capability that its client did not declare.
    pub const MISSING_CLIENT_CAPABILITY: i32 = -32021;
    /// A stateless request of a revision we do not speak.
    pub const UNSUPPORTED_VERSION: i32 = -32022;

    /// What each code means to the client that gets it, in words.
    pub const MEANINGS: &[(i32, &str)] = &[
        (PARSE_ERROR, "The line is no JSON. There is no id to answer to"),
        (
            INVALID_REQUEST,
            "The message is no request: a member is missing or wrong, its id is in flight already, it is too long or \
             nested too deep, or a batch in a revision that has none",
        ),
        (METHOD_NOT_FOUND, "No such method in this revision, or a capability that is not offered"),
        (
            INVALID_PARAMS,
            "The params are wrong: an unknown tool or prompt, a missing argument of a prompt, a bad cursor; from \
             2026-07-28 on also an unknown resource or incomplete `_meta`. A policy may refuse with it",
        ),
        (
            INTERNAL_ERROR,
            "The request is right and could not be served: a limit was met, output breaks its schema, a provider \
             failed. The message names the setting or the reason",
        ),
        (NOT_INITIALIZED, "A request before `initialize`, or before `notifications/initialized`"),
        (RESOURCE_NOT_FOUND, "There is no such resource, up to 2025-11-25"),
        (SHUTTING_DOWN, "A request after `shutdown`"),
        (EXIT_BEFORE_SHUTDOWN, "`exit` before `shutdown`"),
        (
            INSUFFICIENT_SCOPE,
            "Over HTTP, with status 403: the token lacks scopes that the tool needs; `data` says which",
        ),
        (HEADER_MISMATCH, "Over HTTP: a header that is missing, comes twice or contradicts the body"),
        (
            MISSING_CLIENT_CAPABILITY,
            "The work needs a capability that the client did not declare; `data` says which",
        ),
        (
            UNSUPPORTED_VERSION,
            "A version that is not spoken here; `data` has what was asked for and what would do",
        ),
    ];
}

/// The `error` member of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    pub code: i32,
    pub message: Cow<'static, str>,
    /// JSON text for the `data` member.
    pub data: Option<String>,
}

impl RpcError {
    /// A message that is very long, because it quotes a client or a script, is truncated.
    pub fn new(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        let message = message.into();
        let message = if message.len() > LONGEST_MESSAGE { in_part(&message).into() } else { message };
        Self { code, message, data: None }
    }

    /// A short message that programs may compare, with the reason or the fix in `data`, for people.
    pub fn with_reason(code: i32, message: &'static str, reason: &str) -> Self {
        let reason = serde_json::Value::from(in_part(reason));
        Self { data: Some(reason.to_string()), ..Self::new(code, message) }
    }

    /// Whether its code says that the request cannot be served as it came, whatever its handler would find.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self.code,
            code::METHOD_NOT_FOUND
                | code::INSUFFICIENT_SCOPE
                | code::HEADER_MISMATCH
                | code::MISSING_CLIENT_CAPABILITY
                | code::UNSUPPORTED_VERSION
        )
    }

    pub fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(code::INVALID_REQUEST, message)
    }

    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(code::INTERNAL_ERROR, message)
    }

    pub fn method_not_found(method: &str) -> Self {
        Self::new(code::METHOD_NOT_FOUND, format!("Method not found: {}", clip(method, EXCERPT)))
    }

    /// There is no resource `uri`, as `revision` reports it.
    pub fn resource_not_found(revision: Revision, uri: &str) -> Self {
        let data = serde_json::json!({ "uri": in_part(uri) });
        let message = format!("Resource not found: {}", clip(uri, EXCERPT));
        Self { data: Some(data.to_string()), ..Self::new(revision.missing_resource_code(), message) }
    }

    /// A stateless request asked for `requested`; the answer lists the supported versions.
    pub fn unsupported_version(requested: &str) -> Self {
        let supported: Vec<&str> = Revision::stateless().map(Revision::as_str).collect();
        let data = serde_json::json!({ "supported": supported, "requested": in_part(requested) });
        Self {
            data: Some(data.to_string()),
            ..Self::new(code::UNSUPPORTED_VERSION, "Unsupported protocol version")
        }
    }

    /// The request requires `capabilities` (a JSON object of client capabilities) that were not declared.
    pub fn missing_client_capability(capabilities: &serde_json::Value) -> Self {
        let data = serde_json::json!({ "requiredCapabilities": capabilities });
        Self {
            data: Some(data.to_string()),
            ..Self::new(code::MISSING_CLIENT_CAPABILITY, "The client lacks a capability this request needs")
        }
    }

    /// The request needs a token with all of these scopes.
    pub fn insufficient_scope(scopes: &[String]) -> Self {
        let data = serde_json::json!({ "requiredScopes": scopes });
        let message = "The token does not have the scopes that this needs";
        Self { data: Some(data.to_string()), ..Self::new(code::INSUFFICIENT_SCOPE, message) }
    }
}

impl From<ObjectError> for RpcError {
    fn from(error: ObjectError) -> Self {
        Self::invalid_params(format!("Invalid params: {error}"))
    }
}

/// The longest message of an error, and the longest text that is quoted in its data.
const LONGEST_MESSAGE: usize = 64 * 1024;

/// A text of any length: whole, or if it is too long its beginning and its end.
pub fn in_part(text: &str) -> String {
    if text.len() <= LONGEST_MESSAGE {
        return text.to_owned();
    }
    let half = LONGEST_MESSAGE / 2;
    let head = &text[..(0..=half).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)];
    let tail = text.len() - half;
    let tail = &text[(tail..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())..];
    format!("{head} […{} bytes…] {tail}", text.len() - head.len() - tail.len())
}

/// How much of a foreign text a message quotes, in characters.
const EXCERPT: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn data(error: &RpcError) -> Value {
        serde_json::from_str(error.data.as_deref().unwrap()).unwrap()
    }

    #[test]
    fn errors_of_the_specification_carry_their_data() {
        let version = RpcError::unsupported_version("1900-01-01");
        assert_eq!((version.code, data(&version)["requested"].as_str()), (-32022, Some("1900-01-01")));
        assert_eq!(data(&version)["supported"], json!(["2026-07-28"]));
        let missing = RpcError::missing_client_capability(&json!({ "elicitation": {} }));
        assert_eq!(missing.code, -32021);
        assert_eq!(data(&missing), json!({ "requiredCapabilities": { "elicitation": {} } }));
    }

    #[test]
    fn client_input_is_quoted_only_in_part() {
        assert!(RpcError::method_not_found(&"x".repeat(10_000)).message.len() < 200);
        let long = format!("first{}last", "é".repeat(LONGEST_MESSAGE));
        let told = RpcError::internal(long.clone()).message;
        assert!(told.starts_with("firsté") && told.ends_with("élast") && told.len() < LONGEST_MESSAGE + 50);
        let missing = RpcError::resource_not_found(Revision::NEWEST_HANDSHAKE, &long);
        assert!(missing.data.unwrap().len() < LONGEST_MESSAGE + 100);
    }
}
