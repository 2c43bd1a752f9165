//! Replay protection: the used keys, until they expire or more than `MOST` are used.

use super::OnceKey;
use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

/// The most used keys that are remembered. Beyond it, the next to expire is removed.
const MOST: usize = 64 * 1024;

/// Ordered by expiry.
#[derive(Default)]
pub(super) struct UsedKeys(BTreeSet<(u64, OnceKey)>);

impl UsedKeys {
    /// Adds a key. False if it was used before.
    pub(super) fn add(&mut self, key: OnceKey, expires: u64) -> bool {
        let now = now();
        while self.0.first().is_some_and(|(first, _)| *first <= now || self.0.len() >= MOST) {
            self.0.pop_first();
        }
        self.0.insert((expires, key))
    }

    pub(super) fn has(&self, key: OnceKey, expires: u64) -> bool {
        self.0.contains(&(expires, key))
    }

    pub(super) fn remove(&mut self, key: OnceKey, expires: u64) {
        self.0.remove(&(expires, key));
    }
}

/// Seconds since 1970, the same for every process.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_keys_are_forgotten_when_they_have_expired_or_are_too_many() {
        let mut used = UsedKeys::default();
        assert!(used.add([1; 16], 1) && used.add([2; 16], now() + 60) && !used.add([2; 16], now() + 60));
        assert_eq!(used.0.len(), 1);
        for number in 0..=MOST as u128 {
            used.add(number.to_le_bytes(), now() + 3600);
        }
        assert_eq!(used.0.len(), MOST);
    }
}
