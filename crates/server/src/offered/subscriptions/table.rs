//! Subscription table: which subscribers follow which resource, indexed both ways: by resource for changes, by subscriber for
//! closing.

use super::change_signal::ChangeSignal;
use super::{Follower, Wanting};
use crate::callers::Counted;
use crate::logging::Subscriber;
use mcp_bash_budget::Charge;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};

/// The address of a subscriber, unique while the table holds a reference to it.
pub(super) type SubscriberKey = usize;

/// Whether each subscriber may receive a change. Missing subscribers keep their previous value.
pub(super) type Verdicts = HashMap<SubscriberKey, bool>;

fn key(subscriber: *const Subscriber) -> SubscriberKey {
    subscriber.addr()
}

#[derive(Default)]
pub(super) struct Table {
    by_uri: HashMap<Arc<str>, Followed>,
    /// The resources of each subscriber.
    by_subscriber: HashMap<SubscriberKey, HashSet<Arc<str>>>,
    /// Notifications for congested subscribers, to be sent later.
    owed: Vec<(Arc<str>, SubscriberKey)>,
    /// The number of subscriptions checked so far.
    #[cfg(test)]
    looks: usize,
}

/// A resource with subscriptions.
pub(super) struct Followed {
    subscriptions: HashMap<SubscriberKey, Subscription>,
    /// The digest of its content; `None` when it is gone.
    pub(super) digest: Option<[u8; 32]>,
    pub(super) signal: ChangeSignal,
}

/// One subscription to a resource.
pub(super) struct Subscription {
    subscriber: Weak<Subscriber>,
    follower: Arc<Follower>,
    /// Whether it may receive changes.
    may_know: bool,
    /// Whether a notification is still owed.
    is_owed: bool,
    _counted: Counted,
    /// The charge for its URI.
    _held: Charge,
}

impl Followed {
    pub(super) fn new(digest: Option<[u8; 32]>, signal: ChangeSignal) -> Self {
        Self { subscriptions: HashMap::new(), digest, signal }
    }

    pub(super) fn followers(&self) -> Vec<(SubscriberKey, Arc<Follower>)> {
        let follower = |known: &Subscription| Arc::clone(&known.follower);
        self.subscriptions.iter().map(|(key, known)| (*key, follower(known))).collect()
    }

    /// Records who may receive changes from now on.
    pub(super) fn judge(&mut self, verdicts: &Verdicts) {
        for (key, may_know) in verdicts {
            if let Some(known) = self.subscriptions.get_mut(key) {
                known.may_know = *may_know;
            }
        }
    }
}

impl Subscription {
    pub(super) fn new(wanting: &Wanting, counted: Counted, held: Charge) -> Self {
        let (subscriber, follower) = (Arc::downgrade(&wanting.subscriber), Arc::clone(&wanting.follower));
        Self { subscriber, follower, may_know: true, is_owed: false, _counted: counted, _held: held }
    }

    /// Notifies the subscriber of a change, if it may receive it and is not congested.
    fn tell(&mut self, uri: &str) -> Option<Arc<Subscriber>> {
        if !self.may_know {
            self.is_owed = false;
            return None;
        }
        let subscriber = self.subscriber.upgrade()?;
        self.is_owed = !subscriber.tell_updated(uri);
        (!self.is_owed).then_some(subscriber)
    }
}

impl Table {
    pub(super) fn get_mut(&mut self, uri: &str) -> Option<&mut Followed> {
        self.by_uri.get_mut(uri)
    }

    /// All followed resources.
    pub(super) fn uris(&self) -> Vec<Arc<str>> {
        self.by_uri.keys().cloned().collect()
    }

    /// Follows a resource, unless it is already followed.
    pub(super) fn follow(&mut self, uri: &str, fresh: Followed) {
        self.by_uri.entry(uri.into()).or_insert(fresh);
    }

