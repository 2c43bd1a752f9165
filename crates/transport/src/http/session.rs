//! A session of the handshake era over HTTP: its client, its streams, and what is kept of them.

use super::events::{self, Events, UNASKED};
use super::reply::Said;
use super::track::{Rules, Track};
use bytes::Bytes;
use mcp_bash_server::{Caller, Client, Server};
use mcp_bash_wire::Revision;
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

pub(super) struct Session {
    pub(super) id: Box<str>,
    pub(super) client: Arc<Client>,
    /// What belongs to no request.
    unasked: Arc<Track>,
    last_number: AtomicU64,
    /// Those that a client may come back to.
    streams: Mutex<BTreeMap<u64, Arc<Track>>>,
    last_used: Mutex<Instant>,
    /// Whether it is over. Whoever had it before may still use it once.
    has_ended: AtomicBool,
    /// How long a stream of events may be open before its client has to come back.
    stream_time: Option<Duration>,
}

impl Session {
    pub(super) fn new(
        id: Box<str>,
        server: &Arc<Server>,
        rules: &Arc<Rules>,
        caller: Arc<Caller>,
        stream_time: Option<Duration>,
    ) -> Self {
        let unasked = Arc::new(Track::new(Some(UNASKED), rules, caller.budget()));
        unasked.begin();
        let stream = Arc::new(Said::on(&unasked, None));
        let client = Arc::new(Client::with_session(Arc::clone(server), caller, stream));
        Self {
            id,
            client,
            unasked,
            last_number: AtomicU64::new(UNASKED),
            streams: Mutex::default(),
            last_used: Mutex::new(Instant::now()),
            has_ended: AtomicBool::new(false),
            stream_time,
        }
    }

    /// What it agreed on. None before `initialize` has succeeded.
    pub(super) fn revision(&self) -> Option<Revision> {
        self.client.agreed_revision()
    }

    /// For the messages of one more POST.
    pub(super) fn track(&self, rules: &Arc<Rules>) -> Arc<Track> {
        let number = self.last_number.fetch_add(1, Ordering::Relaxed) + 1;
        Arc::new(Track::new(Some(number), rules, self.client.caller().budget()))
    }

    /// The messages of a POST as events, which the client may ask for again.
    pub(super) fn events(&self, track: &Arc<Track>) -> Events {
        track.begin();
        if let Some(number) = track.number {
            self.prune();
            self.streams.lock().insert(number, Arc::clone(track));
        }
        let events = Events::of(Arc::clone(track), track.take_over(), self.first_event(track, 0));
        match self.stream_time.filter(|_| self.can_come_back()) {
            Some(wait) => events.closing_after(wait),
            None => events,
        }
    }

    /// What belongs to no request. A stream that is open ends: its client has opened this one because it lost that one.
    pub(super) fn unasked_events(&self) -> Events {
        let reader = self.unasked.take_over();
        let first = self.first_event(&self.unasked, self.unasked.last_taken());
        Events::of(Arc::clone(&self.unasked), reader, first).coming_back()
    }

    /// What comes after the event with that id, on whichever stream it came. None where that is not known.
    pub(super) fn events_after(&self, id: &str) -> Option<Events> {
        let (number, message) = events::parse_id(id)?;
        let track = match number {
            UNASKED => Arc::clone(&self.unasked),
            number => Arc::clone(self.streams.lock().get(&number)?),
        };
        let reader = track.read_after(message)?;
        let events = Events::of(track, reader, None);
        Some(if number == UNASKED { events.coming_back() } else { events })
    }

    /// Gives the client an id to come back with, where its revision lets an event be empty.
    fn first_event(&self, track: &Track, after: u64) -> Option<Bytes> {
        self.can_come_back().then(|| events::priming(track, after))?
    }

    /// Whether the client comes back to a stream that we close before its end.
    fn can_come_back(&self) -> bool {
        self.revision().is_some_and(Revision::has_empty_events)
    }

