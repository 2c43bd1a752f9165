//! Audience: the recipients of notifications that belong to no request: sessions, and the listening requests of the stateless
//! era.

use super::subscriber::{ListChange, Subscriber};
use mcp_bash_wire::LogLevel;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

/// How many other subscribers are checked when one joins, to remove closed ones.
const LOOKS: usize = 2;

#[derive(Default)]
pub(crate) struct Audience {
    subscribers: Mutex<Subscribers>,
    /// Subscribers with withheld announcements, which are sent once the client is no longer congested.
    owed: Mutex<Vec<Weak<Subscriber>>>,
}

#[derive(Default)]
struct Subscribers {
    all: Vec<Weak<Subscriber>>,
    /// The index of the next subscriber to check.
    hand: usize,
}

impl Audience {
    /// Adds a subscriber as long as it lives. Joining checks only two others, since any client may join at any time.
    pub(crate) fn join(&self, subscriber: &Arc<Subscriber>) {
        let mut subscribers = self.subscribers.lock();
        for _ in 0..LOOKS {
            subscribers.check_next();
        }
        subscribers.all.push(Arc::downgrade(subscriber));
    }

    /// Announces a changed list to every subscriber that wants it.
    pub(crate) fn announce(&self, change: ListChange) {
        for subscriber in self.all() {
            if subscriber.announce(change) {
                self.owed.lock().push(Arc::downgrade(&subscriber));
            }
        }
    }

    /// Sends withheld announcements to subscribers that are no longer congested.
    pub(crate) fn send_withheld(&self) {
        let owed = std::mem::take(&mut *self.owed.lock());
        for subscriber in owed.iter().filter_map(Weak::upgrade) {
            if subscriber.send_withheld() {
                self.owed.lock().push(Arc::downgrade(&subscriber));
            }
        }
    }

    /// The subscribers that receive log events of this level.
    pub(crate) fn interested(&self, level: LogLevel) -> Vec<Arc<Subscriber>> {
        let mut all = self.all();
        all.retain(|subscriber| subscriber.wants(level));
        all
    }

    fn all(&self) -> Vec<Arc<Subscriber>> {
        self.subscribers.lock().all.iter().filter_map(Weak::upgrade).collect()
    }
}

impl Subscribers {
    /// Removes the next subscriber if it is closed.
    fn check_next(&mut self) {
        if self.hand >= self.all.len() {
            self.hand = 0;
        }
        if self.all.get(self.hand).is_some_and(|known| known.strong_count() == 0) {
            self.all.swap_remove(self.hand);
        }
        // The last one, usually the newest, may have replaced it. It is checked in the next round.
        self.hand += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::in_memory::InMemoryReply;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn session(is_clogged: &Arc<AtomicBool>) -> (Arc<Subscriber>, InMemoryReply) {
        let (reply, said) = InMemoryReply::pair(is_clogged);
        let subscriber = Arc::new(Subscriber::of_session(reply, LogLevel::Info, 0));
        subscriber.open();
        (subscriber, said)
    }

    #[test]
    fn closed_subscribers_are_forgotten_little_by_little() {
        let (audience, calm) = (Audience::default(), Arc::default());
        let staying: Vec<_> = (0..100).map(|_| session(&calm)).collect();
        for (subscriber, _) in &staying {
            audience.join(subscriber);
        }
        for _ in 0..10_000 {
            audience.join(&session(&calm).0);
            assert!(audience.subscribers.lock().all.len() < 250);
        }
        assert_eq!(audience.all().len(), 100, "who is there is told");
    }

    #[test]
    fn only_those_who_are_owed_something_are_looked_at_when_somebody_reads_again() {
        let (audience, calm) = (Audience::default(), Arc::default());
        let clogged = Arc::new(AtomicBool::new(true));
        let others: Vec<_> = (0..100).map(|_| session(&calm)).collect();
        let (late, mut said) = session(&clogged);
        for subscriber in others.iter().map(|(subscriber, _)| subscriber).chain([&late]) {
            audience.join(subscriber);
        }
        audience.announce(ListChange::TOOLS);
        audience.announce(ListChange::TOOLS);
        audience.announce(ListChange::PROMPTS);
        assert_eq!(audience.owed.lock().len(), 1, "one of them, once");
        audience.send_withheld();
        assert!(said.try_next().is_none() && audience.owed.lock().len() == 1, "it still does not read");
        clogged.store(false, Ordering::Release);
        audience.send_withheld();
        assert_eq!(std::iter::from_fn(|| said.try_next()).count(), 2);
        assert!(audience.owed.lock().is_empty());
    }
}
