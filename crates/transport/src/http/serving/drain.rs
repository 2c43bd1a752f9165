//! Graceful shutdown over HTTP: requests in progress are answered, and tasks complete. Those that exceed the drain timeout are
//! stopped.

use crate::http::limits::connections::Connections;
use crate::http::requests::endpoint::Endpoint;
use mcp_bash_server::Server;
use mcp_bash_wire::LogLevel;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

/// How long scripts may take to exit at shutdown.
const GRACE: Duration = Duration::from_millis(500);

/// How long the answers of stopped requests may take to be sent.
const ANSWERS_TIMEOUT: Duration = Duration::from_secs(5);

/// Waits for open connections and tasks up to the drain timeout, and then ends the server. The accept loop has stopped already.
pub(in crate::http) async fn drain(endpoint: &Arc<Endpoint>, connections: &Connections) {
    endpoint.end_listens();
    let until = Instant::now() + endpoint.options().drain;
    let is_done = timeout_at(until, connections.all_closed()).await.is_ok();
    let log = endpoint.server.log();
    if !is_done {
        let details = json!({ "connections": connections.count() });
        log.event(LogLevel::Warning, "mcp.http", "requests that took too long were stopped", &details);
    }
    if timeout_at(until, endpoint.server.tasks_ended()).await.is_err() {
        log.event(LogLevel::Warning, "mcp.http", "tasks that took too long were stopped", &json!({}));
    }
    // Requests that still wait are answered when their questions have failed and their scripts have exited.
    endpoint.end_questions();
    let streams = endpoint.shared_streams.as_ref();
    if let Some(streams) = streams {
        // Their clients may come for the answers to another server.
        let _ = timeout_at(until, streams.answered()).await;
    }
    in_background(endpoint, |server| server.end_calls(GRACE)).await;
    if !is_done {
        let _ = timeout(ANSWERS_TIMEOUT, connections.all_closed()).await;
    }
    if let Some(streams) = streams {
        let _ = timeout(ANSWERS_TIMEOUT, streams.written()).await;
        let _ = timeout(ANSWERS_TIMEOUT, streams.abandon()).await;
    }
    endpoint.end_sessions();
    in_background(endpoint, Server::close_audit).await;
}

/// Completes when the server has done what blocks, on a thread of its own.
async fn in_background(endpoint: &Endpoint, work: fn(&Server)) {
    let (done, is_done) = oneshot::channel::<()>();
    endpoint.server.in_background(move |server| {
        work(server);
        drop(done);
    });
    let _ = is_done.await;
}
