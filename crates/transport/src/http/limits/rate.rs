//! Rate limiter: how many requests a caller may make in a period.

use mcp_bash_server::Swept;
use parking_lot::Mutex;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// So many requests at once, and as many again for each period that passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    requests: NonZeroU32,
    period: Period,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Period {
    Second,
    Minute,
    Hour,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no rate; write `10/s`, `600/min` or `5000/h`")]
pub struct RateError(String);

impl Rate {
    pub fn per_minute(requests: NonZeroU32) -> Self {
        Self { requests, period: Period::Minute }
    }

    /// The time that one request costs.
    fn cost(self) -> Duration {
        self.period.length() / self.requests.get()
    }

    /// How much time may be spent in advance.
    fn credit(self) -> Duration {
        self.cost() * self.requests.get()
    }
}

impl Period {
    fn length(self) -> Duration {
        Duration::from_secs(match self {
            Self::Second => 1,
            Self::Minute => 60,
            Self::Hour => 3600,
        })
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let refused = || RateError(text.escape_debug().to_string());
        let (requests, period) = text.split_once('/').ok_or_else(refused)?;
        let period = match period {
            "s" | "sec" | "second" => Period::Second,
            "min" | "minute" => Period::Minute,
            "h" | "hour" => Period::Hour,
            _ => return Err(refused()),
        };
        // `parse` alone would take `+1`. A millionth of a second for each request is as fast as we count.
        let is_number = requests.bytes().all(|byte| byte.is_ascii_digit());
        let requests = is_number.then(|| requests.parse().ok()).flatten();
        let requests = requests.filter(|requests: &NonZeroU32| requests.get() <= 1_000_000);
        Ok(Self { requests: requests.ok_or_else(refused)?, period })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let period = match self.period {
            Period::Second => "s",
            Period::Minute => "min",
            Period::Hour => "h",
        };
        write!(formatter, "{}/{period}", self.requests)
    }
}

/// More callers than this are not remembered. With tokens there are never so many.
const MOST_CALLERS: usize = 10_000;

/// Beyond them, the one that owes least of so many is forgotten.
const CANDIDATES: usize = 8;

/// What each caller has spent. A caller is remembered by the moment at which all of its requests are paid for.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    paid_at: Mutex<Swept<Instant>>,
}

impl Rates {
    /// Whether a caller may make one more request, or how long it has to wait until it may.
    pub(crate) fn allow(&self, caller: &str, rate: Rate) -> Result<(), Duration> {
        self.allow_at(caller, rate, Instant::now())
    }

    fn allow_at(&self, caller: &str, rate: Rate, now: Instant) -> Result<(), Duration> {
        let mut callers = self.paid_at.lock();
        let known = callers.get_mut(caller);
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
    fn rates_are_read_and_shown_alike() {
        for text in ["10/s", "600/min", "5000/h", "1000000/s"] {
            assert_eq!(rate(text).to_string(), text);
        }
        assert_eq!(rate("7/minute"), Rate::per_minute(NonZeroU32::new(7).unwrap()));
        for junk in
            ["", "10", "0/s", "+1/s", "-1/s", "1.5/s", "10/day", "/s", "1000001/s", "10/ s", "1/s/s", "9\n/s"]
        {
            let refused = junk.parse::<Rate>().unwrap_err().to_string();
            assert!(refused.contains("is no rate") && !refused.contains('\n'), "{refused}");
        }
    }

    #[test]
    fn a_caller_that_floods_waits_and_others_do_not() {
        let (rates, start) = (Rates::default(), Instant::now());
        for _ in 0..60 {
            assert_eq!(rates.allow_at("flood", rate("60/min"), start), Ok(()));
        }
        assert_eq!(rates.allow_at("flood", rate("60/min"), start), Err(Duration::from_secs(1)));
        assert_eq!(rates.allow_at("other", rate("60/min"), start), Ok(()));
        // What was refused costs nothing, and each second pays for one.
        let later = start + Duration::from_secs(1);
        assert_eq!(rates.allow_at("flood", rate("60/min"), later), Ok(()));
        assert_eq!(rates.allow_at("flood", rate("60/min"), later), Err(Duration::from_secs(1)));
        // Nobody saves up more than one period.
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
