//! The sessions of the handshake era over HTTP: who may use them, how many there are, and when they end.

use super::events::{self, Events, UNASKED};
use super::options::Limits;
use super::reply::Said;
use super::track::{Rules, Track};
use bytes::Bytes;
use mcp_bash_server::{Caller, Client, Server};
use mcp_bash_wire::Revision;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

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
    fn new(
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

    /// What belongs to no request. None while somebody reads it.
    pub(super) fn unasked_events(&self) -> Option<Events> {
        let reader = self.unasked.read()?;
        let first = self.first_event(&self.unasked, self.unasked.last_taken());
        Some(Events::of(Arc::clone(&self.unasked), reader, first).coming_back())
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

    /// How long nobody has used it. None while somebody does.
    fn idle_for(&self) -> Option<Duration> {
        let is_idle = self.client.is_idle() && !self.unasked.has_reader();
        is_idle.then(|| self.last_used.lock().elapsed())
    }

    /// Lets go of streams that are over: the old ones, and the oldest where they are too many or hold too much.
    fn prune(&self) {
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

/// All sessions, by their ids.
pub(super) struct Sessions {
    by_id: Mutex<HashMap<Box<str>, Arc<Session>>>,
    most: usize,
    patience: Duration,
    stream_time: Option<Duration>,
}

/// Why there is no session to be had.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoSession {
    /// There are too many.
    Full,
    /// The system gives no random numbers.
    NoId,
}

impl Sessions {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            by_id: Mutex::default(),
            most: limits.sessions,
            patience: limits.session_idle,
            stream_time: limits.stream_time,
        }
    }

    /// One that has not begun, and is not known by its id yet.
    pub(super) fn prepare(
        &self,
        server: &Arc<Server>,
        rules: &Arc<Rules>,
        caller: Arc<Caller>,
    ) -> Result<Arc<Session>, NoSession> {
        if self.by_id.lock().len() >= self.most {
            self.make_room()?;
        }
        let id = server.unguessable_token().ok_or(NoSession::NoId)?;
        Ok(Arc::new(Session::new(id.into(), server, rules, caller, self.stream_time)))
    }

    /// Makes it known by its id.
    pub(super) fn enter(&self, session: &Arc<Session>) {
        self.by_id.lock().insert(session.id.clone(), Arc::clone(session));
    }

    /// The session of that id, if it is this caller's.
    pub(super) fn get(&self, id: &str, caller: &Arc<Caller>) -> Option<Arc<Session>> {
        let session = self.by_id.lock().get(id).filter(|session| session.is_of(caller)).cloned()?;
        session.note_use();
        Some(session)
    }

    /// Ends that one.
    pub(super) fn end(&self, session: &Session) {
        let known = self.by_id.lock().remove(&session.id);
        if let Some(session) = known {
            session.end();
        }
    }

    /// Ends those that nobody has used for too long, and lets go of what the others need not keep.
    pub(super) fn expire(&self) {
        let is_expired = |session: &Session| session.idle_for().is_some_and(|idle| idle >= self.patience);
        let expired: Vec<_> = self.by_id.lock().extract_if(|_, session| is_expired(session)).collect();
        for (_, session) in expired {
            session.end();
        }
        for session in self.all() {
            session.prune();
        }
    }

    /// Ends the one that was not used for the longest time, of the caller who has the most.
    fn make_room(&self) -> Result<(), NoSession> {
        let mut by_id = self.by_id.lock();
        let mut by_caller: HashMap<*const Caller, usize> = HashMap::new();
        for session in by_id.values() {
            *by_caller.entry(Arc::as_ptr(session.client.caller())).or_default() += 1;
        }
        let (greediest, _) = by_caller.into_iter().max_by_key(|(_, count)| *count).ok_or(NoSession::Full)?;
        let of_greediest = by_id.values().filter(|session| Arc::as_ptr(session.client.caller()) == greediest);
        let oldest = of_greediest.filter_map(|session| Some((session.idle_for()?, session.id.clone())));
        let (_, id) = oldest.max_by_key(|(idle, _)| *idle).ok_or(NoSession::Full)?;
        let session = by_id.remove(&id);
        drop(by_id);
        if let Some(session) = session {
            session.end();
        }
        Ok(())
    }

    pub(super) fn all(&self) -> Vec<Arc<Session>> {
        self.by_id.lock().values().cloned().collect()
    }

    pub(super) fn count(&self) -> usize {
        self.by_id.lock().len()
    }
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
