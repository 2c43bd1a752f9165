//! Shared streams: streams of calls that a client may resume at another server, because the servers share a store.
//!
//! The server that runs a call writes that its stream has begun, holds a lease for it, and writes all messages that the client
//! may still need when the stream is over. What comes before that is written only if the client may read it elsewhere: when its
//! connection is lost, or when it resumes at another server. No message waits for the store.

mod following;
mod writing;

use crate::http::streams::replay_buffer::ReplayBuffer;
use mcp_bash_server::{Server, StreamKey, StreamStore};
use mcp_bash_wire::{Id, RpcError, write};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use tokio::sync::Notify;

pub(in crate::http) struct SharedStreams {
    store: StreamStore,
    server: Weak<Server>,
    /// Whether the last attempt to write has failed.
    is_failing: AtomicBool,
    /// Streams of this server that are not written completely.
    own: Mutex<BTreeMap<StreamKey, OwnStream>>,
    due: Mutex<Due>,
    is_due: Notify,
    /// Readers of streams of other servers, by stream and a number of their own.
    followers: Mutex<BTreeMap<(StreamKey, u64), Arc<Notify>>>,
    is_ending: AtomicBool,
}

struct OwnStream {
    buffer: Weak<ReplayBuffer>,
    /// The error that answers the request if this server is gone.
    lost_answer: Option<String>,
    /// Whether nothing is written yet.
    is_new: bool,
    /// The number of the last message that is written.
    written: u64,
}

#[derive(Default)]
struct Due {
    /// Streams that may have something to write.
    keys: BTreeSet<StreamKey>,
    /// Whether some are being written.
    is_writing: bool,
}

/// The shared streams of one session.
pub(in crate::http) struct SharedSession {
    streams: Arc<SharedStreams>,
    key: [u8; 16],
}

impl SharedStreams {
    /// `None` if no other server continues the sessions of this one.
    pub(in crate::http) fn new(server: &Arc<Server>) -> Option<Arc<Self>> {
        let store = server.stream_store()?;
        let streams = Arc::new(Self {
            store,
            server: Arc::downgrade(server),
            is_failing: AtomicBool::new(false),
            own: Mutex::default(),
            due: Mutex::default(),
            is_due: Notify::new(),
            followers: Mutex::default(),
            is_ending: AtomicBool::new(false),
        });
        let told = Arc::downgrade(&streams);
        streams.store.on_news(move |key| {
            if let Some(streams) = told.upgrade() {
                streams.note_news(key);
            }
        });
        Some(streams)
    }

    /// A stream is followed at another server, or more of it was written.
    fn note_news(&self, key: StreamKey) {
        let buffer = self.own.lock().get(&key).map(|own| Weak::clone(&own.buffer));
        if let Some(buffer) = buffer.and_then(|buffer| buffer.upgrade()) {
            buffer.note_followed();
        }
        for (_, follower) in self.followers.lock().range((key, 0)..=(key, u64::MAX)) {
            follower.notify_one();
        }
    }

    /// Ends the readers of streams of other servers: their clients resume elsewhere.
    pub(in crate::http) fn end_followers(&self) {
        self.is_ending.store(true, Ordering::Release);
        for follower in self.followers.lock().values() {
            follower.notify_one();
        }
    }

    fn note_due(&self, key: StreamKey) {
        self.due.lock().keys.insert(key);
        self.is_due.notify_one();
    }
}

impl SharedSession {
    pub(in crate::http) fn new(streams: &Arc<SharedStreams>, session: &str, caller: &str) -> Self {
        Self { streams: Arc::clone(streams), key: StreamStore::session_key(session, caller) }
    }

    /// Shares the stream of a call, which has a reader.
    pub(in crate::http) fn enter(&self, number: u64, buffer: &Arc<ReplayBuffer>, request: Option<&Id>) {
        let key = StreamKey { session: self.key, number };
        let own = OwnStream {
            buffer: Arc::downgrade(buffer),
            lost_answer: request.map(lost_answer),
            is_new: true,
            written: 0,
        };
        self.streams.own.lock().insert(key, own);
        let streams = Arc::downgrade(&self.streams);
        buffer.report_to(Box::new(move || {
            if let Some(streams) = streams.upgrade() {
                streams.note_due(key);
            }
        }));
        self.streams.note_due(key);
    }

    /// Removes all streams of the session, which has ended.
    pub(in crate::http) async fn forget(&self) {
        // What is not removed now expires.
        let _ = self.streams.store.forget(self.key).await;
    }
}

/// The answer to a request whose server is gone.
fn lost_answer(id: &Id) -> String {
    let error = RpcError::internal(
        "The server that ran this request is gone or cannot reach the shared store, so the answer is lost; it is unknown \
         whether the request was carried out",
    );
    String::from_utf8(write::error(Some(id), &error)).unwrap_or_default()
}
