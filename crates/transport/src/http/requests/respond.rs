//! Responses without a message of the server, and the headers of all responses.

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

/// The answer to a request that is not served any further.
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

/// An error that the transport found, in the form that clients know.
pub(in crate::http) fn error(status: StatusCode, id: Option<&Id>, error: &RpcError) -> Answer {
    message(status, write::error(id, error).into())
}

/// A request that cannot be served, and why.
pub(in crate::http) fn refusal(code: StatusCode, reason: impl Into<Cow<'static, str>>) -> Answer {
    error(code, None, &RpcError::invalid_request(reason))
}

/// The same with a challenge, which tells a client which token to get.
pub(in crate::http) fn challenged(code: StatusCode, reason: &'static str, challenge: HeaderValue) -> Answer {
    let mut response = refusal(code, reason);
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response
}

/// A stream of events.
pub(in crate::http) fn events(events: Events) -> Answer {
    event_stream(ResponseBody::events(events))
}

/// A stream that is over before it has begun.
pub(in crate::http) fn no_events() -> Answer {
    event_stream(ResponseBody::nothing())
}

fn event_stream(body: ResponseBody) -> Answer {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, EVENTS);
    // Chromium writes a stream that may be stored into its cache, and sends a DELETE to the same address twice then.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-store, no-transform"));
    // For proxies that would rather collect it first.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// Only a status.
pub(in crate::http) fn status(status: StatusCode) -> Answer {
    let mut response = Response::new(ResponseBody::nothing());
    *response.status_mut() = status;
    response
}

/// A status and a reason, for people.
pub(in crate::http) fn plain(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    let mut response = Response::new(ResponseBody::text(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// A method that the endpoint does not have.
pub(in crate::http) fn not_allowed(allowed: &'static str) -> Answer {
    let reason = RpcError::invalid_request(format!("Method not allowed: this endpoint takes {allowed}"));
    let mut response = error(StatusCode::METHOD_NOT_ALLOWED, None, &reason);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

/// A request whose headers nobody wants to read.
pub(in crate::http) fn head_too_long() -> Answer {
    let text = "The headers are too long; MCPBASH_HTTP_MAX_HEADER_BYTES sets the limit\n";
    let mut response = plain(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, text);
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Come back later.
pub(in crate::http) fn later(status: StatusCode, wait: Duration, reason: String) -> Answer {
    let mut response = error(status, None, &RpcError::internal(reason));
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
    response
}