    /// Adds a subscription to a followed resource, unless the subscriber is closed or already has one.
    pub(super) fn add(
        &mut self,
        uri: &str,
        subscriber: &Arc<Subscriber>,
        subscription: Option<Subscription>,
    ) {
        let Some((uri, _)) = self.by_uri.get_key_value(uri) else { return };
        let (uri, key) = (Arc::clone(uri), key(Arc::as_ptr(subscriber)));
        let Some(subscription) = subscription.filter(|_| !subscriber.is_closed()) else { return };
        if let Some(known) = self.by_uri.get_mut(&uri)
            && let Entry::Vacant(place) = known.subscriptions.entry(key)
        {
            place.insert(subscription);
            self.by_subscriber.entry(key).or_default().insert(uri);
        }
    }

    /// Removes a subscriber from a resource. Returns the resource if no subscription is left.
    pub(super) fn remove(&mut self, uri: &str, subscriber: &Subscriber) -> Option<Followed> {
        let key = key(subscriber);
        if let Entry::Occupied(mut follows) = self.by_subscriber.entry(key) {
            follows.get_mut().remove(uri);
            if follows.get().is_empty() {
                follows.remove();
            }
        }
        self.take(uri, key)
    }

    /// Removes a subscriber from all its resources. Returns the resources without subscriptions.
    pub(super) fn forget(&mut self, subscriber: &Subscriber) -> Vec<Followed> {
        let key = key(subscriber);
        let uris = self.by_subscriber.remove(&key).unwrap_or_default();
        uris.iter().filter_map(|uri| self.take(uri, key)).collect()
    }

    fn take(&mut self, uri: &str, key: SubscriberKey) -> Option<Followed> {
        #[cfg(test)]
        {
            self.looks += 1;
        }
        let known = self.by_uri.get_mut(uri)?;
        known.subscriptions.remove(&key);
        if known.subscriptions.is_empty() { self.by_uri.remove(uri) } else { None }
    }

    /// Notifies every subscriber of a resource of a change. Returns those that were notified.
    pub(super) fn tell(&mut self, uri: &str) -> Vec<Arc<Subscriber>> {
        let mut told = Vec::new();
        let Some((uri, _)) = self.by_uri.get_key_value(uri) else { return told };
        let uri = Arc::clone(uri);
        let Some(known) = self.by_uri.get_mut(&uri) else { return told };
        for (key, subscription) in &mut known.subscriptions {
            let was_owed = subscription.is_owed;
            told.extend(subscription.tell(&uri));
            if subscription.is_owed && !was_owed {
                self.owed.push((Arc::clone(&uri), *key));
            }
        }
        told
    }

