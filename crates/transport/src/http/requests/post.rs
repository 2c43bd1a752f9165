//! POST: one message and its reply. The response is JSON if the answer is all there is to send; it becomes a stream of
//! events as soon as something comes before the answer, or when the answer takes long.

use crate::http::limits::slow_client_timeout::Serving;
use crate::http::requests::endpoint::{Endpoint, no_room};
use crate::http::requests::headers::{RequestHeaders, only};
use crate::http::requests::incoming::Body;
use crate::http::requests::message::{Look, MessageKind, is_of_no_session};
use crate::http::requests::respond::{self, Answer, PROTOCOL_VERSION, Refusal, SESSION_ID};
use crate::http::sessions::session::Session;
use crate::http::sessions::{NoSession, NotTakenOver};
use crate::http::streams::events::Events;
use crate::http::streams::open_streams::OpenStream;
use crate::http::streams::replay_buffer::{Beginning, ReplayBuffer};
use crate::http::streams::reply::Said;
use http::{HeaderMap, HeaderValue, StatusCode};
use mcp_bash_server::{AuditReason, Client, Owed, Principal, Reply};
use mcp_bash_wire::{Id, Line, RpcError, code};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// A client that has heard nothing for so long is told that we are still there, which takes a stream of events.
const SILENCE: Duration = Duration::from_secs(15);

/// One that has closed its writing side may wait for its answer, or be gone: that shows when something is sent to it.
const SILENCE_OF_HALF_CLOSED: Duration = Duration::from_millis(250);

/// When a client may try again that found no room.
const RETRY: Duration = Duration::from_secs(5);

pub(in crate::http) async fn post(
    endpoint: &Arc<Endpoint>,
    principal: Arc<Principal>,
    headers: &HeaderMap,
    body: Body,
    serving: &Serving,
) -> Answer {
    let look = Look::at(&body.bytes, endpoint.server.settings().limits);
    let version = headers.get(PROTOCOL_VERSION).map(|value| value.to_str().unwrap_or_default());
    if look.kind == MessageKind::Empty {
        let error = RpcError::with_reason(code::PARSE_ERROR, "Parse error", "the body is empty");
        return respond::error(StatusCode::BAD_REQUEST, None, &error);
    }
    if look.is_stateless(version) {
        return without_session(endpoint, principal, headers, body, look, serving).await;
    }
    if look.kind == MessageKind::Initialize {
        return first_of_session(endpoint, principal, headers, body, look, serving).await;
    }
    match session_of(endpoint, &principal, headers).await {
        Ok(session) => in_session(endpoint, &session, &principal, headers, body, look, serving).await,
        // What cannot be read is told so before it is asked for a session.
        Err(_) if look.kind == MessageKind::Unreadable => {
            without_session(endpoint, principal, headers, body, look, serving).await
        }
        Err(none) => *none.refusal(look.id.as_ref()),
    }
}

/// A message that says all about itself. Whoever closes the connection does not want the answer any more.
async fn without_session(
    endpoint: &Arc<Endpoint>,
    principal: Arc<Principal>,
    headers: &HeaderMap,
    body: Body,
    look: Look,
    serving: &Serving,
) -> Answer {
    if look.kind == MessageKind::Unanswered {
        // A cancellation could only be meant for a request of another connection, whose ids are its own.
        return respond::status(StatusCode::ACCEPTED);
    }
    let buffer = Arc::new(ReplayBuffer::new(None, &endpoint.rules, principal.caller.budget()));
    let client = Arc::new(Client::without_session(Arc::clone(&endpoint.server), Arc::clone(&principal)));
    let reply: Arc<dyn Reply> = Arc::new(Said::on(&buffer, look.id));
    let (line, headers) = (Line::Whole(&body.bytes), RequestHeaders(headers));
    let owed = client.receive_from(&principal, &line, Some(&headers), &reply);
    // What is still needed of it was copied.
    drop(body);
    let attended = Attended { client, principal, endpoint: Arc::clone(endpoint), number: None };
    if owed == Owed::Nothing {
        return respond::status(StatusCode::ACCEPTED);
    }
    if let Some(beginning) = buffer.try_beginning() {
        // One that has begun to listen is answered when the server ends.
        let attended = if beginning == Beginning::Events { attended.watched() } else { attended };
        return attended.respond(&buffer, beginning);
    }
    let attended = attended.watched();
    let beginning = beginning(&buffer, serving).await;
    attended.respond(&buffer, beginning)
}

/// A client without a session, whose work stops when nobody waits for it any more.
struct Attended {
    client: Arc<Client>,
    principal: Arc<Principal>,
    endpoint: Arc<Endpoint>,
    /// Among those that are told when the server ends.
    number: Option<u64>,
}

