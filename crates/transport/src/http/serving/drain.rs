//! Graceful shutdown over HTTP: requests in progress are answered, or stopped and answered when they take too long.

use crate::http::limits::connections::Connections;
use crate::http::requests::endpoint::Endpoint;
use mcp_bash_wire::LogLevel;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How long scripts may take to end when the server has to.
const GRACE: Duration = Duration::from_millis(500);

/// How long the answers of what was stopped may take to leave.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Waits until what has begun is finished, for a while, and ends the server. Whoever accepts connections knows that it is
/// over.
pub(in crate::http) async fn drain(endpoint: &Arc<Endpoint>, connections: &Connections) {
    endpoint.end_listens();
    let is_done = timeout(endpoint.options().drain, connections.all_gone()).await.is_ok();
    if !is_done {
        let details = json!({ "connections": connections.count() });
        let log = endpoint.server.log();
        log.event(LogLevel::Warning, "mcp.http", "requests that took too long were stopped", &details);
    }
    // Whoever still waits is answered when the scripts are gone.
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
