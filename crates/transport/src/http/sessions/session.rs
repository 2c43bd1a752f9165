//! HTTP session of the handshake era: its client, its streams, and their replay buffers.

use crate::http::streams::events::{self, Events, SESSION_STREAM};
use crate::http::streams::replay_buffer::{ReplayBuffer, Rules};
use crate::http::streams::reply::BufferedReply;
use crate::http::streams::shared::{SharedSession, SharedStreams};
use bytes::Bytes;
use mcp_bash_server::{Caller, Client, Principal, Reply, Server, Unavailable};
use mcp_bash_wire::{Id, Line, Revision};
use parking_lot::Mutex;
use ring::rand::{SecureRandom, SystemRandom};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// How long the events of a finished stream are kept for a client that resumes.
const KEPT_FOR: Duration = Duration::from_secs(300);

/// Limits for the finished streams of one session, in bytes and number. The oldest are dropped first.
const MOST_KEPT: usize = 4 * 1024 * 1024;
const MOST_STREAMS_KEPT: usize = 100;

/// How long they are kept if their caller uses more than 1/`SHARE` of its memory budget: calls need the room.
const KEPT_BRIEFLY: Duration = Duration::from_secs(10);
const SHARE: usize = 4;

pub(in crate::http) struct Session {
    pub(in crate::http) id: Box<str>,
    pub(in crate::http) client: Arc<Client>,
    /// Messages that belong to no request.
    own_stream: Arc<ReplayBuffer>,
    last_number: AtomicU64,
    /// Streams that the client may resume.
    streams: Mutex<BTreeMap<u64, Arc<ReplayBuffer>>>,
    last_used: Mutex<Instant>,
    /// A request that found the session before it ended may still use it once.
    has_ended: AtomicBool,
    /// Whether another server began the session. Its events are not known here.
    is_taken_over: AtomicBool,
    /// How long an event stream may be open before its client has to reconnect.
    stream_time: Option<Duration>,
    /// `None` if no other server has the events of the session.
    shared: Option<SharedSession>,
}

impl Session {
    pub(in crate::http) fn new(
        id: Box<str>,
        server: &Arc<Server>,
        rules: &Arc<Rules>,
        principal: &Arc<Principal>,
        stream_time: Option<Duration>,
    ) -> Self {
        let own_stream = Arc::new(ReplayBuffer::new(Some(SESSION_STREAM), rules, principal.caller.budget()));
        own_stream.begin();
        let stream = Arc::new(BufferedReply::on(&own_stream, None));
        let client = Client::with_session(Arc::clone(server), Arc::clone(principal), stream);
        let client = Arc::new(client.with_session_id(&id));
        Self {
            id,
            client,
            own_stream,
            last_number: AtomicU64::new(SESSION_STREAM),
            streams: Mutex::default(),
            last_used: Mutex::new(Instant::now()),
            has_ended: AtomicBool::new(false),
            is_taken_over: AtomicBool::new(false),
            stream_time,
            shared: None,
        }
    }

    /// Makes it a session that other servers continue. Its streams have numbers that those of no other server have, so that
    /// an event id means the same everywhere.
    pub(in crate::http) fn moving(mut self, streams: Option<&Arc<SharedStreams>>) -> Self {
        let mut bytes = [0; 8];
        let _ = SystemRandom::new().fill(&mut bytes[2..]);
        self.last_number = AtomicU64::new(u64::from_be_bytes(bytes));
        let caller = self.client.caller().name();
        self.shared = streams.map(|streams| SharedSession::new(streams, &self.id, caller));
        self
    }

    /// Repeats the handshake that the client had with another server.
    pub(in crate::http) fn repeat_handshake(
        &self,
        rules: &Arc<Rules>,
        principal: &Arc<Principal>,
        initialize: &str,
    ) {
        const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        for message in [initialize, INITIALIZED] {
            // The client already has the answer.
            let reply: Arc<dyn Reply> = Arc::new(BufferedReply::on(&self.buffer(rules), None));
            self.client.receive_from(principal, &Line::Whole(message.as_bytes()), None, &reply);
        }
        self.is_taken_over.store(true, Ordering::Release);
    }

