//! Replay protection: the used keys, until they expire. If there are too many, those that expire first are forgotten, and
//! every key that expires no later than these counts as used.

use super::OnceKey;
use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

/// The most used keys that are remembered.
const MOST: usize = 64 * 1024;

#[derive(Default)]
pub(super) struct UsedKeys {
    /// Ordered by expiry.
    keys: BTreeSet<(u64, OnceKey)>,
    /// The latest expiry of a key that was forgotten.
    forgotten: u64,
}

impl UsedKeys {
    /// Adds a key. False if it was used before, or may have been.
    pub(super) fn add(&mut self, key: OnceKey, expires: u64) -> bool {
        if self.has(key, expires) {
            return false;
        }
        let now = now();
        while let Some((first, _)) = self.keys.first() {
            if *first > now {
                if self.keys.len() < MOST {
                    break;
                }
                self.forgotten = *first;
            }
            self.keys.pop_first();
        }
        self.keys.insert((expires, key))
    }

    /// Whether a key was used, or may have been.
    pub(super) fn has(&self, key: OnceKey, expires: u64) -> bool {
        expires <= self.forgotten || self.keys.contains(&(expires, key))
    }

    pub(super) fn remove(&mut self, key: OnceKey, expires: u64) {
        self.keys.remove(&(expires, key));
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
    fn a_used_key_is_never_unused_again() {
        let mut used = UsedKeys::default();
        let (soon, later) = (now() + 3600, now() + 7200);
        assert!(used.add([1; 16], 1) && used.add([2; 16], soon) && !used.add([2; 16], soon));
        assert_eq!(used.keys.len(), 1, "expired keys are forgotten");
        for number in 0..MOST as u128 {
            assert!(used.add(number.to_le_bytes(), later));
        }
        assert_eq!(used.keys.len(), MOST);
        assert!(
            used.has([2; 16], soon) && !used.add([2; 16], soon),
            "the key was forgotten, and its time was not"
        );
        assert!(!used.add([3; 16], soon - 1), "nor are earlier keys taken for unused");
        used.remove(0_u128.to_le_bytes(), later);
        assert!(used.add(0_u128.to_le_bytes(), later), "a key that was given back can be used");
    }
}
