//! Shared rate limiter: what each caller has used of its rate at all servers that share a store. The store counts. A caller
//! that makes many requests pays for some of them in advance, so that not every request has to wait for the store. While the
//! store is unreachable, each server counts for itself.

use crate::http::limits::rate::{MOST_CALLERS, Rates};
use mcp_bash_roles::Rate;
use mcp_bash_server::{Server, Swept, Taken};
use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// How long prepaid requests are valid.
const PREPAID_LIFETIME: Duration = Duration::from_secs(1);

/// At most 1/`LARGEST_PART` of a rate may be prepaid.
const LARGEST_PART: u32 = 16;

/// How long the store is not asked again after it did not answer.
const PAUSE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(in crate::http) struct SharedRates {
    /// What is counted (requests or sessions): part of the name of a counter.
    counted: &'static str,
    local: Rates,
    accounts: Mutex<Accounts>,
    /// When the store may be asked again after a failure.
    retry_store_at: Mutex<Option<Instant>>,
}

/// What this server knows about the counter of a caller.
#[derive(Debug, Clone, Copy)]
struct Account {
    rate: Rate,
    /// How many requests the store granted when it was last asked, and how many of them are left.
    taken: u32,
    left: u32,
    /// When the grant expires; if nothing was granted, when the caller may ask again.
    until: Instant,
}

/// Decision about a request.
#[derive(Debug, PartialEq, Eq)]
enum Decision {
    Paid,
    Wait(Duration),
    /// Ask the store for up to this many requests.
    Ask(u32),
}

impl SharedRates {
    pub(in crate::http) fn new(counted: &'static str) -> Self {
        Self {
            counted,
            local: Rates::default(),
            accounts: Mutex::default(),
            retry_store_at: Mutex::default(),
        }
    }

    /// Counts a request of the caller if it is allowed; otherwise returns how long the caller has to wait.
    pub(in crate::http) async fn allow(
        &self,
        server: &Server,
        caller: &str,
        rate: Rate,
    ) -> Result<(), Duration> {
        let may_ask = || self.retry_store_at.lock().is_none_or(|from| Instant::now() >= from);
        let is_asked = server.shared_store() == Some(Ok(())) && may_ask();
        if !is_asked {
            return self.local.allow(caller, rate);
        }
        let most = match self.accounts.lock().spend(caller, rate, Instant::now()) {
            Decision::Paid => return Ok(()),
            Decision::Wait(wait) => return Err(wait),
            Decision::Ask(most) => most,
        };
        let counter = format!("{} {caller}", self.counted);
        let Some(taken) = server.take_of_shared_rate(&counter, rate.cost(), rate.credit(), most).await else {
            *self.retry_store_at.lock() = Some(Instant::now() + PAUSE);
            return self.local.allow(caller, rate);
        };
        self.accounts.lock().note(caller, rate, taken, Instant::now())
    }
}

/// The accounts of all callers.
#[derive(Debug, Default)]
struct Accounts(Swept<Account>);

impl Accounts {
    /// Pays for a request from the account, without the store if possible.
    fn spend(&mut self, caller: &str, rate: Rate, now: Instant) -> Decision {
        let Some(account) = self.get_mut(caller, rate, now) else { return Decision::Ask(1) };
        if account.taken == 0 {
            return Decision::Wait(account.until - now);
        }
        if account.left == 0 {
            // The whole grant was used in time, so a larger one may follow.
            return Decision::Ask((account.taken * 2).min(rate.requests() / LARGEST_PART).max(1));
        }
        account.left -= 1;
        Decision::Paid
    }

    /// Records the grant of the store, and pays for the request that needed it.
    fn note(&mut self, caller: &str, rate: Rate, granted: Taken, now: Instant) -> Result<(), Duration> {
        let Taken { requests: taken, wait } = granted;
        let account = if taken == 0 {
            Account { rate, taken, left: 0, until: now + wait }
        } else {
            // Another request of this caller may have asked the store at the same time.
            let known = self.get_mut(caller, rate, now).map_or(0, |account| account.left);
            Account { rate, taken, left: known + taken - 1, until: now + PREPAID_LIFETIME }
        };
        if self.0.len() >= MOST_CALLERS {
            self.0.remove_least(1, |account| account.until);
        }
        self.0.insert(caller, account, |account| account.until <= now);
        if taken == 0 { Err(wait) } else { Ok(()) }
    }

    /// The account of a caller, if it has not expired and is for this rate.
    fn get_mut(&mut self, caller: &str, rate: Rate, now: Instant) -> Option<&mut Account> {
        self.0.get_mut(caller).filter(|account| account.rate == rate && account.until > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Taken = Taken { requests: 1, wait: Duration::ZERO };

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    #[test]
    fn who_makes_many_requests_asks_for_more_of_them_at_once() {
        let (mut accounts, rate, start) = (Accounts::default(), rate("3200/min"), Instant::now());
        let mut asked = Vec::new();
        for number in 0..1000_u32 {
            let now = start + Duration::from_millis(1) * number;
            match accounts.spend("me", rate, now) {
                Decision::Ask(most) => {
                    asked.push(most);
                    accounts.note("me", rate, Taken { requests: most, ..ONE }, now).unwrap();
                }
                decision => assert_eq!(decision, Decision::Paid),
            }
        }
        assert_eq!(asked, [1, 2, 4, 8, 16, 32, 64, 128, 200, 200, 200, 200]);
        let later = start + Duration::from_secs(3);
        assert_eq!(accounts.spend("me", rate, later), Decision::Ask(1), "what was left is lost");
        assert_eq!(accounts.spend("other", rate, start), Decision::Ask(1));
    }

    #[test]
    fn a_low_rate_asks_for_each_request() {
        let (mut accounts, rate, now) = (Accounts::default(), rate("10/s"), Instant::now());
        for _ in 0..9 {
            assert_eq!(accounts.spend("me", rate, now), Decision::Ask(1));
            accounts.note("me", rate, ONE, now).unwrap();
        }
    }

    #[test]
    fn who_was_refused_waits_and_the_store_is_not_asked_meanwhile_unless_the_rate_is_another() {
        let (mut accounts, low, now) = (Accounts::default(), rate("1/h"), Instant::now());
        let wait = Duration::from_secs(3000);
        assert_eq!(accounts.note("me", low, Taken { requests: 0, wait }, now), Err(wait));
        let later = now + Duration::from_secs(1000);
        assert_eq!(accounts.spend("me", low, later), Decision::Wait(Duration::from_secs(2000)));
        assert_eq!(accounts.spend("me", rate("2/h"), later), Decision::Ask(1));
        assert_eq!(accounts.spend("me", low, now + wait), Decision::Ask(1));
    }

    #[test]
    fn requests_that_ask_at_once_lose_nothing() {
        let (mut accounts, rate, now) = (Accounts::default(), rate("1600/s"), Instant::now());
        let ten = Taken { requests: 10, ..ONE };
        accounts.note("me", rate, ten, now).unwrap();
        accounts.note("me", rate, ten, now).unwrap();
        let paid = (0..30).take_while(|_| accounts.spend("me", rate, now) == Decision::Paid).count();
        assert_eq!(paid, 18, "two of the twenty were made by those who asked");
    }

    #[test]
    fn the_memory_for_callers_is_bounded() {
        let (mut accounts, rate, now) = (Accounts::default(), rate("3/h"), Instant::now());
        for number in 0..MOST_CALLERS * 2 {
            accounts.note(&format!("address {number}"), rate, ONE, now).unwrap();
        }
        assert!(accounts.0.len() <= MOST_CALLERS);
    }
}
