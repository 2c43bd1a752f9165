//! Caller: the person or program that makes requests, over any number of connections. Memory, sessions, parked requests, queues
//! and subscriptions are accounted to a caller.

use super::limiter::Limiter;
use super::swept::Swept;
use mcp_bash_budget::Budget;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// The most delayed refusals of wrong secrets for one caller: more are not worth the memory.
const MOST_SLOWED: usize = 64;

/// The most resources that one caller follows: each costs memory as long as it is followed.
pub(crate) const MOST_FOLLOWED: usize = 10_000;

/// The name of the local user, who started the server and uses its standard streams.
pub fn local_name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let named = ["USER", "LOGNAME"]
            .into_iter()
            .find_map(|name| std::env::var(name).ok().filter(|name| !name.is_empty()));
        named.unwrap_or_else(|| format!("user {}", rustix::process::getuid().as_raw()))
    })
}

/// The address of a caller, unique while the caller is held.
pub(crate) type CallerKey = usize;

pub struct Caller {
    name: Box<str>,
    /// The memory budget of the caller.
    budget: Arc<Budget>,
    /// Counts wrong secrets.
    denials: Mutex<Limiter>,
    /// The number of delayed refusals.
    slowed: AtomicUsize,
    /// The number of followed resources.
    followed: AtomicUsize,
}

impl Caller {
    fn new(name: &str, budget: Arc<Budget>, denials_per_minute: u32) -> Self {
        let denials = Mutex::new(Limiter::new(denials_per_minute));
        Self {
            name: name.into(),
            budget,
            denials,
            slowed: AtomicUsize::new(0),
            followed: AtomicUsize::new(0),
        }
    }

    pub(crate) fn key(self: &Arc<Self>) -> CallerKey {
        Arc::as_ptr(self).addr()
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The memory budget of the caller, a part of the total.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Counts a wrong secret. False if there were too many lately.
    pub(crate) fn may_be_denied_at_once(&self) -> bool {
        self.denials.lock().allow()
    }

    /// Counts a delayed refusal, unless there are too many.
    pub(crate) fn slow_down(self: &Arc<Self>) -> Option<Counted> {
        self.count(|caller| &caller.slowed, MOST_SLOWED)
    }

    /// Counts a followed resource, unless there are too many.
    pub(crate) fn follow(self: &Arc<Self>) -> Option<Counted> {
        self.count(|caller| &caller.followed, MOST_FOLLOWED)
    }

    fn count(self: &Arc<Self>, of: fn(&Self) -> &AtomicUsize, most: usize) -> Option<Counted> {
        // Counted before the check, so that dropping the value always reverts it.
        let before = of(self).fetch_add(1, Ordering::AcqRel);
        let counted = Counted { caller: Arc::clone(self), of };
        (before < most).then_some(counted)
    }
}

/// Keeps one of a caller's counters incremented until it is dropped.
pub(crate) struct Counted {
    caller: Arc<Caller>,
    /// The counter.
    of: fn(&Caller) -> &AtomicUsize,
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.of)(&self.caller).fetch_sub(1, Ordering::AcqRel);
    }
}

/// The known callers, by name. Callers without references and charges are removed.
#[derive(Default)]
pub(crate) struct Callers(Mutex<Swept<KnownCaller>>);

struct KnownCaller {
    caller: Weak<Caller>,
    /// May outlive its caller while something is charged to it, for example a response that is read slowly.
    budget: Weak<Budget>,
}

impl Callers {
    /// The caller of this name: the same value as long as it is referenced, and the same budget as long as anything is charged
    /// to it.
    pub(crate) fn get(
        &self,
        name: &str,
        budget: impl FnOnce() -> Arc<Budget>,
        denials_per_minute: u32,
    ) -> Arc<Caller> {
        let mut callers = self.0.lock();
        let known = callers.get_mut(name);
        if let Some(caller) = known.as_ref().and_then(|known| known.caller.upgrade()) {
            return caller;
        }
        let budget = known.and_then(|known| known.budget.upgrade()).unwrap_or_else(budget);
        let known_budget = Arc::downgrade(&budget);
        let caller = Arc::new(Caller::new(name, budget, denials_per_minute));
        let known = KnownCaller { caller: Arc::downgrade(&caller), budget: known_budget };
        callers.insert(name, known, |known| known.budget.strong_count() == 0);
        caller
    }
}

#[cfg(test)]
pub(crate) fn test_caller(name: &str) -> Arc<Caller> {
    Arc::new(Caller::new(name, Budget::new(usize::MAX, "LIMIT"), 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_bytes_still_count_when_a_caller_returns() {
        let callers = Callers::default();
        let get = |name: &str| callers.get(name, || Budget::new(100, "LIMIT"), 0);
        let slow = get("slow");
        let answer = slow.budget().charge(80).unwrap();
        drop(slow);
        assert!(get("slow").budget().charge(30).is_err(), "its answer is still unread");
        assert!(get("other").budget().charge(30).is_ok());
        drop(answer);
        assert!(get("slow").budget().charge(30).is_ok());
        for number in 0..10_000 {
            get(&number.to_string());
        }
        assert!(callers.0.lock().len() <= 4, "the others are forgotten");
    }
}
