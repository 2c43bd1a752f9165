//! Memory budget: how many bytes may be held at once, counted for each client, and above them for the process.
//!
//! Code that is about to hold something large charges its size first, and keeps the [`Charge`] for as long as it holds
//! the thing. There are no locks: a budget is an atomic counter. Messages of ordinary size need not be charged one by
//! one ([`SMALL`]); their number is limited where they are kept.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use thiserror::Error;

/// Anything up to this size need not be charged on its own.
pub const SMALL: usize = 4096;

/// An excess of this size is worth returning to the system.
pub const LARGE: usize = 1024 * 1024;

/// A number of bytes that may be held at once.
pub struct Budget {
    limit: usize,
    /// The setting that sets the limit.
    setting: &'static str,
    used: AtomicUsize,
    /// Everything charged here is charged there too.
    parent: Option<Arc<Budget>>,
    /// What was held when it was last calm.
    calm: AtomicUsize,
    /// Whether the excess since then was reported.
    was_large: AtomicBool,
    on_large: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

/// There is no room for something. Clients and scripts receive the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "there is no room for {bytes} bytes: at most {limit} are held at once, and {setting} sets the limit; \
     read the answers that wait, or ask for less at a time"
)]
pub struct NoRoom {
    bytes: usize,
    limit: usize,
    setting: &'static str,
}

impl Budget {
    pub fn new(limit: usize, setting: &'static str) -> Arc<Self> {
        Arc::new(Self::within(limit, setting, None))
    }

    /// A budget within this one.
    pub fn part(self: &Arc<Self>, limit: usize, setting: &'static str) -> Arc<Self> {
        Arc::new(Self::within(limit, setting, Some(Arc::clone(self))))
    }

    fn within(limit: usize, setting: &'static str, parent: Option<Arc<Self>>) -> Self {
        Self {
            limit,
            setting,
            used: AtomicUsize::new(0),
            parent,
            calm: AtomicUsize::new(0),
            was_large: AtomicBool::new(false),
            on_large: OnceLock::new(),
        }
    }

    /// Calls `act` when [`LARGE`] more is held here than at the beginning; and again after each [`Budget::calm_down`],
    /// when [`LARGE`] more is held than at that time.
    pub fn when_large(&self, act: impl Fn() + Send + Sync + 'static) {
        let _ = self.on_large.set(Box::new(act));
    }

    /// What is held now.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Makes the current amount the new calm level.
    pub fn calm_down(&self) {
        self.calm.store(self.used(), Ordering::Relaxed);
        self.was_large.store(false, Ordering::Relaxed);
    }

    fn note(&self, used: usize) {
        if used > LARGE + self.calm.load(Ordering::Relaxed)
            && let Some(act) = self.on_large.get()
            && !self.was_large.swap(true, Ordering::Relaxed)
        {
            act();
        }
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Whether this many more bytes could be held now.
    pub fn has_room(&self, bytes: usize) -> Result<(), NoRoom> {
        if self.used.load(Ordering::Relaxed).saturating_add(bytes) > self.limit {
            return Err(NoRoom { bytes, limit: self.limit, setting: self.setting });
        }
        self.parent.as_ref().map_or(Ok(()), |parent| parent.has_room(bytes))
    }

    /// Reserves room for something that is about to be held.
    pub fn charge(self: &Arc<Self>, bytes: usize) -> Result<Charge, NoRoom> {
        let mut charge = Charge::nothing(self);
        charge.grow_to(bytes)?;
        Ok(charge)
    }

    fn take(&self, bytes: usize) -> Result<(), NoRoom> {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed);
        let taken = if used.saturating_add(bytes) > self.limit {
            Err(NoRoom { bytes, limit: self.limit, setting: self.setting })
        } else {
            self.parent.as_ref().map_or(Ok(()), |parent| parent.take(bytes))
        };
        if taken.is_err() {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
        } else {
            self.note(used + bytes);
        }
        taken
    }

    fn take_anyway(&self, bytes: usize) {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed);
        self.note(used + bytes);
        if let Some(parent) = &self.parent {
            parent.take_anyway(bytes);
        }
    }

    fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(parent) = &self.parent {
            parent.give_back(bytes);
        }
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, setting, used, .. } = self;
        formatter
            .debug_struct("Budget")
            .field("limit", limit)
            .field("setting", setting)
            .field("used", used)
            .finish()
    }
}