    pub(super) fn is_of(&self, caller: &Arc<Caller>) -> bool {
        Arc::ptr_eq(self.client.caller(), caller)
    }

    pub(super) fn note_use(&self) {
        *self.last_used.lock() = Instant::now();
    }

    /// Since when nobody has used it. None while somebody does.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let is_idle = self.client.is_idle() && !self.unasked.has_reader();
        is_idle.then(|| *self.last_used.lock())
    }

    /// Lets go of streams that are over: the old ones, and the oldest where they are too many or hold too much.
    pub(super) fn prune(&self) {
        let budget = self.client.caller().budget();
        let is_tight = budget.used() > budget.limit() / SHARE;
        prune(&mut self.streams.lock(), if is_tight { KEPT_BRIEFLY } else { KEPT_FOR });
    }

    /// Whether it is over.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// Stops everything, and ends all streams.
    pub(super) fn end(&self) {
        self.has_ended.store(true, Ordering::Release);
        self.client.abandon();
        self.unasked.close();
        for track in std::mem::take(&mut *self.streams.lock()).into_values() {
            track.close();
        }
    }

    /// Nothing more is to be told that belongs to no request.
    pub(super) fn end_unasked(&self) {
        self.unasked.end();
    }
}

/// Lets go of streams that were over for longer than `patience`, and of the oldest where they are too many or hold too much.
fn prune(streams: &mut BTreeMap<u64, Arc<Track>>, patience: Duration) {
    let (mut count, mut bytes) =
        (streams.len(), streams.values().map(|track| track.kept_bytes()).sum::<usize>());
    streams.retain(|_, track| {
        let Some(time) = track.over_for().filter(|_| !track.has_reader()) else { return true };
        let stays = count <= MOST_STREAMS_KEPT && bytes <= MOST_KEPT && time < patience;
        if !stays {
            count -= 1;
            bytes = bytes.saturating_sub(track.kept_bytes());
        }
        stays
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_bash_budget::Budget;

    fn track(number: u64, bytes: usize) -> Arc<Track> {
        let rules = Arc::new(Rules { limit: usize::MAX, relieve: Box::new(|| {}) });
        let track = Arc::new(Track::new(Some(number), &rules, &Budget::new(usize::MAX, "LIMIT")));
        track.say(vec![b'x'; bytes]);
        track
    }

    fn over(number: u64, bytes: usize) -> Arc<Track> {
        let track = track(number, bytes);
        track.end();
        track
    }

    fn left(tracks: impl IntoIterator<Item = Arc<Track>>, patience: Duration) -> Vec<u64> {
        let mut streams: BTreeMap<u64, Arc<Track>> =
            tracks.into_iter().map(|track| (track.number.unwrap(), track)).collect();
        prune(&mut streams, patience);
        streams.into_keys().collect()
    }

    #[test]
    fn the_oldest_streams_that_are_over_go_first() {
        let many = MOST_STREAMS_KEPT as u64 + 3;
        let tracks = (1..=many).map(|number| if number == 2 { track(2, 1) } else { over(number, 1) });
        let kept = left(tracks, KEPT_FOR);
        assert_eq!(kept.len(), MOST_STREAMS_KEPT);
        assert_eq!(kept[..3], [2, 5, 6], "what goes on stays");
        let large = (1..=6).map(|number| over(number, 1024 * 1024));
        assert_eq!(left(large, KEPT_FOR), [3, 4, 5, 6]);
    }

    #[test]
    fn a_stream_stays_while_it_is_read_and_goes_when_it_was_over_for_long() {
        let read = over(1, 1);
        let reader = read.take_over();
        let all = || [Arc::clone(&read), over(2, 1), track(3, 1)];
        assert_eq!(left(all(), KEPT_FOR), [1, 2, 3]);
        assert_eq!(left(all(), Duration::ZERO), [1, 3]);
        read.leave(reader);
        assert_eq!(left(all(), Duration::ZERO), [3]);
    }
}
