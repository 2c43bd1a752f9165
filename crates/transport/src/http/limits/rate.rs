//! Rate limiter: what each caller has used of its rate.

use mcp_bash_roles::Rate;
use mcp_bash_server::Swept;
use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// At most this many callers are tracked. With tokens there are never so many.
pub(super) const MOST_CALLERS: usize = 10_000;

/// Beyond that, of this many candidates the one that owes least is dropped.
const CANDIDATES: usize = 8;

/// The debt of each caller: the time at which all of its requests are paid for.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    paid_at: Mutex<Swept<Instant>>,
}

impl Rates {
    /// Counts a request of the caller if it is allowed; otherwise returns how long the caller has to wait.
    pub(crate) fn allow(&self, caller: &str, rate: Rate) -> Result<(), Duration> {
        self.allow_at(caller, rate, Instant::now())
    }

    fn allow_at(&self, caller: &str, rate: Rate, now: Instant) -> Result<(), Duration> {
        let mut callers = self.paid_at.lock();
        let mut known = callers.get_mut(caller);
        if let Some(paid_at) = &mut known {
            // The rate may have changed. A caller never owes more than one period of its current rate.
            **paid_at = (**paid_at).min(now + rate.credit());
        }
        let paid_at = known.as_ref().map_or(now, |paid_at| (**paid_at).max(now)) + rate.cost();
        let debt = paid_at.saturating_duration_since(now);
        if let Some(wait) = debt.checked_sub(rate.credit()).filter(|wait| !wait.is_zero()) {
            return Err(wait);
        }
        if let Some(known) = known {
            *known = paid_at;
            return Ok(());
        }
        if callers.len() >= MOST_CALLERS {
            callers.remove_least(CANDIDATES, |paid_at| *paid_at);
        }
        callers.insert(caller, paid_at, |paid_at| *paid_at <= now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    #[test]
    fn a_caller_that_floods_waits_and_others_do_not() {
        let (rates, start) = (Rates::default(), Instant::now());
        for _ in 0..60 {
            assert_eq!(rates.allow_at("flood", rate("60/min"), start), Ok(()));
        }
        assert_eq!(rates.allow_at("flood", rate("60/min"), start), Err(Duration::from_secs(1)));
        assert_eq!(rates.allow_at("other", rate("60/min"), start), Ok(()));
        // Refused requests cost nothing, and each second pays for one.
        let later = start + Duration::from_secs(1);
        assert_eq!(rates.allow_at("flood", rate("60/min"), later), Ok(()));
        assert_eq!(rates.allow_at("flood", rate("60/min"), later), Err(Duration::from_secs(1)));
        // No caller saves more than one period.
        let much_later = start + Duration::from_secs(7200);
        let passed = (0..100).filter(|_| rates.allow_at("flood", rate("60/min"), much_later).is_ok()).count();
        assert_eq!(passed, 60);
    }

    #[test]
    fn uneven_rates_give_all_they_promise() {
        let (rates, now) = (Rates::default(), Instant::now());
        let passed = (0..10).filter(|_| rates.allow_at("a", rate("7/s"), now).is_ok()).count();
        assert_eq!(passed, 7);
        let wait = rates.allow_at("a", rate("7/s"), now).unwrap_err();
        assert_eq!(rates.allow_at("a", rate("7/s"), now + wait), Ok(()));
    }

    #[test]
    fn a_caller_does_not_pay_for_an_earlier_lower_rate() {
        let (rates, now) = (Rates::default(), Instant::now());
        rates.allow_at("a", rate("1/h"), now).unwrap();
        assert!(rates.allow_at("a", rate("1/h"), now).is_err());
        assert_eq!(rates.allow_at("a", rate("60/min"), now), Err(Duration::from_secs(1)));
        assert_eq!(rates.allow_at("a", rate("60/min"), now + Duration::from_secs(1)), Ok(()));
    }

    #[test]
    fn the_memory_for_callers_is_bounded_and_keeps_the_callers_that_owe_most() {
        let (rates, now) = (Rates::default(), Instant::now());
        for _ in 0..3 {
            rates.allow_at("flood", rate("3/h"), now).unwrap();
        }
        for number in 0..MOST_CALLERS * 3 {
            rates.allow_at(&format!("address {number}"), rate("3/h"), now).unwrap();
        }
        assert!(rates.paid_at.lock().len() <= MOST_CALLERS);
        assert!(rates.allow_at("flood", rate("3/h"), now).is_err());
    }
}