/// Bytes that are held, returned to the budget when this value is dropped.
#[derive(Debug)]
pub struct Charge {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Charge {
    /// A charge that can grow.
    pub fn nothing(budget: &Arc<Budget>) -> Self {
        Self { budget: Arc::clone(budget), bytes: 0 }
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reserves room for something that has grown to `bytes` in all. If there is none, the previous charge stays.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), NoRoom> {
        let more = bytes.saturating_sub(self.bytes);
        if more > 0 {
            self.budget.take(more)?;
            self.bytes = bytes;
        }
        Ok(())
    }

    /// Charges `bytes` from now on, whether there is room or not: for things that another limit bounds, and for things
    /// that must be kept in any case.
    pub fn set(&mut self, bytes: usize) {
        if bytes > self.bytes {
            self.budget.take_anyway(bytes - self.bytes);
        } else {
            self.budget.give_back(self.bytes - bytes);
        }
        self.bytes = bytes;
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.budget.give_back(self.bytes);
        }
    }
}

/// The memory of a JSON text as a tree of values. Each value takes space of its own there, so that a text of many short
/// values costs many times its length.
pub fn tree_bytes(json: &str) -> usize {
    const VALUE: usize = 80;
    let values = 1 + memchr::memchr3_iter(b',', b'[', b'{', json.as_bytes()).count();
    json.len() + values * VALUE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(budget: &Budget) -> usize {
        budget.used.load(Ordering::Relaxed)
    }

    #[test]
    fn a_charge_counts_for_the_part_and_the_whole_until_it_is_dropped() {
        let whole = Budget::new(100, "WHOLE");
        let (one, other) = (whole.part(80, "PART"), whole.part(80, "PART"));
        let held = one.charge(70).unwrap();
        assert_eq!((used(&one), used(&other), used(&whole)), (70, 0, 70));
        let refused = one.charge(11).unwrap_err().to_string();
        assert!(refused.contains("PART sets the limit"), "{refused}");
        let refused = other.charge(31).unwrap_err().to_string();
        assert!(refused.contains("WHOLE sets the limit"), "{refused}");
        assert_eq!((used(&one), used(&other), used(&whole)), (70, 0, 70), "a refusal costs nothing");
        drop(held);
        assert_eq!((used(&one), used(&whole)), (0, 0));
        other.charge(80).unwrap();
    }

    #[test]
    fn a_charge_grows_within_the_limit_and_is_set_beyond_it() {
        let budget = Budget::new(100, "LIMIT");
        let mut held = Charge::nothing(&budget);
        held.grow_to(60).unwrap();
        held.grow_to(40).unwrap();
        assert_eq!(held.bytes(), 60, "it has grown already");
        held.grow_to(101).unwrap_err();
        assert_eq!(used(&budget), 60);
        held.set(150);
        assert_eq!(used(&budget), 150);
        budget.has_room(0).unwrap_err();
        held.set(10);
        budget.has_room(90).unwrap();
        budget.has_room(91).unwrap_err();
        drop(held);
        assert_eq!(used(&budget), 0);
    }

    #[test]
    fn each_time_that_much_is_held_is_told_once() {
        let budget = Budget::new(100 * LARGE, "LIMIT");
        let told = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&told);
        budget.when_large(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let held = budget.charge(LARGE).unwrap();
        assert_eq!(told.load(Ordering::Relaxed), 0);
        let more = [budget.charge(1).unwrap(), budget.charge(LARGE).unwrap()];
        assert_eq!(told.load(Ordering::Relaxed), 1);
        drop(more);
        budget.calm_down();
        let _little = budget.charge(LARGE).unwrap();
        assert_eq!(told.load(Ordering::Relaxed), 1, "as much was held when it was calm");
        let _more = budget.charge(1).unwrap();
        assert_eq!(told.load(Ordering::Relaxed), 2);
        drop(held);
    }

    #[test]
    fn many_short_values_cost_more_than_one_long_text() {
        assert!(tree_bytes(&format!("\"{}\"", "x".repeat(1000))) < 1100);
        assert!(tree_bytes(&format!("[{}0]", "0,".repeat(1000))) > 80_000);
    }
}
