//! What happens to an HTTP request before its message reaches the server, check by check, and which method serves it.

use super::accepts::accepts;
use super::body::ResponseBody;
use super::door::Door;
use super::headers::only;
use super::identity::{Identify, Identity, Unidentified};
use super::incoming::{self, Unread};
use super::metrics::Metrics;
use super::old_sse::{self, OldSessions};
use super::options::Options;
use super::patience::Serving;
use super::post::post;
use super::rate::Rates;
use super::respond::{self, Answer, Refusal};
use super::session_requests::{delete, get};
use super::sessions::Sessions;
use super::streams::Streams;
use super::track::Rules;
use super::visitor::Visitor;
use super::waiting::Waiting;
use http::header::{CONTENT_TYPE, ORIGIN, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use hyper::body::Incoming;
use mcp_bash_server::{Caller, Server};
use mcp_bash_wire::RpcError;
use std::sync::Arc;
use std::time::Duration;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Endpoint,
    OldStream,
    OldMessages,
}

impl Place {
    fn methods(self) -> &'static [Method] {
        match self {
            Self::Endpoint => &[Method::POST, Method::GET, Method::DELETE],
            Self::OldStream => &[Method::GET],
            Self::OldMessages => &[Method::POST],
        }
    }

    /// The same, for clients.
    fn allowed(self) -> &'static str {
        match self {
            Self::Endpoint => "POST, GET, DELETE, OPTIONS",
            Self::OldStream => "GET, OPTIONS",
            Self::OldMessages => "POST, OPTIONS",
        }
    }
}

/// When a client may try again that found no room for a stream.
const RETRY: Duration = Duration::from_secs(5);

/// What all connections share.
pub(super) struct Endpoint {
    pub(super) server: Arc<Server>,
    pub(super) rules: Arc<Rules>,
    pub(super) sessions: Sessions,
    pub(super) waiting: Waiting,
    pub(super) streams: Arc<Streams>,
    pub(super) old_sessions: OldSessions,
    door: Door,
    identify: Box<dyn Identify>,
    metrics: Option<Arc<Metrics>>,
    rates: Rates,
    session_rates: Rates,
    options: Options,
}

impl Endpoint {
    pub(super) fn new(
        server: Arc<Server>,
        door: Door,
        identify: Box<dyn Identify>,
        metrics: Option<Arc<Metrics>>,
        options: Options,
    ) -> Self {
        Self {
            rules: Rules::of(&server),
            server,
            sessions: Sessions::new(&options.limits),
            waiting: Waiting::default(),
            streams: Streams::new(options.limits.streams),
            old_sessions: OldSessions::default(),
            door,
            identify,
            metrics,
            rates: Rates::default(),
            session_rates: Rates::default(),
            options,
        }
    }

    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    /// A request or a connection was refused.
    pub(super) fn count_refusal(&self, reason: &'static str) {
        if let Some(metrics) = &self.metrics {
            metrics.refused(reason);
        }
    }

    /// Those who only listen are told that it is over; what was asked is still answered.
    pub(super) fn end_listens(&self) {
        self.waiting.end_listens();
        self.old_sessions.end_all();
        for session in self.sessions.all() {
            session.end_unasked();
        }
    }

    pub(super) fn end_sessions(&self) {
        for session in self.sessions.all() {
            self.sessions.end(&session);
        }
    }

    /// Serves one request.
    pub(super) async fn serve(self: &Arc<Self>, visitor: &Visitor, request: Request<Incoming>) -> Answer {
        // A page that is not let in reads nothing, not even why.
        let is_let_in =
            |_: &&HeaderValue| self.door.check(request.uri(), request.headers(), visitor.is_tls).is_ok();
        let origin = request.headers().get(ORIGIN).filter(is_let_in).cloned();
        let mut answer = self.answer(visitor, request).await;
        if let Some(reason) = refusal_reason(answer.status()) {
            self.count_refusal(reason);
        }
        if let Some(origin) = origin {
            for (name, value) in self.door.cors_headers(&origin) {
                // In the place of what is there: a browser takes no header that stands twice.
                answer.headers_mut().insert(name, value);
            }
        }
        answer
    }

    async fn answer(self: &Arc<Self>, visitor: &Visitor, request: Request<Incoming>) -> Answer {
        if head_bytes(&request) > self.options.limits.header_bytes {
            return respond::head_too_long();
        }
        let Some(place) = self.place(request.uri().path()) else {
            return respond::plain(StatusCode::NOT_FOUND, "Not found. MCP is at /mcp\n");
        };
        let method = request.method();
        if *method != Method::OPTIONS && !place.methods().contains(method) {
            return respond::not_allowed(place.allowed());
        }
        if let Err(refused) = self.door.check(request.uri(), request.headers(), visitor.is_tls) {
            return respond::refusal(refused.status, refused.reason);
        }
        if method == Method::OPTIONS {
            return self.door.preflight(request.headers()).map(|()| ResponseBody::nothing());
        }
        let caller = match self.caller_of(visitor, request.headers()) {
            Ok(caller) => caller,
            Err(refused) => return *refused,
        };
        if *request.method() != Method::POST {
            visitor.serving.note_read();
        }
        match (place, request.method().clone()) {
            (Place::OldStream, _) => old_sse::open(self, &caller),
            (_, Method::GET) => get(self, &caller, request.headers()).unwrap_or_else(|refused| *refused),
            (_, Method::DELETE) => {
                delete(self, &caller, request.headers()).unwrap_or_else(|refused| *refused)
            }
            (place, _) => self.post(place, caller, request, &visitor.serving).await,
        }
    }