    /// The negotiated revision. `None` before `initialize` has succeeded.
    pub(in crate::http) fn revision(&self) -> Option<Revision> {
        self.client.agreed_revision()
    }

    /// Creates the replay buffer of a POST.
    pub(in crate::http) fn buffer(&self, rules: &Arc<Rules>) -> Arc<ReplayBuffer> {
        let number = self.last_number.fetch_add(1, Ordering::Relaxed) + 1;
        Arc::new(ReplayBuffer::new(Some(number), rules, self.client.caller().budget()))
    }

    /// The messages of a POST as an event stream that the client can resume.
    pub(in crate::http) fn events(&self, buffer: &Arc<ReplayBuffer>, request: Option<&Id>) -> Events {
        buffer.begin();
        let reader = buffer.take_over();
        if let Some(number) = buffer.number {
            self.prune();
            self.streams.lock().insert(number, Arc::clone(buffer));
            if let Some(shared) = &self.shared {
                shared.enter(number, buffer, request);
            }
        }
        let events = Events::of(Arc::clone(buffer), reader, self.first_event(buffer, 0));
        match self.stream_time.filter(|_| self.can_resume()) {
            Some(wait) => events.closing_after(wait),
            None => events,
        }
    }

    /// The stream of messages that belong to no request. It replaces an open one: the client opens this one because it lost
    /// that one.
    pub(in crate::http) fn session_events(&self) -> Events {
        let reader = self.own_stream.take_over();
        let first = self.first_event(&self.own_stream, self.own_stream.last_taken());
        Events::of(Arc::clone(&self.own_stream), reader, first).with_retry()
    }

    /// Resumes a stream after the event with that id. `None` if the id is unknown, or the events are not kept any more.
    pub(in crate::http) fn events_after(&self, id: &str) -> Option<Events> {
        let (number, message) = events::parse_id(id)?;
        if number == SESSION_STREAM
            && self.is_taken_over.load(Ordering::Acquire)
            && self.own_stream.last_taken() < message
        {
            // Another server sent that event. The following events come from here.
            return Some(self.session_events());
        }
        let buffer = match number {
            SESSION_STREAM => Arc::clone(&self.own_stream),
            number => Arc::clone(self.streams.lock().get(&number)?),
        };
        let reader = buffer.read_after(message)?;
        let events = Events::of(buffer, reader, None);
        Some(if number == SESSION_STREAM { events.with_retry() } else { events })
    }

    /// The same for a stream of another server, whose events are in the shared store.
    pub(in crate::http) async fn events_elsewhere(
        self: &Arc<Self>,
        id: &str,
        rules: &Arc<Rules>,
    ) -> Result<Option<Events>, Unavailable> {
        let Some(shared) = &self.shared else { return Ok(None) };
        let session = Arc::clone(self);
        let is_wanted = move || {
            session.note_use();
            !session.has_ended()
        };
        shared.events_after(id, rules, self.client.caller().budget(), Box::new(is_wanted)).await
    }

    /// Whether other servers have the events of the session.
    pub(in crate::http) fn shared(&self) -> Option<&SharedSession> {
        self.shared.as_ref()
    }

    /// The priming event, if the revision of the client allows empty events.
    fn first_event(&self, buffer: &ReplayBuffer, after: u64) -> Option<Bytes> {
        self.can_resume().then(|| events::priming(buffer, after))?
    }

    /// Whether the client resumes a stream that is closed before its end.
    fn can_resume(&self) -> bool {
        self.revision().is_some_and(Revision::has_empty_events)
    }

    pub(in crate::http) fn is_of(&self, caller: &Arc<Caller>) -> bool {
        Arc::ptr_eq(self.client.caller(), caller)
    }

    pub(in crate::http) fn note_use(&self) {
        *self.last_used.lock() = Instant::now();
    }

