//! The transport of 2024-11-05, for clients that know no other: everything is said on one stream of events, which a GET
//! opens, and every message is a POST of its own, to the address that the first event names. Without the stream there is
//! no session.

use super::endpoint::{Endpoint, no_room};
use super::events::Events;
use super::incoming::Body;
use super::message::{Kind, Look};
use super::reply::Said;
use super::respond::{self, Answer};
use super::track::Track;
use bytes::Bytes;
use http::{StatusCode, Uri};
use mcp_bash_server::{Caller, Client, Reply};
use mcp_bash_wire::{Line, RpcError, code};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Where streams are opened.
pub(super) const STREAM_PATH: &str = "/sse";

/// Where messages are sent to.
pub(super) const MESSAGE_PATH: &str = "/messages";

const SESSION: &str = "sessionId";

/// When a client may ask again that has left too much unread.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(super) struct OldSessions(Mutex<HashMap<String, Arc<OldSession>>>);

struct OldSession {
    client: Arc<Client>,
    track: Arc<Track>,
}

impl OldSessions {
    /// Ends the streams when everything that was asked on them is answered.
    pub(super) fn end_all(&self) {
        for session in self.0.lock().values().cloned() {
            tokio::spawn(async move {
                session.client.finish().await;
                session.track.end();
            });
        }
    }
}

/// Opens a stream, and with it a session.
pub(super) fn open(endpoint: &Arc<Endpoint>, caller: &Arc<Caller>) -> Answer {
    let server = &endpoint.server;
    if let Err(refused) = endpoint.allow_session(caller) {
        return *refused;
    }
    let Some(open) = endpoint.streams.open(caller) else { return *no_room() };
    let Some(id) = server.unguessable_token() else {
        return respond::status(StatusCode::SERVICE_UNAVAILABLE);
    };
    let track = Arc::new(Track::new(None, &endpoint.rules, caller.budget()));
    track.begin();
    let stream = Arc::new(Said::shared(&track, None));
    let client = Arc::new(Client::with_session(Arc::clone(server), Arc::clone(caller), stream));
    let first = Bytes::from(format!("event: endpoint\ndata: {MESSAGE_PATH}?{SESSION}={id}\n\n"));
    let events = Events::of(Arc::clone(&track), track.take_over(), Some(first));
    endpoint.old_sessions.0.lock().insert(id.clone(), Arc::new(OldSession { client, track }));
    let endpoint = Arc::clone(endpoint);
    let left = move || {
        if let Some(session) = endpoint.old_sessions.0.lock().remove(&id) {
            session.client.abandon();
            session.track.close();
        }
    };
    respond::events(events.holding(open).when_left(Box::new(left)))
}

/// Takes a message, whose answer is said on the stream of its session.
pub(super) fn post(endpoint: &Endpoint, caller: &Arc<Caller>, uri: &Uri, body: &Body) -> Answer {
    let id = uri.query().and_then(|query| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(name, _)| *name == SESSION).map(|(_, id)| id)
    });
    let session = id.and_then(|id| endpoint.old_sessions.0.lock().get(id).cloned());
    let Some(session) = session.filter(|session| Arc::ptr_eq(session.client.caller(), caller)) else {
        let error = RpcError::invalid_request("Session not found: open a stream first");
        return respond::error(StatusCode::NOT_FOUND, None, &error);
    };
    let look = Look::at(&body.bytes, endpoint.server.settings().limits);
    if matches!(look.kind, Kind::Empty | Kind::Unreadable) {
        let error = RpcError::new(code::PARSE_ERROR, "Parse error");
        return respond::error(StatusCode::BAD_REQUEST, look.id.as_ref(), &error);
    }
    // Answers cannot be missed, so that nothing is asked while too many of them are unread.
    if look.kind != Kind::Unanswered && session.track.is_clogged() {
        let reason = "Too much is unread on the stream; MCPBASH_MAX_UNREAD_BYTES sets the limit".to_owned();
        return respond::later(StatusCode::SERVICE_UNAVAILABLE, RETRY, reason);
    }
    let reply: Arc<dyn Reply> = Arc::new(Said::shared(&session.track, look.id));
    session.client.receive(&Line::Whole(&body.bytes), &reply);
    respond::status(StatusCode::ACCEPTED)
}