    /// Sends withheld notifications. Returns the subscribers that were notified.
    pub(super) fn send_withheld(&mut self) -> Vec<Arc<Subscriber>> {
        let mut told = Vec::new();
        for (uri, key) in std::mem::take(&mut self.owed) {
            #[cfg(test)]
            {
                self.looks += 1;
            }
            let known = self.by_uri.get_mut(&uri).and_then(|known| known.subscriptions.get_mut(&key));
            // It was notified since, or has unsubscribed.
            let Some(subscription) = known.filter(|known| known.is_owed) else { continue };
            told.extend(subscription.tell(&uri));
            if subscription.is_owed {
                self.owed.push((uri, key));
            }
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callers::caller::{Caller, test_caller};
    use crate::callers::identity::test_principal;
    use crate::dispatch::in_memory::InMemoryReply;
    use mcp_bash_wire::LogLevel;
    use std::sync::atomic::{AtomicBool, Ordering};

    struct Reader {
        wanting: Wanting,
        caller: Arc<Caller>,
        said: InMemoryReply,
    }

    impl Reader {
        fn new(is_clogged: &Arc<AtomicBool>) -> Self {
            let (reply, said) = InMemoryReply::pair(is_clogged);
            let subscriber = Arc::new(Subscriber::of_session(reply, LogLevel::Info, 0));
            subscriber.open();
            let caller = test_caller("a");
            let follower = Arc::new(Follower { principal: test_principal(&caller), client: "".into() });
            Self { wanting: Wanting { subscriber, follower }, caller, said }
        }

        fn follow(&self, table: &mut Table, uri: &str) {
            table.follow(uri, Followed::new(None, ChangeSignal::Fixed));
            let held = Charge::nothing(self.caller.budget());
            let subscription = Subscription::new(&self.wanting, self.caller.follow().unwrap(), held);
            table.add(uri, &self.wanting.subscriber, Some(subscription));
        }

        fn heard(&mut self) -> usize {
            std::iter::from_fn(|| self.said.try_next()).count()
        }
    }

    fn uri(number: u32) -> String {
        format!("file:///{number}")
    }

    #[test]
    fn subscriptions_of_others_cost_a_subscriber_nothing() {
        let (mut table, calm) = (Table::default(), Arc::default());
        let (busy, modest) = (Reader::new(&calm), Reader::new(&calm));
        let many: Vec<_> = (0..1000).map(|_| Reader::new(&calm)).collect();
        for number in 0..9000 {
            busy.follow(&mut table, &uri(number));
        }
        for other in &many {
            other.follow(&mut table, &uri(0));
        }
        modest.follow(&mut table, &uri(0));
        modest.follow(&mut table, &uri(1));
        modest.follow(&mut table, &uri(1));
        assert!(table.remove(&uri(0), &modest.wanting.subscriber).is_none());
        assert_eq!(table.looks, 1);
        assert!(
            table.forget(&modest.wanting.subscriber).is_empty()
                && table.forget(&modest.wanting.subscriber).is_empty()
        );
        assert_eq!(table.looks, 2, "one subscription was left");
        assert_eq!(table.forget(&busy.wanting.subscriber).len(), 8999, "others follow the first");
        assert_eq!(table.looks, 9002, "its own, each once");
        assert!(many.iter().flat_map(|other| table.forget(&other.wanting.subscriber)).count() == 1);
        assert!(table.by_uri.is_empty() && table.by_subscriber.is_empty());
        assert!(busy.caller.follow().is_some(), "nothing counts any more");
    }

    #[test]
    fn a_slow_reader_is_notified_when_it_reads_and_no_other_is_checked() {
        let (mut table, calm) = (Table::default(), Arc::default());
        let clogged = Arc::new(AtomicBool::new(true));
        let (mut late, mut prompt) = (Reader::new(&clogged), Reader::new(&calm));
        for number in 0..1000 {
            prompt.follow(&mut table, &uri(number));
        }
        late.follow(&mut table, &uri(7));
        late.follow(&mut table, &uri(8));
        assert_eq!(
            (table.tell(&uri(7)).len(), table.tell(&uri(7)).len(), table.tell(&uri(8)).len()),
            (1, 1, 1)
        );
        assert_eq!((prompt.heard(), late.heard(), table.owed.len()), (3, 0, 2));
        assert!(table.send_withheld().is_empty());
        table.remove(&uri(8), &late.wanting.subscriber);
        clogged.store(false, Ordering::Release);
        let before = table.looks;
        assert_eq!(
            (table.send_withheld().len(), late.heard()),
            (1, 1),
            "each once, and what it still follows"
        );
        assert_eq!((table.looks - before, table.owed.len()), (2, 0));
    }

    #[test]
    fn one_that_is_closed_follows_nothing() {
        let (mut table, calm) = (Table::default(), Arc::default());
        let (gone, there) = (Reader::new(&calm), Reader::new(&calm));
        there.follow(&mut table, &uri(1));
        gone.wanting.subscriber.close();
        gone.follow(&mut table, &uri(1));
        assert!(table.by_subscriber.len() == 1 && table.forget(&there.wanting.subscriber).len() == 1);
    }
}
