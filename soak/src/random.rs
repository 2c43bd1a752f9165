//! Random numbers (SplitMix64): the same seed makes the same choices on every machine.

use std::time::Duration;

#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator for one part of the run, whose choices do not depend on how often the other parts choose.
    pub(crate) fn of_part(seed: u64, part: &str) -> Self {
        let mut mixed = Self::new(seed);
        for byte in part.bytes() {
            mixed.0 = mixed.next() ^ u64::from(byte);
        }
        Self::new(mixed.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which must be above 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    pub(crate) fn millis(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_millis(self.between(least, most))
    }

    /// True in so many percent of cases.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let last = items.len() as u64;
        &items[usize::try_from(self.below(last)).unwrap_or(0)]
    }

    /// A random item, by weight.
    pub(crate) fn weighted<T: Copy>(&mut self, items: &[(u64, T)]) -> T {
        let mut left = self.below(items.iter().map(|(weight, _)| weight).sum());
        for (weight, item) in items {
            if left < *weight {
                return *item;
            }
            left -= weight;
        }
        unreachable!("the weights are their own sum")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_choices() {
        let choices = |seed| {
            let mut random = Random::of_part(seed, "server 3");
            (0..20).map(|_| random.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(choices(7), choices(7));
        assert_ne!(choices(7), choices(8));
    }

    #[test]
    fn every_item_is_picked_and_those_without_weight_are_not() {
        let mut random = Random::new(1);
        let picked: Vec<char> = (0..1000).map(|_| random.weighted(&[(3, 'a'), (0, 'b'), (1, 'c')])).collect();
        assert!(picked.contains(&'a') && picked.contains(&'c') && !picked.contains(&'b'));
    }
}
