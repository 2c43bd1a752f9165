//! HTTP+SSE transport of 2024-11-05, for clients that support no other: a GET opens the event stream, and the client POSTs
//! every message to the address in the first event. The session ends with its stream.

use crate::http::requests::endpoint::{Endpoint, no_room};
use crate::http::requests::incoming::Body;
use crate::http::requests::message::{Envelope, MessageKind};
use crate::http::requests::respond::{self, Answer};
use crate::http::sessions::old_sessions::OldSession;
use crate::http::streams::events::Events;
use crate::http::streams::replay_buffer::ReplayBuffer;
use crate::http::streams::reply::BufferedReply;
use bytes::Bytes;
use http::{StatusCode, Uri};
use mcp_bash_server::{AuditReason, Client, Principal, Reply};
use mcp_bash_wire::{Line, RpcError, code};
use std::sync::Arc;
use std::time::Duration;

/// The path that opens a stream.
pub(in crate::http) const STREAM_PATH: &str = "/sse";

/// The path that messages are sent to.
pub(in crate::http) const MESSAGE_PATH: &str = "/messages";

const SESSION: &str = "sessionId";

/// `Retry-After` for a client that has left too much unread.
const RETRY: Duration = Duration::from_secs(1);

/// Opens a stream and its session.
pub(in crate::http) async fn open(endpoint: &Arc<Endpoint>, principal: Arc<Principal>) -> Answer {
    let (server, caller) = (&endpoint.server, Arc::clone(&principal.caller));
    if let Err(refused) = endpoint.allow_session(&caller).await {
        return *refused;
    }
    let Some(open) = endpoint.streams.open(&caller) else { return *no_room() };
    let Some(id) = server.unguessable_token() else {
        return respond::status(StatusCode::SERVICE_UNAVAILABLE);
    };
    let buffer = Arc::new(ReplayBuffer::new(None, &endpoint.rules, caller.budget()));
    buffer.begin();
    let stream = Arc::new(BufferedReply::shared(&buffer, None));
    let expires = principal.identity.expires;
    let client = Arc::new(Client::with_session(Arc::clone(server), principal, stream));
    let first = Bytes::from(format!("event: endpoint\ndata: {MESSAGE_PATH}?{SESSION}={id}\n\n"));
    let events = Events::of(Arc::clone(&buffer), buffer.take_over(), Some(first));
    endpoint.old_sessions.0.lock().insert(id.clone(), Arc::new(OldSession { client, buffer }));
    let endpoint = Arc::clone(endpoint);
    let left = move || {
        if let Some(session) = endpoint.old_sessions.0.lock().remove(&id) {
            session.client.abandon();
            session.buffer.close();
        }
    };
    respond::events(events.holding(open).ending_at(expires).on_close(Box::new(left)))
}

/// Receives a message. Its answer is sent on the stream of the session.
pub(in crate::http) fn post(
    endpoint: &Endpoint,
    principal: &Arc<Principal>,
    uri: &Uri,
    body: &Body,
) -> Answer {
    let id = uri.query().and_then(|query| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(name, _)| *name == SESSION).map(|(_, id)| id)
    });
    let session = id.and_then(|id| endpoint.old_sessions.0.lock().get(id).cloned());
    let Some(session) = session.filter(|session| Arc::ptr_eq(session.client.caller(), &principal.caller))
    else {
        if let Some(audit) = endpoint.server.audit() {
            audit.request_refused(principal, AuditReason::Session);
        }
        let error = RpcError::invalid_request("Session not found: open a stream first");
        return respond::error(StatusCode::NOT_FOUND, None, &error);
    };
    let envelope = Envelope::read(&body.bytes, endpoint.server.settings().limits);
    if matches!(envelope.kind, MessageKind::Empty | MessageKind::Unreadable) {
        let error = RpcError::new(code::PARSE_ERROR, "Parse error");
        return respond::error(StatusCode::BAD_REQUEST, envelope.id.as_ref(), &error);
    }
    // Answers must not be dropped, so no request is accepted while the stream is clogged.
    if envelope.kind != MessageKind::Unanswered && session.buffer.is_clogged() {
        let reason = "Too much is unread on the stream; MCPBASH_MAX_UNREAD_BYTES sets the limit".to_owned();
        return respond::later(StatusCode::SERVICE_UNAVAILABLE, RETRY, reason);
    }
    let reply: Arc<dyn Reply> = Arc::new(BufferedReply::shared(&session.buffer, envelope.id));
    session.client.receive_from(principal, &Line::Whole(&body.bytes), None, &reply);
    respond::status(StatusCode::ACCEPTED)
}
