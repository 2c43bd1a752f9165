//! Session requests: GET opens the stream of a session, DELETE ends the session.

use crate::http::requests::accepts::accepts;
use crate::http::requests::endpoint::{Endpoint, RETRY, no_room};
use crate::http::requests::headers::only;
use crate::http::requests::post::{Sessionless, session_of};
use crate::http::requests::respond::{self, Answer, LAST_EVENT_ID, PROTOCOL_VERSION, Refusal};
use crate::http::sessions::session::Session;
use crate::http::streams::events::Events;
use http::{HeaderMap, HeaderValue, StatusCode};
use mcp_bash_server::{Principal, Unavailable};
use mcp_bash_wire::{Era, Revision};
use std::sync::Arc;

/// Opens the stream of session messages that belong to no request, or resumes a stream.
pub(in crate::http) async fn get(
    endpoint: &Endpoint,
    principal: &Arc<Principal>,
    headers: &HeaderMap,
) -> Result<Answer, Refusal> {
    let refuse = |status, reason: &'static str| Box::new(respond::refusal(status, reason));
    if is_stateless(headers) {
        return Err(Box::new(respond::not_allowed("POST")));
    }
    if !accepts(headers, "text/event-stream") {
        let reason = "Not Acceptable: Accept must name text/event-stream";
        return Err(refuse(StatusCode::NOT_ACCEPTABLE, reason));
    }
    let session = session_of(endpoint, principal, headers).await.map_err(|none| none.refusal(None))?;
    let open = endpoint.streams.open(&principal.caller).ok_or_else(no_room)?;
    let events = match headers.get(LAST_EVENT_ID) {
        Some(id) => events_after(endpoint, &session, id).await?.ok_or_else(|| {
            let reason = "Bad Request: the events after Last-Event-ID are not available any more";
            refuse(StatusCode::BAD_REQUEST, reason)
        })?,
        None => session.session_events(),
    };
    let events = events.holding(open).ending_at(principal.identity.expires);
    Ok(respond::events(events.on_close(Box::new(move || session.note_use()))))
}

/// Resumes a stream of this server, or of another one that shares our store.
async fn events_after(
    endpoint: &Endpoint,
    session: &Arc<Session>,
    id: &HeaderValue,
) -> Result<Option<Events>, Refusal> {
    let Ok(id) = id.to_str() else { return Ok(None) };
    if let Some(events) = session.events_after(id) {
        return Ok(Some(events));
    }
    session.events_elsewhere(id, &endpoint.rules).await.map_err(|Unavailable { .. }| {
        let reason = "The events after Last-Event-ID cannot be looked up now; try again".to_owned();
        Box::new(respond::later(StatusCode::SERVICE_UNAVAILABLE, RETRY, reason))
    })
}

/// Ends a session.
pub(in crate::http) async fn delete(
    endpoint: &Endpoint,
    principal: &Arc<Principal>,
    headers: &HeaderMap,
) -> Result<Answer, Refusal> {
    if is_stateless(headers) {
        return Err(Box::new(respond::not_allowed("POST")));
    }
    let session = session_of(endpoint, principal, headers).await.map_err(|none| none.refusal(None))?;
    endpoint.sessions.end(&session);
    if let Some(shared) = session.shared() {
        shared.forget().await;
    }
    let is_noted = endpoint.server.end_moving_session(&session.id).await;
    if !is_noted {
        return Err(Sessionless::Unchecked.refusal(None));
    }
    Ok(respond::status(StatusCode::OK))
}

/// Whether the request belongs to the stateless era, which has no sessions.
fn is_stateless(headers: &HeaderMap) -> bool {
    let revision = only(headers, &PROTOCOL_VERSION).and_then(Revision::parse);
    revision.is_some_and(|revision| revision.era() == Era::Stateless)
}