    /// What is at a path.
    fn place(&self, path: &str) -> Option<Place> {
        match path {
            "/mcp" | "/mcp/" => Some(Place::Endpoint),
            old_sse::STREAM_PATH if self.options.legacy_sse => Some(Place::OldStream),
            old_sse::MESSAGE_PATH if self.options.legacy_sse => Some(Place::OldMessages),
            _ => None,
        }
    }

    /// Who makes the request, if it may make one now.
    fn caller_of(&self, visitor: &Visitor, headers: &HeaderMap) -> Result<Arc<Caller>, Refusal> {
        let identity = self.identify.identify(headers, visitor).map_err(unknown)?;
        let Identity { name, rights, rate } = identity;
        if let Some(rate) = rate.or(self.options.limits.rate) {
            self.rates.allow(&name, rate).map_err(|wait| {
                let reason = "Too many requests of this caller; it may make more in a while".to_owned();
                Box::new(respond::later(StatusCode::TOO_MANY_REQUESTS, wait, reason))
            })?;
        }
        let caller = self.server.caller_with(&name, rights);
        visitor.keep(&caller);
        Ok(caller)
    }

    /// Whether that caller may begin one more session now.
    pub(super) fn allow_session(&self, caller: &Caller) -> Result<(), Refusal> {
        let Some(rate) = self.options.limits.session_rate else { return Ok(()) };
        self.session_rates.allow(caller.name(), rate).map_err(|wait| {
            let reason = "Too many sessions were begun by this caller; MCPBASH_HTTP_MAX_SESSIONS_PER_MIN sets the limit";
            Box::new(respond::later(StatusCode::TOO_MANY_REQUESTS, wait, reason.to_owned()))
        })
    }

    async fn post(
        self: &Arc<Self>,
        place: Place,
        caller: Arc<Caller>,
        request: Request<Incoming>,
        serving: &Serving,
    ) -> Answer {
        let (parts, body) = request.into_parts();
        if !is_json(&parts.headers) {
            let reason = "Unsupported Media Type: Content-Type must be application/json";
            return respond::refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason);
        }
        let kinds = ["application/json", "text/event-stream"];
        if place == Place::Endpoint && !kinds.iter().all(|kind| accepts(&parts.headers, kind)) {
            let reason = "Not Acceptable: Accept must name application/json and text/event-stream";
            return respond::refusal(StatusCode::NOT_ACCEPTABLE, reason);
        }
        let body = incoming::read(body, &self.options, caller.budget()).await;
        serving.note_read();
        match body {
            Ok(body) if place == Place::OldMessages => old_sse::post(self, &caller, &parts.uri, &body),
            Ok(body) => post(self, caller, &parts.headers, body, serving).await,
            Err(Unread::TooLong(limit)) => {
                let reason = format!(
                    "Payload Too Large: a message may have {limit} bytes; MCPBASH_HTTP_MAX_BODY_BYTES sets the limit"
                );
                respond::refusal(StatusCode::PAYLOAD_TOO_LARGE, reason)
            }
            Err(Unread::TooSlow) => {
                let reason = "Request Timeout: the body did not come in time";
                respond::refusal(StatusCode::REQUEST_TIMEOUT, reason)
            }
            Err(Unread::NoRoom(why)) => {
                respond::later(StatusCode::SERVICE_UNAVAILABLE, RETRY, format!("Server busy: {why}"))
            }
            Err(Unread::Broken) => respond::status(StatusCode::BAD_REQUEST),
        }
    }
}

/// The answer to one who does not say who it is.
fn unknown(unidentified: Unidentified) -> Refusal {
    if unidentified.throttled {
        let reason = "Too many tokens that this server does not know came from there".to_owned();
        return Box::new(respond::later(StatusCode::TOO_MANY_REQUESTS, RETRY, reason));
    }
    let error = RpcError::invalid_request("Unauthorized: this server wants a bearer token that it knows");
    let mut answer = respond::error(StatusCode::UNAUTHORIZED, None, &error);
    answer.headers_mut().insert(WWW_AUTHENTICATE, unidentified.challenge);
    Box::new(answer)
}

/// Why a request was refused that was answered with this status, in a word. None where it was not.
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

/// The answer to one who has too many streams.
pub(super) fn no_room() -> Refusal {
    let reason = "Too many streams are open; MCPBASH_HTTP_MAX_STREAMS sets the limit".to_owned();
    Box::new(respond::later(StatusCode::SERVICE_UNAVAILABLE, RETRY, reason))
}

/// What a head takes at least. Whoever parses it stops soon after the limit, and not before.
fn head_bytes(request: &Request<Incoming>) -> usize {
    let headers = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len());
    let path = request.uri().path_and_query().map_or(0, |path| path.as_str().len());
    request.method().as_str().len() + path + headers.sum::<usize>()
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = only(headers, &CONTENT_TYPE).and_then(|value| value.split(';').next());
    kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}
