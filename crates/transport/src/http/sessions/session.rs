//! HTTP session of the handshake era: its client, its streams, and their replay buffers.

use crate::http::streams::events::{self, Events, UNASKED};
use crate::http::streams::replay_buffer::{ReplayBuffer, Rules};
use crate::http::streams::reply::Said;
use bytes::Bytes;
use mcp_bash_server::{Caller, Client, Principal, Reply, Server};
use mcp_bash_wire::{Line, Revision};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// How long the events of a stream that is over are kept for a client that comes back.
const KEPT_FOR: Duration = Duration::from_secs(300);

/// So much of streams that are over is kept for one session, and so many of them. The oldest go first.
const MOST_KEPT: usize = 4 * 1024 * 1024;
const MOST_STREAMS_KEPT: usize = 100;

/// They are not kept for so long where a part of what may be held for their caller is held: calls need the room.
const KEPT_BRIEFLY: Duration = Duration::from_secs(10);
const SHARE: usize = 4;

pub(in crate::http) struct Session {
    pub(in crate::http) id: Box<str>,
    pub(in crate::http) client: Arc<Client>,
    /// What belongs to no request.
    unasked: Arc<ReplayBuffer>,
    last_number: AtomicU64,
    /// Those that a client may come back to.
    streams: Mutex<BTreeMap<u64, Arc<ReplayBuffer>>>,
    last_used: Mutex<Instant>,
    /// Whether it has ended. A request that already had it may still use it once.
    has_ended: AtomicBool,
    /// Whether another server has begun it, whose events are not known here.
    is_taken_over: AtomicBool,
    /// How long a stream of events may be open before its client has to come back.
    stream_time: Option<Duration>,
}

impl Session {
    pub(in crate::http) fn new(
        id: Box<str>,
        server: &Arc<Server>,
        rules: &Arc<Rules>,
        principal: &Arc<Principal>,
        stream_time: Option<Duration>,
    ) -> Self {
        let unasked = Arc::new(ReplayBuffer::new(Some(UNASKED), rules, principal.caller.budget()));
        unasked.begin();
        let stream = Arc::new(Said::on(&unasked, None));
        let client = Client::with_session(Arc::clone(server), Arc::clone(principal), stream);
        let client = Arc::new(client.with_session_id(&id));
        Self {
            id,
            client,
            unasked,
            last_number: AtomicU64::new(UNASKED),
            streams: Mutex::default(),
            last_used: Mutex::new(Instant::now()),
            has_ended: AtomicBool::new(false),
            is_taken_over: AtomicBool::new(false),
            stream_time,
        }
    }

    /// Goes through the handshake again that its client had with another server.
    pub(in crate::http) fn begin_again(
        &self,
        rules: &Arc<Rules>,
        principal: &Arc<Principal>,
        initialize: &str,
    ) {
        const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        for message in [initialize, INITIALIZED] {
            // The client has had the answer.
            let reply: Arc<dyn Reply> = Arc::new(Said::on(&self.buffer(rules), None));
            self.client.receive_from(principal, &Line::Whole(message.as_bytes()), None, &reply);
        }
        self.is_taken_over.store(true, Ordering::Release);
    }

    /// What it agreed on. None before `initialize` has succeeded.
    pub(in crate::http) fn revision(&self) -> Option<Revision> {
        self.client.agreed_revision()
    }

    /// For the messages of one more POST.
    pub(in crate::http) fn buffer(&self, rules: &Arc<Rules>) -> Arc<ReplayBuffer> {
        let number = self.last_number.fetch_add(1, Ordering::Relaxed) + 1;
        Arc::new(ReplayBuffer::new(Some(number), rules, self.client.caller().budget()))
    }

