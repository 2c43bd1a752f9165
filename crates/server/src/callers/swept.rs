//! Incremental expiry: a table by name that removes useless entries gradually. Each insertion checks two other entries, so no
//! caller waits for a check of the whole table. At most about half of the table is useless.

use std::collections::HashMap;
use std::sync::Arc;

/// How many other entries an insertion checks.
const LOOKS: usize = 2;

#[derive(Debug)]
pub struct Swept<V> {
    /// The index of each entry.
    by_name: HashMap<Arc<str>, usize>,
    entries: Vec<(Arc<str>, V)>,
    /// The index of the next entry to check.
    hand: usize,
    /// The number of entries checked so far.
    #[cfg(test)]
    looks: usize,
}

impl<V> Default for Swept<V> {
    fn default() -> Self {
        Self {
            by_name: HashMap::new(),
            entries: Vec::new(),
            hand: 0,
            #[cfg(test)]
            looks: 0,
        }
    }
}

impl<V> Swept<V> {
    pub fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        let index = *self.by_name.get(name)?;
        Some(&mut self.entries[index].1)
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Inserts a name or replaces its value. An insertion checks some other entries and removes the useless ones.
    pub fn insert(&mut self, name: &str, value: V, is_useless: impl Fn(&V) -> bool) {
        if let Some(known) = self.get_mut(name) {
            *known = value;
            return;
        }
        for _ in 0..LOOKS.min(self.entries.len()) {
            let index = self.next();
            if is_useless(&self.entries[index].1) {
                self.remove(index);
            }
        }
        let name: Arc<str> = name.into();
        self.by_name.insert(Arc::clone(&name), self.entries.len());
        self.entries.push((name, value));
    }

    /// Checks the next `among` entries, and removes the one with the least `worth`.
    pub fn remove_least<W: Ord>(&mut self, among: usize, worth: impl Fn(&V) -> W) {
        let looked_at: Vec<usize> = (0..among.min(self.entries.len())).map(|_| self.next()).collect();
        if let Some(least) = looked_at.into_iter().min_by_key(|index| worth(&self.entries[*index].1)) {
            self.remove(least);
        }
    }

    /// The index of the entry to check now. Advances to the next one.
    fn next(&mut self) -> usize {
        #[cfg(test)]
        {
            self.looks += 1;
        }
        // The previous entry may have been the last one, and may be gone.
        let index = if self.hand < self.entries.len() { self.hand } else { 0 };
        self.hand = index + 1;
        index
    }

    /// The last entry, usually the newest, replaces the removed one. It is not checked in this round.
    fn remove(&mut self, index: usize) {
        let (name, _) = self.entries.swap_remove(index);
        self.by_name.remove(&name);
        if let Some((moved, _)) = self.entries.get(index) {
            self.by_name.insert(Arc::clone(moved), index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_new_entry_costs_two_looks_and_half_of_the_table_is_of_use() {
        let mut table = Swept::default();
        for number in 0..10_000_u32 {
            table.insert(&number.to_string(), number, |_| false);
        }
        assert_eq!(
            (table.len(), table.looks),
            (10_000, 2 * 10_000 - 3),
            "the first two had fewer to look at"
        );
        let before = table.looks;
        // From now on only the last thousand are useful.
        for number in 10_000..40_000_u32 {
            table.insert(&number.to_string(), number, |known| known + 1000 < number);
        }
        assert_eq!(table.looks - before, 2 * 30_000);
        assert!(table.len() < 2500, "{}", table.len());
        for number in 39_000..40_000_u32 {
            assert_eq!(table.get_mut(&number.to_string()), Some(&mut { number }));
        }
    }

    #[test]
    fn a_known_name_is_replaced_and_the_least_of_some_goes() {
        let mut table = Swept::default();
        for (name, worth) in [("a", 5), ("b", 1), ("c", 9), ("a", 4)] {
            table.insert(name, worth, |_| false);
        }
        assert_eq!(table.len(), 3);
        assert_eq!(table.get_mut("a"), Some(&mut 4));
        table.remove_least(8, |worth| *worth);
        assert_eq!(table.get_mut("b"), None);
        assert_eq!(table.get_mut("c"), Some(&mut 9));
        table.remove_least(1, |worth| *worth);
        table.remove_least(1, |worth| *worth);
        table.remove_least(1, |worth| *worth);
        assert!(table.is_empty() && table.by_name.is_empty());
    }
}
