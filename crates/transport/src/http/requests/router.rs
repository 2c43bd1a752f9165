//! Router: runs the checks of an HTTP request, and passes it to its handler.

use super::accepts::accepts;
use super::body::ResponseBody;
use super::endpoint::{Endpoint, RETRY};
use super::headers::only;
use super::incoming::{self, BodyError};
use super::old_sse;
use super::post::post;
use super::resource_metadata;
use super::respond::{self, Answer};
use super::session_requests::{delete, get};
use crate::http::identity::Head;
use crate::http::identity::visitor::Visitor;
use crate::http::limits::slow_client_timeout::Serving;
use http::header::{CONTENT_TYPE, ORIGIN};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use hyper::body::Incoming;
use mcp_bash_server::Principal;
use std::sync::Arc;

/// The route of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    Endpoint,
    OldStream,
    OldMessages,
}

impl Route {
    fn methods(self) -> &'static [Method] {
        match self {
            Self::Endpoint => &[Method::POST, Method::GET, Method::DELETE],
            Self::OldStream => &[Method::GET],
            Self::OldMessages => &[Method::POST],
        }
    }

    /// The value of `Allow`.
    fn allowed(self) -> &'static str {
        match self {
            Self::Endpoint => "POST, GET, DELETE, OPTIONS",
            Self::OldStream => "GET, OPTIONS",
            Self::OldMessages => "POST, OPTIONS",
        }
    }
}

/// Serves one request.
pub(in crate::http) async fn serve(
    endpoint: &Arc<Endpoint>,
    visitor: &Visitor,
    request: Request<Incoming>,
) -> Answer {
    // A page whose origin is refused cannot read the response, not even the reason.
    let is_let_in =
        |_: &&HeaderValue| endpoint.access.check(request.uri(), request.headers(), visitor.is_tls).is_ok();
    let origin = request.headers().get(ORIGIN).filter(is_let_in).cloned();
    let mut answered = answer(endpoint, visitor, request).await;
    if let Some(reason) = refusal_reason(answered.status()) {
        endpoint.count_refusal(reason);
    }
    if let Some(origin) = origin {
        for (name, value) in endpoint.access.cors_headers(&origin) {
            // Replaces a header that is already there: browsers reject repeated CORS headers.
            answered.headers_mut().insert(name, value);
        }
    }
    answered
}

async fn answer(endpoint: &Arc<Endpoint>, visitor: &Visitor, request: Request<Incoming>) -> Answer {
    if head_bytes(&request) > endpoint.options().limits.header_bytes {
        return respond::head_too_long();
    }
    if let Some(metadata) = endpoint.identity_source.metadata().filter(|it| it.is_at(request.uri().path())) {
        return resource_metadata::answer(endpoint, metadata, &request);
    }
    let Some(route) = route(endpoint, request.uri().path()) else {
        return respond::plain(StatusCode::NOT_FOUND, "Not found. MCP is at /mcp\n");
    };
    let method = request.method();
    if *method != Method::OPTIONS && !route.methods().contains(method) {
        return respond::not_allowed(route.allowed());
    }
    if let Err(refused) = endpoint.access.check(request.uri(), request.headers(), visitor.is_tls) {
        if let Some(audit) = endpoint.server.audit() {
            audit.access_refused(&visitor.name, refused.audit_reason());
        }
        return respond::refusal(refused.status, refused.reason);
    }
    if method == Method::OPTIONS {
        return endpoint.access.preflight(request.headers()).map(|()| ResponseBody::nothing());
    }
    let principal = match endpoint.principal_of(visitor, head_of(&request)).await {
        Ok(principal) => principal,
        Err(refused) => return *refused,
    };
    if *request.method() != Method::POST {
        visitor.serving.note_read();
    }
    match (route, request.method().clone()) {
        (Route::OldStream, _) => old_sse::open(endpoint, principal).await,
        (_, Method::GET) => {
            get(endpoint, &principal, request.headers()).await.unwrap_or_else(|refused| *refused)
        }
        (_, Method::DELETE) => {
            delete(endpoint, &principal, request.headers()).await.unwrap_or_else(|refused| *refused)
        }
        (route, _) => read_and_post(endpoint, route, principal, request, &visitor.serving).await,
    }
}

