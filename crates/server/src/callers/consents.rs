//! Remembered consent: calls that the user has allowed for more than one time. A consent applies only to the same question
//! about the same call by the same caller. Consents are kept in memory only, in limited number: if one is lost, the user is
//! asked again.

use super::caller::Caller;
use super::holdings::{Holdings, Ticket};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The digest of a caller, a call and the question about it.
pub(crate) type ConsentKey = [u8; 32];

/// How long a consent is remembered for a caller without a session.
pub(crate) const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// The most consents of one caller. A new one replaces the oldest.
const MOST_PER_CALLER: usize = 64;

/// The most consents of all callers.
const MOST: usize = 10_000;

pub(crate) struct Consents {
    /// `None` if they are valid as long as this value exists.
    lifetime: Option<Duration>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    by_key: HashMap<ConsentKey, Ticket>,
    ages: Holdings<ConsentKey>,
}

impl Consents {
    /// The consents of one session.
    pub(crate) fn of_session() -> Self {
        Self { lifetime: None, known: Mutex::default() }
    }

    /// The consents of callers without a session.
    pub(crate) fn of_callers() -> Self {
        Self { lifetime: Some(LIFETIME), known: Mutex::default() }
    }

    /// How long consents are valid; `None` for as long as the session.
    pub(crate) fn lifetime(&self) -> Option<Duration> {
        self.lifetime
    }

    pub(crate) fn hold(&self, key: &ConsentKey) -> bool {
        let mut known = self.known.lock();
        known.expire(self.lifetime);
        known.by_key.contains_key(key)
    }

    /// Stores a consent that this caller has just given.
    pub(crate) fn remember(&self, caller: &Arc<Caller>, key: ConsentKey) {
        let mut guard = self.known.lock();
        let known = &mut *guard;
        known.expire(self.lifetime);
        known.forget(known.by_key.get(&key).copied());
        if known.ages.count_of(caller) >= MOST_PER_CALLER {
            known.forget(known.ages.oldest_of(caller));
        } else if known.ages.count() >= MOST {
            known.forget(known.ages.oldest_of_greediest());
        }
        let ticket = known.ages.add(caller, Instant::now(), 1, key);
        known.by_key.insert(key, ticket);
    }
}

impl Known {
    fn forget(&mut self, ticket: Option<Ticket>) {
        if let Some(key) = ticket.and_then(|ticket| self.ages.remove(ticket)) {
            self.by_key.remove(&key);
        }
    }

    fn expire(&mut self, lifetime: Option<Duration>) {
        let Some(lifetime) = lifetime else { return };
        let is_expired = |oldest: &Ticket| oldest.since().elapsed() >= lifetime;
        while let Some(oldest) = self.ages.oldest().filter(is_expired) {
            self.forget(Some(oldest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callers::caller::test_caller;
    use tokio::time::advance;

    fn key(number: u8) -> ConsentKey {
        [number; 32]
    }

    #[tokio::test(start_paused = true)]
    async fn a_consent_without_a_session_expires_and_one_of_a_session_does_not() {
        let (of_callers, of_session, caller) =
            (Consents::of_callers(), Consents::of_session(), test_caller("a"));
        for consents in [&of_callers, &of_session] {
            consents.remember(&caller, key(1));
        }
        advance(LIFETIME.mul_f64(0.9)).await;
        of_callers.remember(&caller, key(2));
        assert!(of_callers.hold(&key(1)) && !of_callers.hold(&key(3)));
        advance(LIFETIME.mul_f64(0.1)).await;
        assert!(!of_callers.hold(&key(1)) && of_callers.hold(&key(2)));
        assert!(of_session.hold(&key(1)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_with_many_consents_loses_its_own_oldest() {
        let (consents, modest, greedy) =
            (Consents::of_callers(), test_caller("modest"), test_caller("greedy"));
        consents.remember(&modest, key(255));
        for number in 0..=64 {
            advance(Duration::from_millis(1)).await;
            consents.remember(&greedy, key(number));
        }
        assert!(consents.hold(&key(255)) && !consents.hold(&key(0)) && consents.hold(&key(1)));
        // A repeated consent takes no second place.
        consents.remember(&greedy, key(64));
        assert!(consents.hold(&key(1)));
        assert_eq!(consents.known.lock().by_key.len(), 65);
    }
}
