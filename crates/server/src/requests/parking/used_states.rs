//! Replay protection: the states that were shown, until they expire.

use crate::requests::request_state::{StateId, now};
use std::collections::BTreeSet;

/// How many used states are remembered.
pub(super) const MOST_USED: usize = 64 * 1024;

/// Only those states are remembered for which a script could be run twice.
#[derive(Default)]
pub(super) struct UsedStates(pub(super) BTreeSet<(u64, StateId)>);

impl UsedStates {
    /// False if it was used before.
    pub(super) fn add(&mut self, id: StateId, expires: u64) -> bool {
        let now = now();
        while self.0.first().is_some_and(|(first, _)| *first <= now || self.0.len() >= MOST_USED) {
            self.0.pop_first();
        }
        self.0.insert((expires, id))
    }

    pub(super) fn remove(&mut self, id: StateId, expires: u64) {
        self.0.remove(&(expires, id));
    }
}
