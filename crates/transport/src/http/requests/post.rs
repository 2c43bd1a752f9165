//! POST: one message and its reply. The response is JSON if the answer is the only message. It becomes a stream of events if
//! another message precedes the answer, or if the answer takes long.

use crate::http::limits::slow_client_timeout::Serving;
use crate::http::requests::endpoint::{Endpoint, no_room};
use crate::http::requests::headers::{RequestHeaders, only};
use crate::http::requests::incoming::Body;
use crate::http::requests::message::{Envelope, MessageKind, is_of_no_session};
use crate::http::requests::respond::{self, Answer, PROTOCOL_VERSION, Refusal, SESSION_ID};
use crate::http::sessions::session::Session;
use crate::http::sessions::{NoSession, NotTakenOver};
use crate::http::streams::events::Events;
use crate::http::streams::open_streams::OpenStream;
use crate::http::streams::replay_buffer::{Beginning, ReplayBuffer};
use crate::http::streams::reply::BufferedReply;
use http::{HeaderMap, HeaderValue, StatusCode};
use mcp_bash_server::{AuditReason, Client, Owed, Principal, Reply};
use mcp_bash_wire::{Id, Line, RpcError, code};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a response may take before it becomes an event stream, whose keep-alives show that the server is still there.
const SILENCE: Duration = Duration::from_secs(15);

/// The same for a half-closed connection: its client may wait for the answer, or be gone, which shows when something is sent.
const SILENCE_OF_HALF_CLOSED: Duration = Duration::from_millis(250);

/// `Retry-After` for a client that found no room.
const RETRY: Duration = Duration::from_secs(5);

pub(in crate::http) async fn post(
    endpoint: &Arc<Endpoint>,
    principal: Arc<Principal>,
    headers: &HeaderMap,
    body: Body,
    serving: &Serving,
) -> Answer {
    let envelope = Envelope::read(&body.bytes, endpoint.server.settings().limits);
    let version = headers.get(PROTOCOL_VERSION).map(|value| value.to_str().unwrap_or_default());
    if envelope.kind == MessageKind::Empty {
        let error = RpcError::with_reason(code::PARSE_ERROR, "Parse error", "the body is empty");
        return respond::error(StatusCode::BAD_REQUEST, None, &error);
    }
    if envelope.is_stateless(version) {
        return without_session(endpoint, principal, headers, body, envelope, serving).await;
    }
    if envelope.kind == MessageKind::Initialize {
        return initialize(endpoint, principal, headers, body, envelope, serving).await;
    }
    match session_of(endpoint, &principal, headers).await {
        Ok(session) => in_session(endpoint, &session, &principal, headers, body, envelope, serving).await,
        // An unreadable message gets a parse error, not the refusal for a missing session.
        Err(_) if envelope.kind == MessageKind::Unreadable => {
            without_session(endpoint, principal, headers, body, envelope, serving).await
        }
        Err(none) => *none.refusal(envelope.id.as_ref()),
    }
}

/// Serves a message of the stateless era. A client that closes the connection does not want the answer any more.
async fn without_session(
    endpoint: &Arc<Endpoint>,
    principal: Arc<Principal>,
    headers: &HeaderMap,
    body: Body,
    envelope: Envelope,
    serving: &Serving,
) -> Answer {
    if envelope.kind == MessageKind::Unanswered {
        // A cancellation could only refer to a request of another connection, which has request ids of its own.
        return respond::status(StatusCode::ACCEPTED);
    }
    let buffer = Arc::new(ReplayBuffer::new(None, &endpoint.rules, principal.caller.budget()));
    let client = Arc::new(Client::without_session(Arc::clone(&endpoint.server), Arc::clone(&principal)));
    let reply: Arc<dyn Reply> = Arc::new(BufferedReply::on(&buffer, envelope.id));
    let (line, headers) = (Line::Whole(&body.bytes), RequestHeaders(headers));
    let owed = client.receive_from(&principal, &line, Some(&headers), &reply);
    // The server has copied the parts that it still needs.
    drop(body);
    let request =
        StatelessRequest { client, principal, endpoint: Arc::clone(endpoint), waiting_number: None };
    if owed == Owed::Nothing {
        return respond::status(StatusCode::ACCEPTED);
    }
    if let Some(beginning) = buffer.try_beginning() {
        // A listening request is answered at shutdown.
        let request = if beginning == Beginning::Events { request.registered() } else { request };
        return request.respond(&buffer, beginning);
    }
    let request = request.registered();
    let beginning = beginning(&buffer, serving).await;
    request.respond(&buffer, beginning)
}

