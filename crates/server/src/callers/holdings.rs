//! Bounded holdings: a limited number of items, held by callers. To make room, the caller that holds the most loses its oldest
//! item. Every operation takes logarithmic time, since any caller can trigger it while the others wait.

use super::caller::{Caller, CallerKey};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use tokio::time::Instant;

/// The key of an item: the time when it was added, and a unique number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket {
    since: Instant,
    number: u64,
}

impl Ticket {
    pub fn since(self) -> Instant {
        self.since
    }
}

pub struct Holdings<T> {
    /// Oldest first.
    by_age: BTreeMap<Ticket, Held<T>>,
    by_caller: HashMap<CallerKey, Holding>,
    /// The size of each caller's holding, largest last.
    by_size: BTreeSet<(usize, CallerKey)>,
    size: usize,
    last_number: u64,
}

struct Held<T> {
    thing: T,
    size: usize,
    caller: Arc<Caller>,
}

/// The items of one caller.
#[derive(Default)]
struct Holding {
    tickets: BTreeSet<Ticket>,
    size: usize,
}

impl<T> Default for Holdings<T> {
    fn default() -> Self {
        Self {
            by_age: BTreeMap::new(),
            by_caller: HashMap::new(),
            by_size: BTreeSet::new(),
            size: 0,
            last_number: 0,
        }
    }
}

impl<T> Holdings<T> {
    /// Adds an item of a caller, with its size in the limited unit.
    pub fn add(&mut self, caller: &Arc<Caller>, since: Instant, size: usize, thing: T) -> Ticket {
        self.last_number += 1;
        let ticket = Ticket { since, number: self.last_number };
        self.change(caller.key(), |holding| {
            holding.tickets.insert(ticket);
            holding.size += size;
        });
        self.size += size;
        self.by_age.insert(ticket, Held { thing, size, caller: Arc::clone(caller) });
        ticket
    }

    pub fn remove(&mut self, ticket: Ticket) -> Option<T> {
        let held = self.by_age.remove(&ticket)?;
        self.change(held.caller.key(), |holding| {
            holding.tickets.remove(&ticket);
            holding.size -= held.size;
        });
        self.size -= held.size;
        Some(held.thing)
    }

    /// Sets the time of an item, and returns its new ticket. `None` if the item is gone.
    pub fn renew(&mut self, ticket: Ticket, since: Instant) -> Option<Ticket> {
        let held = self.by_age.remove(&ticket)?;
        let renewed = Ticket { since, ..ticket };
        if let Some(holding) = self.by_caller.get_mut(&held.caller.key()) {
            holding.tickets.remove(&ticket);
            holding.tickets.insert(renewed);
        }
        self.by_age.insert(renewed, held);
        Some(renewed)
    }

    pub fn get(&self, ticket: Ticket) -> Option<&T> {
        self.by_age.get(&ticket).map(|held| &held.thing)
    }

    /// The number of items.
    pub fn count(&self) -> usize {
        self.by_age.len()
    }

    /// The number of a caller's items.
    pub fn count_of(&self, caller: &Arc<Caller>) -> usize {
        self.by_caller.get(&caller.key()).map_or(0, |holding| holding.tickets.len())
    }

    /// The total size.
    pub fn size(&self) -> usize {
        self.size
    }

    pub fn oldest(&self) -> Option<Ticket> {
        self.by_age.first_key_value().map(|(ticket, _)| *ticket)
    }

    /// The oldest item of a caller.
    pub fn oldest_of(&self, caller: &Arc<Caller>) -> Option<Ticket> {
        self.by_caller.get(&caller.key())?.tickets.first().copied()
    }

    /// The oldest item of the caller with the largest total size.
    pub fn oldest_of_greediest(&self) -> Option<Ticket> {
        let (_, greediest) = self.by_size.last()?;
        self.by_caller.get(greediest)?.tickets.first().copied()
    }

    /// The items after `last`, oldest first.
    pub fn after(&self, last: Option<Ticket>) -> impl Iterator<Item = (Ticket, &T)> {
        use std::ops::Bound::{Excluded, Unbounded};
        let rest = self.by_age.range((last.map_or(Unbounded, Excluded), Unbounded));
        rest.map(|(ticket, held)| (*ticket, &held.thing))
    }

    /// Changes the holding of a caller, and removes it when it is empty.
    fn change(&mut self, caller: CallerKey, change: impl FnOnce(&mut Holding)) {
        let holding = self.by_caller.entry(caller).or_default();
        self.by_size.remove(&(holding.size, caller));
        change(holding);
        if holding.tickets.is_empty() {
            self.by_caller.remove(&caller);
        } else {
            self.by_size.insert((holding.size, caller));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callers::caller::test_caller;
    use std::time::Duration;

    #[test]
    fn the_caller_that_holds_the_most_gives_up_its_oldest() {
        let (mut holdings, start) = (Holdings::default(), Instant::now());
        let (modest, greedy) = (test_caller("modest"), test_caller("greedy"));
        let at = |seconds| start + Duration::from_secs(seconds);
        let first = holdings.add(&modest, at(0), 3, "first");
        let second = holdings.add(&greedy, at(2), 2, "second");
        let third = holdings.add(&greedy, at(1), 2, "third");
        assert_eq!((holdings.count(), holdings.size(), holdings.count_of(&greedy)), (3, 7, 2));
        assert_eq!(holdings.oldest(), Some(first));
        assert_eq!((holdings.oldest_of_greediest(), holdings.oldest_of(&modest)), (Some(third), Some(first)));
        let third = holdings.renew(third, at(3)).unwrap();
        assert_eq!(holdings.oldest_of_greediest(), Some(second), "the third was held for longer before");
        assert_eq!(holdings.remove(second), Some("second"));
        assert_eq!(holdings.oldest_of_greediest(), Some(first), "the other has more now");
        assert_eq!((holdings.remove(second), holdings.renew(second, at(9))), (None, None));
        assert_eq!(holdings.after(Some(first)).collect::<Vec<_>>(), [(third, &"third")]);
        assert_eq!((holdings.remove(third), holdings.remove(first)), (Some("third"), Some("first")));
        assert_eq!((holdings.count(), holdings.size(), holdings.oldest_of_greediest()), (0, 0, None));
        assert!(holdings.by_caller.is_empty() && holdings.by_size.is_empty(), "nobody is remembered");
    }
}