    /// When the session was last used. `None` while it is in use.
    pub(in crate::http) fn idle_since(&self) -> Option<Instant> {
        let is_idle = self.client.is_idle() && !self.own_stream.has_reader();
        is_idle.then(|| *self.last_used.lock())
    }

    /// Drops finished streams: old ones, and the oldest ones beyond the limits.
    pub(in crate::http) fn prune(&self) {
        let budget = self.client.caller().budget();
        let is_tight = budget.used() > budget.limit() / SHARE;
        prune(&mut self.streams.lock(), if is_tight { KEPT_BRIEFLY } else { KEPT_FOR });
    }

    pub(in crate::http) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// Stops all requests, and closes all streams.
    pub(in crate::http) fn end(&self) {
        self.has_ended.store(true, Ordering::Release);
        self.client.abandon();
        self.own_stream.close();
        for buffer in std::mem::take(&mut *self.streams.lock()).into_values() {
            buffer.close();
        }
    }

    /// Ends the stream of messages that belong to no request.
    pub(in crate::http) fn end_session_stream(&self) {
        self.own_stream.end();
    }
}

/// Drops streams that finished more than `keep_time` ago, and the oldest ones beyond the limits.
fn prune(streams: &mut BTreeMap<u64, Arc<ReplayBuffer>>, keep_time: Duration) {
    let (mut count, mut bytes) =
        (streams.len(), streams.values().map(|buffer| buffer.kept_bytes()).sum::<usize>());
    streams.retain(|_, buffer| {
        let Some(time) = buffer.finished_for().filter(|_| !buffer.has_reader()) else { return true };
        let stays = count <= MOST_STREAMS_KEPT && bytes <= MOST_KEPT && time < keep_time;
        if !stays {
            count -= 1;
            bytes = bytes.saturating_sub(buffer.kept_bytes());
        }
        stays
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_bash_budget::Budget;

    fn buffer(number: u64, bytes: usize) -> Arc<ReplayBuffer> {
        let rules = Arc::new(Rules { limit: usize::MAX, relieve: Box::new(|| {}) });
        let buffer = Arc::new(ReplayBuffer::new(Some(number), &rules, &Budget::new(usize::MAX, "LIMIT")));
        buffer.queue(vec![b'x'; bytes]);
        buffer
    }

    fn over(number: u64, bytes: usize) -> Arc<ReplayBuffer> {
        let buffer = buffer(number, bytes);
        buffer.end();
        buffer
    }

    fn left(buffers: impl IntoIterator<Item = Arc<ReplayBuffer>>, keep_time: Duration) -> Vec<u64> {
        let mut streams: BTreeMap<u64, Arc<ReplayBuffer>> =
            buffers.into_iter().map(|buffer| (buffer.number.unwrap(), buffer)).collect();
        prune(&mut streams, keep_time);
        streams.into_keys().collect()
    }

    #[test]
    fn the_oldest_streams_that_are_over_go_first() {
        let many = MOST_STREAMS_KEPT as u64 + 3;
        let buffers = (1..=many).map(|number| if number == 2 { buffer(2, 1) } else { over(number, 1) });
        let kept = left(buffers, KEPT_FOR);
        assert_eq!(kept.len(), MOST_STREAMS_KEPT);
        assert_eq!(kept[..3], [2, 5, 6], "what goes on stays");
        let large = (1..=6).map(|number| over(number, 1024 * 1024));
        assert_eq!(left(large, KEPT_FOR), [3, 4, 5, 6]);
    }

    #[test]
    fn a_stream_stays_while_it_is_read_and_goes_when_it_was_over_for_long() {
        let read = over(1, 1);
        let reader = read.take_over();
        let all = || [Arc::clone(&read), over(2, 1), buffer(3, 1)];
        assert_eq!(left(all(), KEPT_FOR), [1, 2, 3]);
        assert_eq!(left(all(), Duration::ZERO), [1, 3]);
        read.leave(reader);
        assert_eq!(left(all(), Duration::ZERO), [3]);
    }
}