/// A stateless request. Its work is abandoned when the response is dropped.
struct StatelessRequest {
    client: Arc<Client>,
    principal: Arc<Principal>,
    endpoint: Arc<Endpoint>,
    /// The number of the client in `Waiting`, if it is registered there.
    waiting_number: Option<u64>,
}

impl StatelessRequest {
    /// Registers the client, so that its listening request ends at shutdown.
    fn registered(mut self) -> Self {
        self.waiting_number = Some(self.endpoint.waiting.enter(&self.client));
        self
    }

    /// Counts the event stream. Only streams of listening requests are limited: a call that has begun is not abandoned for lack
    /// of a stream, since it has a place among the calls and a connection.
    fn open_stream(&self) -> Option<OpenStream> {
        let (streams, caller) = (&self.endpoint.streams, self.client.caller());
        if self.client.is_listening() { streams.open(caller) } else { Some(streams.enter(caller)) }
    }

    fn respond(self, buffer: &Arc<ReplayBuffer>, beginning: Beginning) -> Answer {
        match beginning {
            Beginning::Answer(message, refused) => {
                let status = refused.map_or(StatusCode::OK, status_of_refusal);
                self.endpoint.answer(&self.principal, status, message)
            }
            Beginning::Nothing => respond::no_events(),
            Beginning::Events => {
                let Some(open) = self.open_stream() else { return *no_room() };
                let events = Events::new(buffer).holding(open);
                // A call that has begun may complete. A listening request ends when its token expires.
                let expires = self.principal.identity.expires.filter(|_| self.client.is_listening());
                let events = events.ending_at(expires);
                respond::events(events.on_close(Box::new(move || drop(self))))
            }
        }
    }
}

impl Drop for StatelessRequest {
    fn drop(&mut self) {
        if let Some(waiting_number) = self.waiting_number {
            self.endpoint.waiting.leave(waiting_number);
        }
        self.client.abandon();
    }
}

