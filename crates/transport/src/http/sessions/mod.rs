//! Session table: ownership, number and expiry of sessions.
//!
//! Any caller can begin sessions and so make the others wait for the lock of the table. Therefore nothing under the lock takes
//! longer the more sessions there are. If the table is full, the least recently used session of the caller with the most
//! sessions is ended. Sessions are used too often to keep the table sorted by last use: each session is sorted by its last
//! known use, and moved when the table next looks at it.

pub(in crate::http) mod old_sessions;
pub(in crate::http) mod session;
use crate::http::limits::options::Limits;
use crate::http::sessions::session::Session;
use crate::http::streams::replay_buffer::Rules;
use crate::http::streams::shared::SharedStreams;
use mcp_bash_server::{Caller, Holdings, MovedSession, Principal, Server, Ticket};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How many sessions are examined to find one to end, and how many are read at a time to list all.
const LOOKS: usize = 64;

pub(in crate::http) struct Sessions {
    table: Mutex<Table>,
    most: usize,
    idle_timeout: Duration,
    stream_time: Option<Duration>,
    shared: Option<Arc<SharedStreams>>,
}

#[derive(Default)]
struct Table {
    by_id: HashMap<Box<str>, Entered>,
    /// Session ids by last known use.
    ids: Holdings<Box<str>>,
    /// How many sessions were examined so far.
    #[cfg(test)]
    looks: usize,
}

struct Entered {
    session: Arc<Session>,
    ticket: Ticket,
}

/// Why no session can begin.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::http) enum NoSession {
    /// The session limit is reached.
    Full,
    /// The system has no random numbers.
    NoId,
}

/// Why a session of another server cannot be resumed here.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::http) enum NotTakenOver {
    Unknown,
    /// The store does not answer, so it is unknown whether the session has ended.
    Unchecked,
    /// There are too many sessions.
    Full,
}

impl Sessions {
    pub(in crate::http) fn new(limits: &Limits, shared: Option<Arc<SharedStreams>>) -> Self {
        Self {
            table: Mutex::default(),
            most: limits.sessions,
            idle_timeout: limits.session_idle,
            stream_time: limits.stream_time,
            shared,
        }
    }

    /// Creates a session for that `initialize` message. It is not in the table yet.
    pub(in crate::http) fn prepare(
        &self,
        server: &Arc<Server>,
        rules: &Arc<Rules>,
        principal: &Arc<Principal>,
        initialize: &[u8],
    ) -> Result<Arc<Session>, NoSession> {
        self.make_room()?;
        let begin = |id: String| Session::new(id.into(), server, rules, principal, self.stream_time);
        if let Some(id) = server.moving_session_id(principal.caller.name(), initialize) {
            return Ok(Arc::new(begin(id).moving(self.shared.as_ref())));
        }
        Ok(Arc::new(begin(server.unguessable_token().ok_or(NoSession::NoId)?)))
    }

    /// Adds the session to the table.
    pub(in crate::http) fn enter(&self, session: &Arc<Session>) {
        let mut table = self.table.lock();
        let ticket = table.ids.add(session.client.caller(), Instant::now(), 1, session.id.clone());
        table.by_id.insert(session.id.clone(), Entered { session: Arc::clone(session), ticket });
    }

    /// Resumes a session that another server began, if it belongs to this caller and has not ended.
    pub(in crate::http) async fn take_over(
        &self,
        id: &str,
        server: &Arc<Server>,
        rules: &Arc<Rules>,
        principal: &Arc<Principal>,
    ) -> Result<Arc<Session>, NotTakenOver> {
        let initialize = match server.moved_session(id, principal.caller.name()).await {
            MovedSession::Found(initialize) => initialize,
            MovedSession::Unknown => return Err(NotTakenOver::Unknown),
            MovedSession::Unchecked => return Err(NotTakenOver::Unchecked),
        };
        self.make_room().map_err(|_| NotTakenOver::Full)?;
        let session = Session::new(id.into(), server, rules, principal, self.stream_time);
        let session = Arc::new(session.moving(self.shared.as_ref()));
        session.repeat_handshake(rules, principal, &initialize);
        let mut table = self.table.lock();
        // Another request of the client may have resumed the session first.
        if let Some(known) = table.by_id.get(id) {
            return Ok(Arc::clone(&known.session));
        }
        let ticket = table.ids.add(session.client.caller(), Instant::now(), 1, session.id.clone());
        table.by_id.insert(session.id.clone(), Entered { session: Arc::clone(&session), ticket });
        Ok(session)
    }