impl Attended {
    /// From now on it is told when the server ends.
    fn watched(mut self) -> Self {
        self.number = Some(self.endpoint.waiting.enter(&self.client));
        self
    }

    /// The streams of those who listen are limited in number. What has begun to work is not given up for want of a place
    /// to tell of it: it has a place among the calls, and a connection.
    fn place_of_stream(&self) -> Option<OpenStream> {
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
                let Some(open) = self.place_of_stream() else { return *no_room() };
                let events = Events::new(buffer).holding(open);
                // A call that has begun is finished. One who listens has to show a token that is still good.
                let expires = self.principal.identity.expires.filter(|_| self.client.is_listening());
                let events = events.ending_at(expires);
                respond::events(events.when_left(Box::new(move || drop(self))))
            }
        }
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.endpoint.waiting.leave(number);
        }
        self.client.abandon();
    }
}

/// The status of a request of the stateless era that was not served.
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

/// The same in a session, whose clients read the error from the body.
fn status_in_session(code: i32) -> StatusCode {
    match code {
        code::INSUFFICIENT_SCOPE => StatusCode::FORBIDDEN,
        code::PARSE_ERROR | code::INVALID_REQUEST => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// How the reply begins, as soon as it does, or becomes a stream because it takes so long.
async fn beginning(buffer: &ReplayBuffer, serving: &Serving) -> Beginning {
    let (mut silence, mut is_shortened) = (pin!(sleep(SILENCE)), false);
    // The connection and the reply to its request are polled together, so that the end of one is seen by the other.
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

async fn first_of_session(
    endpoint: &Arc<Endpoint>,
    principal: Arc<Principal>,
    headers: &HeaderMap,
    body: Body,
    look: Look,
    serving: &Serving,
) -> Answer {
    if let Err(refused) = endpoint.allow_session(&principal.caller).await {
        return *refused;
    }
    let session = match endpoint.sessions.prepare(&endpoint.server, &endpoint.rules, &principal, &body.bytes)
    {
        Ok(session) => session,
        Err(NoSession::Full) => {
            let reason = "There are too many sessions; MCPBASH_HTTP_MAX_SESSIONS sets the limit".to_owned();
            return respond::later(StatusCode::SERVICE_UNAVAILABLE, RETRY, reason);
        }
        Err(NoSession::NoId) => {
            let reason = "The system has no random numbers for a session".to_owned();
            return respond::later(StatusCode::SERVICE_UNAVAILABLE, RETRY, reason);
        }
    };
    let mut answer = in_session(endpoint, &session, &principal, headers, body, look, serving).await;
    if session.revision().is_some()
        && let Ok(id) = HeaderValue::from_str(&session.id)
    {
        endpoint.sessions.enter(&session);
        answer.headers_mut().insert(SESSION_ID, id);
    }
    answer
}

/// A message of a session. Its work goes on when the connection is lost; what is said is kept for who comes back.
async fn in_session(
    endpoint: &Arc<Endpoint>,
    session: &Arc<Session>,
    principal: &Arc<Principal>,
    headers: &HeaderMap,
    body: Body,
    look: Look,
    serving: &Serving,
) -> Answer {
    let buffer = session.buffer(&endpoint.rules);
    let reply: Arc<dyn Reply> = Arc::new(Said::on(&buffer, look.id));
    // They need not repeat the message here; they may name the trace that it is part of.
    let (line, headers) = (Line::Whole(&body.bytes), RequestHeaders(headers));
    let owed = session.client.receive_from(principal, &line, Some(&headers), &reply);
    drop(body);
    if session.client.has_exited() {
        endpoint.sessions.end(session);
    } else if session.has_ended() {
        // It ended between the look for it and the message, which has begun what nobody would stop.
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
            respond::events(session.events(&buffer).holding(open))
        }
    }
}

/// Why a request has no session.
pub(in crate::http) enum Sessionless {
    /// It does not say which.
    NotNamed,
    /// There is none of that id, or it is another caller's.
    Unknown,
    /// Another server may have ended it, which cannot be known now.
    Unchecked,
    /// The version that the header names is spoken in no session.
    BadVersion,
}

impl Sessionless {
    pub(in crate::http) fn refusal(self, id: Option<&Id>) -> Refusal {
        let (status, message) = match self {
            Self::Unchecked => {
                let reason = "The session cannot be looked up now; try again".to_owned();
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

/// What the official clients expect for a session that is not there.
const NO_SESSION: i32 = -32001;

/// The session that a request belongs to.
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
            // It is not told apart from a session that has ended, whose id its caller may send once more.
            if let Some(audit) = endpoint.server.audit() {
                audit.request_refused(principal, AuditReason::Session);
            }
            Sessionless::Unknown
        }
        NotTakenOver::Unchecked => Sessionless::Unchecked,
    })
}
