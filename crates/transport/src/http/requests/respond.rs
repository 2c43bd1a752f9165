//! Responses that the transport makes itself, and the headers of all responses.

use crate::http::requests::body::ResponseBody;
use crate::http::streams::events::Events;
use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::{Response, StatusCode};
use mcp_bash_wire::{Id, RpcError, write};
use std::borrow::Cow;
use std::time::Duration;

pub(in crate::http) type Answer = Response<ResponseBody>;

/// The response to a refused request.
pub(in crate::http) type Refusal = Box<Answer>;

pub(in crate::http) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub(in crate::http) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(in crate::http) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// A message of the server.
pub(in crate::http) fn message(status: StatusCode, message: Bytes) -> Answer {
    let mut response = Response::new(ResponseBody::text(message));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// An error of the transport, as a JSON-RPC error.
pub(in crate::http) fn error(status: StatusCode, id: Option<&Id>, error: &RpcError) -> Answer {
    message(status, write::error(id, error).into())
}

/// Refuses a request, with the reason.
pub(in crate::http) fn refusal(code: StatusCode, reason: impl Into<Cow<'static, str>>) -> Answer {
    error(code, None, &RpcError::invalid_request(reason))
}

/// Refuses a request with a challenge, which tells the client which token to get.
pub(in crate::http) fn challenged(code: StatusCode, reason: &'static str, challenge: HeaderValue) -> Answer {
    let mut response = refusal(code, reason);
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response
}

/// A stream of events.
pub(in crate::http) fn events(events: Events) -> Answer {
    event_stream(ResponseBody::events(events))
}

/// An empty stream of events.
pub(in crate::http) fn no_events() -> Answer {
    event_stream(ResponseBody::nothing())
}

fn event_stream(body: ResponseBody) -> Answer {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, EVENTS);
    // Chromium caches streams unless `no-store` forbids it, and then sends a DELETE to the same address twice.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-store, no-transform"));
    // Disables response buffering in nginx and other proxies.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// A status without a body.
pub(in crate::http) fn status(status: StatusCode) -> Answer {
    let mut response = Response::new(ResponseBody::nothing());
    *response.status_mut() = status;
    response
}

/// A status with a plain text.
pub(in crate::http) fn plain(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    let mut response = Response::new(ResponseBody::text(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// Refuses a method that the path does not support.
pub(in crate::http) fn not_allowed(allowed: &'static str) -> Answer {
    let reason = RpcError::invalid_request(format!("Method not allowed: this endpoint takes {allowed}"));
    let mut response = error(StatusCode::METHOD_NOT_ALLOWED, None, &reason);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

/// Refuses a request whose headers are too long.
pub(in crate::http) fn head_too_long() -> Answer {
    let text = "The headers are too long; MCPBASH_HTTP_MAX_HEADER_BYTES sets the limit\n";
    let mut response = plain(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, text);
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Refuses a request that the client may send again later.
pub(in crate::http) fn later(status: StatusCode, wait: Duration, reason: String) -> Answer {
    let mut response = error(status, None, &RpcError::internal(reason));
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
    response
}
