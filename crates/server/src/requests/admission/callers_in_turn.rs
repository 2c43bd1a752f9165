//! Fair queue of callers: the next place goes to the caller with the fewest places, and among equals to the one that came
//! first. A turn costs the same however many callers wait.

use super::share::{Share, Waiting};
use crate::callers::{Caller, CallerKey};
use crate::requests::open_request::OpenRequest;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The queues of all callers. `T` is the action when a waiting request gets its turn.
pub(super) struct CallersInTurn<T> {
    /// The waiting requests of all callers.
    waiting: usize,
    /// Callers with running, resting or waiting requests. Usually there is one.
    pub(super) shares: HashMap<CallerKey, Share<T>>,
    /// Callers whose waiting requests can start, the caller with the fewest places first.
    in_turn: BTreeSet<Turns>,
    /// Callers whose waiting requests all belong to congested clients.
    clogged: BTreeSet<CallerKey>,
    last_number: u64,
    /// The number of waiting requests checked so far.
    #[cfg(test)]
    pub(super) looks: usize,
}

impl<T> Default for CallersInTurn<T> {
    fn default() -> Self {
        Self {
            waiting: 0,
            shares: HashMap::new(),
            in_turn: BTreeSet::new(),
            clogged: BTreeSet::new(),
            last_number: 0,
            #[cfg(test)]
            looks: 0,
        }
    }
}

/// The order of turns: fewest places first, and among equals first come, first served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turns {
    running: usize,
    number: u64,
    caller: CallerKey,
}

impl Turns {
    /// `None` if no waiting request of the caller can start.
    fn of<T>(share: &Share<T>) -> Option<Self> {
        let (running, number) = (share.running, share.number);
        share.is_ready().then(|| Self { running, number, caller: share.caller.key() })
    }
}

impl<T> CallersInTurn<T> {
    /// Changes the share of a caller and updates its turn. An empty share is removed.
    pub(super) fn change<R>(&mut self, caller: &Arc<Caller>, change: impl FnOnce(&mut Share<T>) -> R) -> R {
        let key = caller.key();
        let share = self.shares.entry(key).or_insert_with(|| {
            self.last_number += 1;
            Share::new(caller, self.last_number)
        });
        let before = Turns::of(share);
        let changed = change(share);
        let after = Turns::of(share);
        let is_empty = share.is_empty();
        if before != after {
            before.map(|turns| self.in_turn.remove(&turns));
            after.map(|turns| self.in_turn.insert(turns));
        }
        if is_empty {
            self.shares.remove(&key);
            self.clogged.remove(&key);
        }
        changed
    }

    /// The number of waiting requests.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// The number of running requests of a caller.
    pub(super) fn running_of(&self, caller: &Arc<Caller>) -> usize {
        self.shares.get(&caller.key()).map_or(0, |share| share.running)
    }

    /// The caller's requests that have not started, and the bytes that all its waiting requests hold.
    pub(super) fn waiting_to_begin(&self, caller: &Arc<Caller>) -> (usize, usize) {
        self.shares.get(&caller.key()).map_or((0, 0), Share::waiting_to_begin)
    }

    pub(super) fn queue(&mut self, caller: &Arc<Caller>, waiting: Waiting<T>) {
        self.last_number += 1;
        self.waiting += 1;
        let number = self.last_number;
        self.change(caller, |share| share.queue(number, waiting));
    }

    pub(super) fn take(&mut self, caller: &Arc<Caller>, request: &Arc<OpenRequest>) -> Option<Waiting<T>> {
        self.shares.get(&caller.key())?;
        let taken = self.change(caller, |share| {
            let rank = share.rank_of(request)?;
            share.remove(rank)
        });
        self.waiting -= usize::from(taken.is_some());
        taken
    }

    /// Puts callers with congested clients back into the order of turns.
    pub(super) fn retry_clogged(&mut self) {
        for key in std::mem::take(&mut self.clogged) {
            if let Some(caller) = self.shares.get(&key).map(|share| Arc::clone(&share.caller)) {
                self.change(&caller, |share| share.is_clogged = false);
            }
        }
    }

    /// Takes the first waiting request, of the caller with the fewest places, whose client is not congested. Requests of
    /// congested clients wait, because their results would only add to the unread data. Their callers are not checked again
    /// before [`Self::retry_clogged`].
    pub(super) fn next(&mut self) -> Option<(Arc<Caller>, T)> {
        loop {
            let turns = *self.in_turn.first()?;
            let caller = Arc::clone(&self.shares.get(&turns.caller)?.caller);
            #[cfg(test)]
            {
                let looked_at = |share: &Share<T>| share.first_ready().map_or(share.waiting.len(), |_| 1);
                self.looks += self.shares.get(&turns.caller).map_or(0, looked_at);
            }
            let next = self.change(&caller, |share| {
                let next = share.first_ready().and_then(|rank| share.remove(rank));
                share.is_clogged = next.is_none();
                share.running += usize::from(next.is_some());
                next
            });
            match next {
                Some(waiting) => {
                    self.waiting -= 1;
                    return Some((caller, waiting.turn));
                }
                None => drop(self.clogged.insert(turns.caller)),
            }
        }
    }
}
