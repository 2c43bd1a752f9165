//! Fair queue of callers: the next place goes to the caller with the fewest, and among equals to the one that came
//! first. A turn costs the same however many wait.

use super::share::{Share, Waiting};
use crate::callers::{Caller, CallerKey};
use crate::requests::open_request::OpenRequest;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The shares of all callers. `T` is what happens when a waiting request gets its turn.
pub(super) struct CallersInTurn<T> {
    /// How many requests wait, of all callers.
    waiting: usize,
    /// The callers that have something running, resting or waiting. Usually there is one.
    pub(super) shares: HashMap<CallerKey, Share<T>>,
    /// The callers with waiting requests, the one with the fewest places first.
    in_turn: BTreeSet<Turns>,
    /// The callers whose waiting requests all belong to clients that leave too much unread.
    clogged: BTreeSet<CallerKey>,
    last_number: u64,
    /// How many waiting requests were checked so far.
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
    /// `None` while no waiting request of the caller could begin.
    fn of<T>(share: &Share<T>) -> Option<Self> {
        let (running, number) = (share.running, share.number);
        share.is_ready().then(|| Self { running, number, caller: share.caller.key() })
    }
}

impl<T> CallersInTurn<T> {
    /// Changes the share of a caller, and its turn with it. An empty share is forgotten.
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

    /// How many wait in all.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// How many requests of a caller run.
    pub(super) fn running_of(&self, caller: &Arc<Caller>) -> usize {
        self.shares.get(&caller.key()).map_or(0, |share| share.running)
    }

    /// How many requests of a caller wait to begin, and how many bytes all its waiting requests hold.
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

    /// Gives callers their turns again whose clients did not read.
    pub(super) fn look_again(&mut self) {
        for key in std::mem::take(&mut self.clogged) {
            if let Some(caller) = self.shares.get(&key).map(|share| Arc::clone(&share.caller)) {
                self.change(&caller, |share| share.is_clogged = false);
            }
        }
    }

    /// Takes the longest-waiting request of the caller with the fewest places, if its client reads. The others wait
    /// until their clients read, because their results would only add to what is unread. They are not checked before
    /// that.
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
