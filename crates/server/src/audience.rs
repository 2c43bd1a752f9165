//! Everybody who is told what nobody asked for: the sessions, and the listening requests of the stateless era.

use crate::subscriber::{ListChange, Subscriber};
use mcp_bash_wire::LogLevel;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

#[derive(Default)]
pub(crate) struct Audience(Mutex<Vec<Weak<Subscriber>>>);

impl Audience {
    /// One more, for as long as it lives.
    pub(crate) fn join(&self, subscriber: &Arc<Subscriber>) {
        let mut subscribers = self.0.lock();
        subscribers.retain(|known| known.strong_count() > 0);
        subscribers.push(Arc::downgrade(subscriber));
    }

    /// Announces a changed list to everybody who wants to know.
    pub(crate) fn announce(&self, change: ListChange) {
        for subscriber in self.all() {
            subscriber.announce(change);
        }
    }

    /// Announces what could not be announced before, to those who read again.
    pub(crate) fn tell_what_is_owed(&self) {
        for subscriber in self.all() {
            subscriber.tell_what_is_owed();
        }
    }

    /// Those who hear of log events of this level.
    pub(crate) fn interested(&self, level: LogLevel) -> Vec<Arc<Subscriber>> {
        let mut all = self.all();
        all.retain(|subscriber| subscriber.wants(level));
        all
    }

    fn all(&self) -> Vec<Arc<Subscriber>> {
        self.0.lock().iter().filter_map(Weak::upgrade).collect()
    }
}
