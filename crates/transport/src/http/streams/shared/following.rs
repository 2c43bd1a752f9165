//! Follows a stream of another server: its messages as they come to the store.

use super::{SharedSession, SharedStreams};
use crate::http::streams::events::{self, Events, SESSION_STREAM};
use crate::http::streams::replay_buffer::{ReplayBuffer, Rules};
use mcp_bash_budget::Budget;
use mcp_bash_server::{StoredStream, StreamKey, StreamStage, Unavailable};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::select;
use tokio::sync::Notify;
use tokio::time::sleep;

/// How often the store is read without news.
const LOOK: Duration = Duration::from_secs(1);

/// Pauses between looks for a stream that is unknown: its server may be about to write that it has begun.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LAST_PAUSE: Duration = Duration::from_millis(400);

struct Follower {
    streams: Arc<SharedStreams>,
    key: StreamKey,
    ticket: u64,
    news: Arc<Notify>,
    /// The number of the last message that was delivered.
    after: u64,
    /// Held by its reader.
    buffer: Weak<ReplayBuffer>,
    /// Whether the session goes on.
    is_wanted: Box<dyn Fn() -> bool + Send + Sync>,
}

/// Whether more is to be delivered.
#[derive(Debug, PartialEq, Eq)]
enum Delivered {
    Everything,
    /// More is in the store.
    Part,
    /// More may come.
    SoFar,
}

impl SharedSession {
    /// The events after the one with that id, which another server sent. `None` if they are not kept any more. `is_wanted` is
    /// asked repeatedly whether the session goes on.
    pub(in crate::http) async fn events_after(
        &self,
        id: &str,
        rules: &Arc<Rules>,
        budget: &Arc<Budget>,
        is_wanted: Box<dyn Fn() -> bool + Send + Sync>,
    ) -> Result<Option<Events>, Unavailable> {
        let numbers = events::parse_id(id).filter(|(number, _)| *number != SESSION_STREAM);
        let Some((number, after)) = numbers.filter(|(_, after)| i64::try_from(*after).is_ok()) else {
            return Ok(None);
        };
        let key = StreamKey { session: self.key, number };
        let mut follower = Follower::enter(&self.streams, key, after, is_wanted);
        let mut pause = FIRST_PAUSE;
        let stored = loop {
            match self.streams.store.read(key, after).await? {
                Some(stored) => break stored,
                None if pause > LAST_PAUSE => return Ok(None),
                None => sleep(pause).await,
            }
            pause *= 2;
        };
        if stored.parts.first().is_some_and(|(first, _)| *first > after + 1) {
            return Ok(None);
        }
        let buffer = Arc::new(ReplayBuffer::continuing(number, after, rules, budget));
        buffer.begin();
        follower.buffer = Arc::downgrade(&buffer);
        let reader = buffer.take_over();
        tokio::spawn(follower.run(stored));
        Ok(Some(Events::of(buffer, reader, None)))
    }
}

impl Follower {
    fn enter(
        streams: &Arc<SharedStreams>,
        key: StreamKey,
        after: u64,
        is_wanted: Box<dyn Fn() -> bool + Send + Sync>,
    ) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let (ticket, news) = (LAST.fetch_add(1, Ordering::Relaxed), Arc::new(Notify::new()));
        streams.followers.lock().insert((key, ticket), Arc::clone(&news));
        Self { streams: Arc::clone(streams), key, ticket, news, after, buffer: Weak::new(), is_wanted }
    }

    /// Delivers messages until the stream is over or its reader has left.
    async fn run(mut self, stored: StoredStream) {
        let mut stored = Some(stored);
        while let Some(buffer) = self.buffer.upgrade() {
            if !(self.is_wanted)() || self.streams.is_ending.load(Ordering::Acquire) {
                buffer.end();
                return;
            }
            let delivered = stored.take().map(|stored| self.deliver(&buffer, stored));
            let has_room = !buffer.is_clogged();
            drop(buffer);
            match delivered {
                Some(Delivered::Everything) => return,
                Some(Delivered::Part) if has_room => {}
                _ => select! {
                    () = self.news.notified() => {}
                    () = sleep(LOOK) => {}
                },
            }
            if has_room {
                stored = match self.streams.store.read(self.key, self.after).await {
                    Ok(Some(stored)) => Some(stored),
                    Ok(None) => return self.end(),
                    Err(Unavailable { .. }) => None,
                };
            }
        }
    }

    fn deliver(&mut self, buffer: &ReplayBuffer, stored: StoredStream) -> Delivered {
        for (first, messages) in stored.parts {
            if first > self.after + 1 {
                // The messages between are not kept any more.
                buffer.end();
                return Delivered::Everything;
            }
            for (number, message) in (first..).zip(messages.split(|byte| *byte == b'\n')) {
                if number > self.after {
                    buffer.queue(message.to_vec());
                    self.after = number;
                }
            }
        }
        match stored.stage {
            _ if stored.has_more => return Delivered::Part,
            StreamStage::Open => return Delivered::SoFar,
            StreamStage::Over => {}
            StreamStage::Abandoned => {
                if let Some(answer) = stored.lost_answer {
                    buffer.queue(answer.into_bytes());
                }
            }
        }
        buffer.end();
        Delivered::Everything
    }

    fn end(&self) {
        if let Some(buffer) = self.buffer.upgrade() {
            buffer.end();
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.streams.followers.lock().remove(&(self.key, self.ticket));
    }
}