/// The HTTP status of a refused request of the stateless era.
fn status_of_refusal(code: i32) -> StatusCode {
    match code {
        code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        code::INSUFFICIENT_SCOPE => StatusCode::FORBIDDEN,
        code::PARSE_ERROR
        | code::INVALID_REQUEST
        | code::INVALID_PARAMS
        | code::HEADER_MISMATCH
        | code::MISSING_CLIENT_CAPABILITY
        | code::UNSUPPORTED_VERSION => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// The HTTP status of a refused request in a session, whose clients read the error from the body.
fn status_in_session(code: i32) -> StatusCode {
    match code {
        code::INSUFFICIENT_SCOPE => StatusCode::FORBIDDEN,
        code::PARSE_ERROR | code::INVALID_REQUEST => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// Waits until the reply begins. After a timeout it begins as an event stream.
async fn beginning(buffer: &ReplayBuffer, serving: &Serving) -> Beginning {
    let (mut silence, mut is_shortened) = (pin!(sleep(SILENCE)), false);
    // The connection and the reply are polled by one task, so that the end of input is noticed here.
    poll_fn(|context| {
        if let Poll::Ready(beginning) = buffer.poll_beginning(context) {
            return Poll::Ready(beginning);
        }
        if !is_shortened && serving.is_half_closed() {
            is_shortened = true;
            let soon = Instant::now() + SILENCE_OF_HALF_CLOSED;
            let deadline = silence.deadline();
            silence.as_mut().reset(soon.min(deadline));
        }
        silence.as_mut().poll(context).map(|()| buffer.begin_now())
    })
    .await
}

async fn initialize(
    endpoint: &Arc<Endpoint>,
    principal: Arc<Principal>,
    headers: &HeaderMap,
    body: Body,
    envelope: Envelope,
    serving: &Serving,
) -> Answer {
    if let Err(refused) = endpoint.allow_session(&principal.caller).await {
        return *refused;
    }
    let session = match endpoint.sessions.prepare(&endpoint.server, &endpoint.rules, &principal, &body.bytes)
    {
        Ok(session) => session,
        Err(NoSession::Full) => {
            return respond::later(StatusCode::SERVICE_UNAVAILABLE, RETRY, TOO_MANY_SESSIONS.to_owned());
        }
        Err(NoSession::NoId) => {
            let reason = "The system has no random numbers for a session".to_owned();
            return respond::later(StatusCode::SERVICE_UNAVAILABLE, RETRY, reason);
        }
    };
    let mut answer = in_session(endpoint, &session, &principal, headers, body, envelope, serving).await;
    if session.revision().is_some()
        && let Ok(id) = HeaderValue::from_str(&session.id)
    {
        endpoint.sessions.enter(&session);
        answer.headers_mut().insert(SESSION_ID, id);
    }
    answer
}

/// Serves a message of a session. Its work continues when the connection is lost, and its messages are kept for a client that
/// resumes the stream.
async fn in_session(
    endpoint: &Arc<Endpoint>,
    session: &Arc<Session>,
    principal: &Arc<Principal>,
    headers: &HeaderMap,
    body: Body,
    envelope: Envelope,
    serving: &Serving,
) -> Answer {
    let buffer = session.buffer(&endpoint.rules);
    let request = session.shared().and_then(|_| envelope.id.clone());
    let reply: Arc<dyn Reply> = Arc::new(BufferedReply::on(&buffer, envelope.id));
    // In a session the headers need not repeat the message; they may carry the trace context.
    let (line, headers) = (Line::Whole(&body.bytes), RequestHeaders(headers));
    let owed = session.client.receive_from(principal, &line, Some(&headers), &reply);
    drop(body);
    if session.client.has_exited() {
        endpoint.sessions.end(session);
    } else if session.has_ended() {
        // The session ended after it was found, so nothing else would stop the work that the message began.
        session.client.abandon();
    }
    if owed == Owed::Nothing {
        return respond::status(StatusCode::ACCEPTED);
    }
    let begun = match buffer.try_beginning() {
        Some(begun) => begun,
        None => beginning(&buffer, serving).await,
    };
    session.note_use();
    match begun {
        Beginning::Answer(message, refused) => {
            endpoint.answer(principal, refused.map_or(StatusCode::OK, status_in_session), message)
        }
        Beginning::Nothing => respond::no_events(),
        Beginning::Events => {
            let open = endpoint.streams.enter(session.client.caller());
            respond::events(session.events(&buffer, request.as_ref()).holding(open))
        }
    }
}

/// Why no session was found for a request.
pub(in crate::http) enum Sessionless {
    /// The request names no session.
    NotNamed,
    /// No session has that id, or it belongs to another caller.
    Unknown,
    /// The store does not answer, so it is unknown whether another server has ended the session.
    Unchecked,
    /// The session is of another server, and there are too many sessions at this one.
    Full,
    /// Sessions do not support the version in the header.
    BadVersion,
}

impl Sessionless {
    pub(in crate::http) fn refusal(self, id: Option<&Id>) -> Refusal {
        let (status, message) = match self {
            Self::Unchecked => {
                let reason = "The session cannot be looked up now; try again".to_owned();
                return Box::new(respond::later(StatusCode::SERVICE_UNAVAILABLE, RETRY, reason));
            }
            Self::Full => {
                let reason = TOO_MANY_SESSIONS.to_owned();
                return Box::new(respond::later(StatusCode::SERVICE_UNAVAILABLE, RETRY, reason));
            }
            Self::NotNamed => (StatusCode::BAD_REQUEST, "Bad Request: the header Mcp-Session-Id is missing"),
            Self::Unknown => (StatusCode::NOT_FOUND, "Session not found: begin a new one with `initialize`"),
            Self::BadVersion => (
                StatusCode::BAD_REQUEST,
                "Bad Request: no session speaks the version in the header MCP-Protocol-Version",
            ),
        };
        let code = if status == StatusCode::NOT_FOUND { NO_SESSION } else { code::INVALID_REQUEST };
        Box::new(respond::error(status, id, &RpcError::new(code, message)))
    }
}

const TOO_MANY_SESSIONS: &str = "There are too many sessions; MCPBASH_HTTP_MAX_SESSIONS sets the limit";

/// The error code that official clients expect for an unknown session.
const NO_SESSION: i32 = -32001;

/// The session of a request.
pub(in crate::http) async fn session_of(
    endpoint: &Endpoint,
    principal: &Arc<Principal>,
    headers: &HeaderMap,
) -> Result<Arc<Session>, Sessionless> {
    if headers.contains_key(PROTOCOL_VERSION) && only(headers, &PROTOCOL_VERSION).is_none_or(is_of_no_session)
    {
        return Err(Sessionless::BadVersion);
    }
    if !headers.contains_key(SESSION_ID) {
        return Err(Sessionless::NotNamed);
    }
    let id = only(headers, &SESSION_ID).ok_or(Sessionless::Unknown)?;
    if let Some(session) = endpoint.sessions.get(id, &principal.caller) {
        return Ok(session);
    }
    let taken_over = endpoint.sessions.take_over(id, &endpoint.server, &endpoint.rules, principal).await;
    taken_over.map_err(|why| match why {
        NotTakenOver::Unknown => {
            // This may be a session that has ended, whose id its caller may send once more.
            if let Some(audit) = endpoint.server.audit() {
                audit.request_refused(principal, AuditReason::Session);
            }
            Sessionless::Unknown
        }
        NotTakenOver::Unchecked => Sessionless::Unchecked,
        NotTakenOver::Full => Sessionless::Full,
    })
}