    /// The messages of a POST as events, which the client may ask for again.
    pub(in crate::http) fn events(&self, buffer: &Arc<ReplayBuffer>) -> Events {
        buffer.begin();
        if let Some(number) = buffer.number {
            self.prune();
            self.streams.lock().insert(number, Arc::clone(buffer));
        }
        let events = Events::of(Arc::clone(buffer), buffer.take_over(), self.first_event(buffer, 0));
        match self.stream_time.filter(|_| self.can_come_back()) {
            Some(wait) => events.closing_after(wait),
            None => events,
        }
    }

    /// What belongs to no request. A stream that is open ends: its client has opened this one because it lost that one.
    pub(in crate::http) fn unasked_events(&self) -> Events {
        let reader = self.unasked.take_over();
        let first = self.first_event(&self.unasked, self.unasked.last_taken());
        Events::of(Arc::clone(&self.unasked), reader, first).coming_back()
    }

    /// What comes after the event with that id, on whichever stream it came. None where that is not known.
    pub(in crate::http) fn events_after(&self, id: &str) -> Option<Events> {
        let (number, message) = events::parse_id(id)?;
        if number == UNASKED
            && self.is_taken_over.load(Ordering::Acquire)
            && self.unasked.last_taken() < message
        {
            // Another server has sent it. What follows comes from here.
            return Some(self.unasked_events());
        }
        let buffer = match number {
            UNASKED => Arc::clone(&self.unasked),
            number => Arc::clone(self.streams.lock().get(&number)?),
        };
        let reader = buffer.read_after(message)?;
        let events = Events::of(buffer, reader, None);
        Some(if number == UNASKED { events.coming_back() } else { events })
    }

    /// Gives the client an id to come back with, where its revision lets an event be empty.
    fn first_event(&self, buffer: &ReplayBuffer, after: u64) -> Option<Bytes> {
        self.can_come_back().then(|| events::priming(buffer, after))?
    }

    /// Whether the client comes back to a stream that we close before its end.
    fn can_come_back(&self) -> bool {
        self.revision().is_some_and(Revision::has_empty_events)
    }

    pub(in crate::http) fn is_of(&self, caller: &Arc<Caller>) -> bool {
        Arc::ptr_eq(self.client.caller(), caller)
    }

    pub(in crate::http) fn note_use(&self) {
        *self.last_used.lock() = Instant::now();
    }

    /// Since when nobody has used it. None while somebody does.
    pub(in crate::http) fn idle_since(&self) -> Option<Instant> {
        let is_idle = self.client.is_idle() && !self.unasked.has_reader();
        is_idle.then(|| *self.last_used.lock())
    }

    /// Lets go of streams that are over: the old ones, and the oldest where they are too many or hold too much.
    pub(in crate::http) fn prune(&self) {
        let budget = self.client.caller().budget();
        let is_tight = budget.used() > budget.limit() / SHARE;
        prune(&mut self.streams.lock(), if is_tight { KEPT_BRIEFLY } else { KEPT_FOR });
    }

    /// Whether it is over.
    pub(in crate::http) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// Stops everything, and ends all streams.
    pub(in crate::http) fn end(&self) {
        self.has_ended.store(true, Ordering::Release);
        self.client.abandon();
        self.unasked.close();
        for buffer in std::mem::take(&mut *self.streams.lock()).into_values() {
            buffer.close();
        }
    }

    /// Nothing more is to be told that belongs to no request.
    pub(in crate::http) fn end_unasked(&self) {
        self.unasked.end();
    }
}

/// Lets go of streams that were over for longer than `keep_time`, and of the oldest where they are too many or hold too much.
fn prune(streams: &mut BTreeMap<u64, Arc<ReplayBuffer>>, keep_time: Duration) {
    let (mut count, mut bytes) =
        (streams.len(), streams.values().map(|buffer| buffer.kept_bytes()).sum::<usize>());
    streams.retain(|_, buffer| {
        let Some(time) = buffer.over_for().filter(|_| !buffer.has_reader()) else { return true };
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
        buffer.say(vec![b'x'; bytes]);
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
