//! Routing headers: in the stateless era, HTTP headers repeat parts of the message, so that proxies can route by them. A
//! request whose headers contradict it is rejected.

use super::header_values::{decode, must_be_repeated, repeats};
use super::resolved::Resolved;
use crate::callers::trace_context;
use crate::offered::Snapshot;
use mcp_bash_project::HeaderParameter;
use mcp_bash_scripts::TraceVariables;
use mcp_bash_wire::{Object, Raw, RequestMeta, RpcError, code};
use serde_json::json;
use std::borrow::Cow;

/// The headers of a message.
pub trait Headers {
    /// The header of this name, case-insensitive, without white space around its value.
    fn get(&self, name: &str) -> Header<'_>;
}

/// The value of one header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header<'a> {
    Absent,
    Once(&'a [u8]),
    /// Sent more than once, so its value is ambiguous.
    Repeated,
}

const VERSION: &str = "MCP-Protocol-Version";
const METHOD: &str = "Mcp-Method";
const NAME: &str = "Mcp-Name";

/// How much of a value is quoted to the client that sent it.
const LONGEST_QUOTE: usize = 80;

/// Whether the headers of a request have to repeat its content: in the stateless era. `initialize` starts a session, whatever
/// else the request contains.
pub(super) fn is_repeated_in_headers(meta: &RequestMeta<'_>, request: &Resolved<'_>) -> bool {
    meta.is_stateless() && request.method_name() != "initialize"
}

/// The trace context in the headers of the HTTP request.
pub(super) fn trace(headers: &dyn Headers) -> TraceVariables {
    let text = |name| match headers.get(name) {
        Header::Once(value) => std::str::from_utf8(value).ok(),
        _ => None,
    };
    trace_context::of_texts([text("traceparent"), text("tracestate"), text("baggage")])
}

/// Rejects a request whose header names a different version. An incomplete request is rejected afterwards, with a more precise
/// error (`RequestContext::of`), and a missing header once the version is known to be supported (`check_method_and_name`).
pub(super) fn check_version(headers: &dyn Headers, meta: &RequestMeta<'_>) -> Result<(), RpcError> {
    let is_complete = meta.client_capabilities.is_some_and(Raw::is_object);
    let version = meta.protocol_version.and_then(Raw::string).filter(|_| is_complete);
    let header = headers.get(VERSION);
    match version {
        Some(version) if header != Header::Absent => {
            is_exactly(header, VERSION, "the version in `_meta`", &version)
        }
        _ => Ok(()),
    }
}

/// Rejects a request whose headers lack a version, or name a different method, tool, prompt or resource.
pub(super) fn check_method_and_name(headers: &dyn Headers, request: &Resolved<'_>) -> Result<(), RpcError> {
    if headers.get(VERSION) == Header::Absent {
        return Err(mismatch(VERSION, "is missing; it must repeat the version in `_meta`"));
    }
    is_exactly(headers.get(METHOD), METHOD, "`method`", request.method_name())?;
    let Some(member) = request.subject_member() else { return Ok(()) };
    let value = request.subject()?.filter(|value| value.is_string());
    let place = format!("params.{}", member.name);
    repeats_value(headers.get(NAME), NAME, &place, value, member.is_needed_in_headers)
}

/// Rejects a call whose headers contradict its arguments, for the arguments that its tool maps to headers.
pub(super) fn check_arguments(
    headers: &dyn Headers,
    request: &Resolved<'_>,
    snapshot: &Snapshot,
) -> Result<(), RpcError> {
    if request.method_name() != "tools/call" {
        return Ok(());
    }
    let Some(params) = request.params() else { return Ok(()) };
    let params = Object::read(params, "params", &["arguments"])?;
    let Some((tool, schemas)) = request.tool(snapshot) else { return Ok(()) };
    for HeaderParameter { header, path } in schemas.header_parameters(tool) {
        let value = follow(params.get("arguments"), path)?;
        let place = format!("params.arguments.{}", path.join("."));
        repeats_value(headers.get(header), header, &place, value, true)?;
    }
    Ok(())
}

/// The value at a path. Null counts as absent. A name that occurs twice is ambiguous, and is rejected.
fn follow<'a>(from: Option<Raw<'a>>, names: &[String]) -> Result<Option<Raw<'a>>, RpcError> {
    let mut here = from;
    for name in names {
        let Some(object) = here.filter(|value| value.is_object()) else { return Ok(None) };
        here = Object::read(object, "arguments", &[name])?.get(name);
    }
    Ok(here.filter(|value| !value.is_null()))
}

/// Rejects a header that is not exactly this text.
fn is_exactly(header: Header<'_>, name: &str, what: &str, text: &str) -> Result<(), RpcError> {
    match header {
        Header::Once(value) if value == text.as_bytes() => Ok(()),
        Header::Once(value) => Err(contradicts(name, &String::from_utf8_lossy(value), what, text)),
        Header::Absent => Err(missing(name, what, text)),
        Header::Repeated => Err(mismatch(name, "appears more than once")),
    }
}

/// Rejects a header that does not repeat the value at `place`, or repeats one that does not exist.
fn repeats_value(
    header: Header<'_>,
    name: &str,
    place: &str,
    value: Option<Raw<'_>>,
    is_needed: bool,
) -> Result<(), RpcError> {
    let what = format!("`{place}`");
    let said = match header {
        Header::Repeated => return Err(mismatch(name, "appears more than once")),
        Header::Absent => {
            return match value.filter(|value| is_needed && must_be_repeated(*value)) {
                Some(value) => Err(missing(name, &what, &plain(value))),
                None => Ok(()),
            };
        }
        Header::Once(said) => decode(said).map_err(|unreadable| mismatch(name, unreadable.words()))?,
    };
    match value {
        Some(value) if repeats(&said, value) => Ok(()),
        Some(value) => Err(contradicts(name, &said, &what, &plain(value))),
        None => Err(mismatch(name, &format!("says `{}`, but {what} has no value", quote(&said)))),
    }
}

/// A value as written in a header.
fn plain(value: Raw<'_>) -> Cow<'_, str> {
    value.string().unwrap_or(Cow::Borrowed(value.text()))
}

fn missing(header: &str, what: &str, expected: &str) -> RpcError {
    mismatch(header, &format!("is missing; it must repeat {what}, `{}`", quote(expected)))
}

fn contradicts(header: &str, said: &str, what: &str, expected: &str) -> RpcError {
    mismatch(header, &format!("says `{}`, but {what} is `{}`", quote(said), quote(expected)))
}

fn mismatch(header: &str, problem: &str) -> RpcError {
    let message = format!("Header mismatch: the header `{header}` {problem}");
    RpcError {
        data: Some(json!({ "header": header }).to_string()),
        ..RpcError::new(code::HEADER_MISMATCH, message)
    }
}

/// The beginning of an untrusted text.
fn quote(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}
