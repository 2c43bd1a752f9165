//! Graceful shutdown over HTTP: requests in progress are answered, and tasks go on to their end. What takes too long is stopped.

use crate::http::limits::connections::Connections;
use crate::http::requests::endpoint::Endpoint;
use mcp_bash_wire::LogLevel;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

/// How long scripts may take to end when the server has to.
const GRACE: Duration = Duration::from_millis(500);

/// How long the answers of what was stopped may take to leave.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Waits until what has begun is finished, for a while, and ends the server. The task that accepts connections knows that it is
/// over.
pub(in crate::http) async fn drain(endpoint: &Arc<Endpoint>, connections: &Connections) {
    endpoint.end_listens();
    let until = Instant::now() + endpoint.options().drain;
    let is_done = timeout_at(until, connections.all_gone()).await.is_ok();
    let log = endpoint.server.log();
    if !is_done {
        let details = json!({ "connections": connections.count() });
        log.event(LogLevel::Warning, "mcp.http", "requests that took too long were stopped", &details);
    }
    if timeout_at(until, endpoint.server.tasks_ended()).await.is_err() {
        log.event(LogLevel::Warning, "mcp.http", "tasks that took too long were stopped", &json!({}));
    }
    // Requests that still wait are answered when the scripts are gone.
    let (done, is_done_by_server) = oneshot::channel::<()>();
    endpoint.server.in_background(move |server| {
        server.end(GRACE);
        drop(done);
    });
    let _ = is_done_by_server.await;
    if !is_done {
        let _ = timeout(LAST_WORDS, connections.all_gone()).await;
    }
    endpoint.end_sessions();
}
