//! Client notifications: initialized, changed roots, cancelled requests, exit.

use crate::logging::Facts;
use crate::sessions::{Client, Session};
use mcp_bash_wire::{Id, LogLevel, Notification, Object, Raw, RequestMeta};
use std::sync::Arc;

/// Handles a notification. Unknown notifications and those without the secret are ignored.
pub(super) fn take(client: &Arc<Client>, notification: &Notification<'_>) {
    let params = notification.params;
    if let Some(guard) = client.server.guard() {
        let meta = RequestMeta::read(params).unwrap_or_default();
        if guard.check(meta.whole, client.caller()).is_err() {
            return;
        }
    }
    if &*notification.method == "notifications/cancelled" {
        return cancel(client, params);
    }
    let Some(session) = client.session() else { return };
    match &*notification.method {
        "notifications/initialized" | "initialized" => initialized(client, session),
        "notifications/roots/list_changed" => refresh_roots(client, session, false),
        "exit" => drop(session.exit()),
        _ => {}
    }
}

/// Marks the client as initialized. Does nothing if it already is, or before `initialize`.
pub(super) fn initialized(client: &Client, session: &Session) {
    if session.ready() {
        client.server.log().tell_start_warnings(&session.subscriber, session.client_name());
        refresh_roots(client, session, true);
    }
}

fn refresh_roots(client: &Client, session: &Session, is_first: bool) {
    if session.handshake().capabilities.roots {
        session.roots.refresh(&client.server, is_first);
    }
}

/// Cancels a request. Malformed params are ignored, because a notification has no response.
fn cancel(client: &Client, params: Option<Raw<'_>>) {
    let read = || {
        let params = Object::read(params?, "params", &["requestId"]).ok()?;
        Id::read(params.get("requestId")?)
    };
    let Some(id) = read() else { return };
    if client.listens.cancel(&id, &client.server) {
        return;
    }
    if let Some(request) = client.in_flight.cancel(&id) {
        client.server.admission().forget(client.caller(), &request);
        client.log(LogLevel::Debug, "mcp.rpc", "request cancelled", Facts::none());
    }
}