    /// Ends the sessions that were ended at another server.
    pub(in crate::http) async fn end_with_others(&self, server: &Server) {
        let sessions = self.all();
        let ended = server.sessions_ended_elsewhere(sessions.iter().map(|session| &*session.id)).await;
        for session in sessions.iter().filter(|session| ended.contains(&*session.id)) {
            self.end(session);
        }
    }

    /// The session with that id, if it belongs to this caller.
    pub(in crate::http) fn get(&self, id: &str, caller: &Arc<Caller>) -> Option<Arc<Session>> {
        let table = self.table.lock();
        let session = table.by_id.get(id).map(|entered| &entered.session);
        let session = session.filter(|session| session.is_of(caller)).cloned()?;
        drop(table);
        session.note_use();
        Some(session)
    }

    pub(in crate::http) fn end(&self, session: &Session) {
        let known = self.table.lock().remove(&session.id);
        if let Some(session) = known {
            session.end();
        }
    }

    /// Ends idle sessions, and prunes the replay buffers of the others.
    pub(in crate::http) fn expire(&self) {
        for session in self.all() {
            let is_expired =
                |since: Option<Instant>| since.is_some_and(|since| since.elapsed() >= self.idle_timeout);
            if is_expired(self.table.lock().look_at(&session.id)) {
                self.end(&session);
            } else {
                session.prune();
            }
        }
    }

    /// If the table is full, ends the least recently used session of the caller with the most sessions.
    fn make_room(&self) -> Result<(), NoSession> {
        let mut table = self.table.lock();
        if table.ids.count() < self.most {
            return Ok(());
        }
        let unused = table.least_lately_used().ok_or(NoSession::Full)?;
        let session = table.remove(&unused);
        drop(table);
        if let Some(session) = session {
            session.end();
        }
        Ok(())
    }

    /// All sessions. Reads a few at a time, so that the lock is never held for long.
    pub(in crate::http) fn all(&self) -> Vec<Arc<Session>> {
        let (mut all, mut last) = (Vec::new(), None);
        loop {
            let table = self.table.lock();
            let mut some = table.ids.after(last).take(LOOKS).peekable();
            if some.peek().is_none() {
                return all;
            }
            for (ticket, id) in some {
                last = Some(ticket);
                all.extend(table.by_id.get(id).map(|entered| Arc::clone(&entered.session)));
            }
        }
    }

    pub(in crate::http) fn count(&self) -> usize {
        self.table.lock().ids.count()
    }
}

impl Table {
    fn remove(&mut self, id: &str) -> Option<Arc<Session>> {
        let Entered { session, ticket } = self.by_id.remove(id)?;
        self.ids.remove(ticket);
        Some(session)
    }

    /// Sorts a session by its last use, and returns when that was: `None` if it is in use or gone.
    fn look_at(&mut self, id: &str) -> Option<Instant> {
        #[cfg(test)]
        {
            self.looks += 1;
        }
        let entered = self.by_id.get_mut(id)?;
        let idle_since = entered.session.idle_since();
        let used = idle_since.unwrap_or_else(Instant::now);
        if used != entered.ticket.since()
            && let Some(ticket) = self.ids.renew(entered.ticket, used)
        {
            entered.ticket = ticket;
        }
        idle_since
    }

    /// The least recently used session of the caller with the most sessions. If more than `LOOKS` sessions were used since they
    /// were last examined, it is the oldest of those examined now. `None` if all examined sessions are in use.
    fn least_lately_used(&mut self) -> Option<Box<str>> {
        let mut seen: Option<(Instant, Box<str>)> = None;
        for _ in 0..LOOKS {
            let ticket = self.ids.oldest_of_greediest()?;
            let id = self.ids.get(ticket)?.clone();
            let idle_since = self.look_at(&id);
            if idle_since == Some(ticket.since()) {
                return Some(id);
            }
            if let Some(since) = idle_since
                && seen.as_ref().is_none_or(|(other, _)| since < *other)
            {
                seen = Some((since, id));
            }
        }
        seen.map(|(_, id)| id)
    }
}

#[cfg(test)]
mod tests;
