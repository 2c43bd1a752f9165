//! Sessions of the HTTP+SSE transport of 2024-11-05, by id.

use crate::http::streams::replay_buffer::ReplayBuffer;
use mcp_bash_server::Client;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Default)]
pub(in crate::http) struct OldSessions(pub(in crate::http) Mutex<HashMap<String, Arc<OldSession>>>);

pub(in crate::http) struct OldSession {
    pub(in crate::http) client: Arc<Client>,
    pub(in crate::http) buffer: Arc<ReplayBuffer>,
}

impl OldSessions {
    /// Ends each stream when all of its requests are answered.
    pub(in crate::http) fn end_all(&self) {
        for session in self.0.lock().values().cloned() {
            tokio::spawn(async move {
                session.client.finish().await;
                session.buffer.end();
            });
        }
    }
}
