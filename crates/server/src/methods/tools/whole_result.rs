//! Whole results: a `CallToolResult` or JSON-RPC error that a script writes itself.

use super::content_check;
use mcp_bash_wire::{Limits, Object, Raw, RpcError, Scanner, surrogates, write};
use std::borrow::Cow;

/// A `CallToolResult` that a script printed.
pub(super) struct WholeResult<'a> {
    pub(super) content: Raw<'a>,
    pub(super) structured: Option<Raw<'a>>,
    pub(super) is_error: bool,
    pub(super) meta: Option<Raw<'a>>,
}

impl<'a> WholeResult<'a> {
    /// `None` if it is not a result: a result has an array `content`.
    pub(super) fn read(raw: Raw<'a>) -> Option<Self> {
        let result =
            Object::read(raw, "the result", &["content", "structuredContent", "isError", "_meta"]).ok()?;
        Some(Self {
            content: result.get("content").filter(|content| content.is_array())?,
            structured: result.get("structuredContent").filter(|structured| !structured.is_null()),
            is_error: result.get("isError").is_some_and(|raw| raw.text() == "true"),
            meta: result.optional_object("_meta").ok()?,
        })
    }
}

/// Replaces lone surrogates in JSON output. `None` if there is nothing to replace.
pub(super) fn without_lone_surrogates(printed: &str) -> Option<String> {
    let Cow::Owned(repaired) = surrogates::repaired(printed) else { return None };
    let is_json = Scanner::new(repaired.trim(), Limits::default()).whole_value().is_ok();
    is_json.then_some(repaired)
}

/// Parses `{"code": …, "message": …, "data": …}` as an error.
pub(super) fn rpc_error(text: &str) -> Option<RpcError> {
    let whole = Scanner::new(text, Limits::default()).whole_value().ok()?;
    let error = Object::read(whole, "the error", &["code", "message", "data"]).ok()?;
    let code = error.get("code")?.text().parse().ok()?;
    let message = error.get("message").and_then(Raw::string)?.into_owned();
    let data = error.get("data").filter(|data| !data.is_null()).map(|data| write::compact(data.text()));
    Some(RpcError { data, ..RpcError::new(code, message) })
}

/// A `CallToolResult`, if its content is valid.
pub(super) fn readable_result(raw: Raw<'_>) -> Option<WholeResult<'_>> {
    WholeResult::read(raw).filter(|whole| content_check::problem(whole.content).is_none())
}