/// The route of a path.
fn route(endpoint: &Endpoint, path: &str) -> Option<Route> {
    match path {
        "/mcp" | "/mcp/" => Some(Route::Endpoint),
        old_sse::STREAM_PATH if endpoint.options().legacy_sse => Some(Route::OldStream),
        old_sse::MESSAGE_PATH if endpoint.options().legacy_sse => Some(Route::OldMessages),
        _ => None,
    }
}

async fn read_and_post(
    endpoint: &Arc<Endpoint>,
    route: Route,
    principal: Arc<Principal>,
    request: Request<Incoming>,
    serving: &Serving,
) -> Answer {
    let (parts, body) = request.into_parts();
    if !is_json(&parts.headers) {
        let reason = "Unsupported Media Type: Content-Type must be application/json";
        return respond::refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason);
    }
    let kinds = ["application/json", "text/event-stream"];
    if route == Route::Endpoint && !kinds.iter().all(|kind| accepts(&parts.headers, kind)) {
        let reason = "Not Acceptable: Accept must name application/json and text/event-stream";
        return respond::refusal(StatusCode::NOT_ACCEPTABLE, reason);
    }
    let body = incoming::read(body, endpoint.options(), principal.caller.budget()).await;
    serving.note_read();
    match body {
        Ok(body) if route == Route::OldMessages => old_sse::post(endpoint, &principal, &parts.uri, &body),
        Ok(body) => post(endpoint, principal, &parts.headers, body, serving).await,
        Err(BodyError::TooLong(limit)) => {
            let reason = format!(
                "Payload Too Large: a message may have {limit} bytes; MCPBASH_HTTP_MAX_BODY_BYTES sets the limit"
            );
            respond::refusal(StatusCode::PAYLOAD_TOO_LARGE, reason)
        }
        Err(BodyError::TooSlow) => {
            let reason = "Request Timeout: the body did not arrive in time";
            respond::refusal(StatusCode::REQUEST_TIMEOUT, reason)
        }
        Err(BodyError::NoRoom(why)) => {
            respond::later(StatusCode::SERVICE_UNAVAILABLE, RETRY, format!("Server busy: {why}"))
        }
        Err(BodyError::Broken) => respond::status(StatusCode::BAD_REQUEST),
    }
}

/// The reason of a refusal, as a label of the metrics. `None` if the status is no refusal.
fn refusal_reason(status: StatusCode) -> Option<&'static str> {
    let reason = match status {
        StatusCode::BAD_REQUEST => "bad_request",
        StatusCode::UNAUTHORIZED => "unauthenticated",
        StatusCode::FORBIDDEN => "forbidden",
        StatusCode::NOT_FOUND => "not_found",
        StatusCode::METHOD_NOT_ALLOWED => "method",
        StatusCode::NOT_ACCEPTABLE => "not_acceptable",
        StatusCode::REQUEST_TIMEOUT => "too_slow",
        StatusCode::PAYLOAD_TOO_LARGE => "too_large",
        StatusCode::UNSUPPORTED_MEDIA_TYPE => "content_type",
        StatusCode::MISDIRECTED_REQUEST => "host",
        StatusCode::TOO_MANY_REQUESTS => "rate",
        StatusCode::SERVICE_UNAVAILABLE => "no_room",
        status if status.is_client_error() || status.is_server_error() => "other",
        _ => return None,
    };
    Some(reason)
}

fn head_of(request: &Request<Incoming>) -> Head<'_> {
    Head { method: request.method(), uri: request.uri(), headers: request.headers() }
}

/// The minimum size of the request head. The parser enforces the limit only approximately.
fn head_bytes(request: &Request<Incoming>) -> usize {
    let headers = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len());
    let path = request.uri().path_and_query().map_or(0, |path| path.as_str().len());
    request.method().as_str().len() + path + headers.sum::<usize>()
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = only(headers, &CONTENT_TYPE).and_then(|value| value.split(';').next());
    kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}
