//! HTTP+SSE transport of 2024-11-05, for clients that know no other: a GET opens the one stream of events, and the client
//! POSTs every message to the address that the first event names. The session ends with its stream.

use crate::http::requests::endpoint::{Endpoint, no_room};
use crate::http::requests::incoming::Body;
use crate::http::requests::message::{Look, MessageKind};
use crate::http::requests::respond::{self, Answer};
use crate::http::sessions::old_sessions::OldSession;
use crate::http::streams::events::Events;
use crate::http::streams::replay_buffer::ReplayBuffer;
use crate::http::streams::reply::Said;
use bytes::Bytes;
use http::{StatusCode, Uri};
use mcp_bash_server::{AuditReason, Client, Principal, Reply};
use mcp_bash_wire::{Line, RpcError, code};
use std::sync::Arc;
use std::time::Duration;

/// Where streams are opened.
pub(in crate::http) const STREAM_PATH: &str = "/sse";

/// Where messages are sent to.
pub(in crate::http) const MESSAGE_PATH: &str = "/messages";

const SESSION: &str = "sessionId";

/// When a client may ask again that has left too much unread.
const RETRY: Duration = Duration::from_secs(1);

/// Opens a stream, and with it a session.
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
    let stream = Arc::new(Said::shared(&buffer, None));
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
    respond::events(events.holding(open).ending_at(expires).when_left(Box::new(left)))
}

/// Takes a message, whose answer is said on the stream of its session.
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
    let look = Look::at(&body.bytes, endpoint.server.settings().limits);
    if matches!(look.kind, MessageKind::Empty | MessageKind::Unreadable) {
        let error = RpcError::new(code::PARSE_ERROR, "Parse error");
        return respond::error(StatusCode::BAD_REQUEST, look.id.as_ref(), &error);
    }
    // Answers cannot be missed, so that nothing is asked while too many of them are unread.
    if look.kind != MessageKind::Unanswered && session.buffer.is_clogged() {
        let reason = "Too much is unread on the stream; MCPBASH_MAX_UNREAD_BYTES sets the limit".to_owned();
        return respond::later(StatusCode::SERVICE_UNAVAILABLE, RETRY, reason);
    }
    let reply: Arc<dyn Reply> = Arc::new(Said::shared(&session.buffer, look.id));
    session.client.receive_from(principal, &Line::Whole(&body.bytes), None, &reply);
    respond::status(StatusCode::ACCEPTED)
}
