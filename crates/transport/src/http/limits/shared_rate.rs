//! Shared rate limiter: what each caller has spent of its rate at all servers that share a store. The store counts. A caller
//! that makes many requests pays for some of them in advance, so that not every request has to wait for the store. While the
//! store is away, each server counts for itself.

use crate::http::limits::rate::{MOST_CALLERS, Rates};
use mcp_bash_roles::Rate;
use mcp_bash_server::{Server, Swept, Taken};
use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// For how long requests that were paid for in advance may be made. Then they are lost.
const PREPAID_LIFETIME: Duration = Duration::from_secs(1);

/// The part of a rate that may be paid for in advance.
const LARGEST_PART: u32 = 16;

/// For how long a store that did not answer is not asked.
const PAUSE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(in crate::http) struct SharedRates {
    /// What is counted, which tells the counters of a caller apart.
    counted: &'static str,
    here: Rates,
    accounts: Mutex<Accounts>,
    /// When the store may be asked again.
    asked_from: Mutex<Option<Instant>>,
}

/// What this server knows of the counter of a caller.
#[derive(Debug, Clone, Copy)]
struct Account {
    rate: Rate,
    /// How many requests were paid for when the store was last asked, and how many of them are left.
    taken: u32,
    left: u32,
    /// Until when these may be made, or until when no request may.
    until: Instant,
}

/// What an account says to a request.
#[derive(Debug, PartialEq, Eq)]
enum Word {
    Paid,
    Wait(Duration),
    /// The store has to be asked for so many.
    Ask(u32),
}

impl SharedRates {
    pub(in crate::http) fn new(counted: &'static str) -> Self {
        Self { counted, here: Rates::default(), accounts: Mutex::default(), asked_from: Mutex::default() }
    }

    /// Whether a caller may make one more request, or how long it has to wait until it may.
    pub(in crate::http) async fn allow(
        &self,
        server: &Server,
        caller: &str,
        rate: Rate,
    ) -> Result<(), Duration> {
        let may_ask = || self.asked_from.lock().is_none_or(|from| Instant::now() >= from);
        let is_asked = server.shared_store() == Some(Ok(())) && may_ask();
        if !is_asked {
            return self.here.allow(caller, rate);
        }
        let most = match self.accounts.lock().spend(caller, rate, Instant::now()) {
            Word::Paid => return Ok(()),
            Word::Wait(wait) => return Err(wait),
            Word::Ask(most) => most,
        };
        let counter = format!("{} {caller}", self.counted);
        let Some(taken) = server.take_of_shared_rate(&counter, rate.cost(), rate.credit(), most).await else {
            *self.asked_from.lock() = Some(Instant::now() + PAUSE);
            return self.here.allow(caller, rate);
        };
        self.accounts.lock().note(caller, rate, taken, Instant::now())
    }
}

/// The accounts of all callers.
#[derive(Debug, Default)]
struct Accounts(Swept<Account>);

impl Accounts {
    /// Makes a request, if that needs no look at the store.
    fn spend(&mut self, caller: &str, rate: Rate, now: Instant) -> Word {
        let Some(account) = self.get_mut(caller, rate, now) else { return Word::Ask(1) };
        if account.taken == 0 {
            return Word::Wait(account.until - now);
        }
        if account.left == 0 {
            // All of them were made in time, so more may be.
            return Word::Ask((account.taken * 2).min(rate.requests() / LARGEST_PART).max(1));
        }
        account.left -= 1;
        Word::Paid
    }

    /// Keeps what the store has said, and makes the request for which it was asked.
    fn note(&mut self, caller: &str, rate: Rate, said: Taken, now: Instant) -> Result<(), Duration> {
        let Taken { requests: taken, wait } = said;
        let account = if taken == 0 {
            Account { rate, taken, left: 0, until: now + wait }
        } else {
            // Another request of this caller may have asked at the same time.
            let known = self.get_mut(caller, rate, now).map_or(0, |account| account.left);
            Account { rate, taken, left: known + taken - 1, until: now + PREPAID_LIFETIME }
        };
        if self.0.len() >= MOST_CALLERS {
            self.0.remove_least(1, |account| account.until);
        }
        self.0.insert(caller, account, |account| account.until <= now);
        if taken == 0 { Err(wait) } else { Ok(()) }
    }

    /// The account of a caller, if what it says is true of this rate now.
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
                Word::Ask(most) => {
                    asked.push(most);
                    accounts.note("me", rate, Taken { requests: most, ..ONE }, now).unwrap();
                }
                word => assert_eq!(word, Word::Paid),
            }
        }
        assert_eq!(asked, [1, 2, 4, 8, 16, 32, 64, 128, 200, 200, 200, 200]);
        let later = start + Duration::from_secs(3);
        assert_eq!(accounts.spend("me", rate, later), Word::Ask(1), "what was left is lost");
        assert_eq!(accounts.spend("other", rate, start), Word::Ask(1));
    }

    #[test]
    fn a_low_rate_asks_for_each_request() {
        let (mut accounts, rate, now) = (Accounts::default(), rate("10/s"), Instant::now());
        for _ in 0..9 {
            assert_eq!(accounts.spend("me", rate, now), Word::Ask(1));
            accounts.note("me", rate, ONE, now).unwrap();
        }
    }

    #[test]
    fn who_was_refused_waits_and_the_store_is_not_asked_meanwhile_unless_the_rate_is_another() {
        let (mut accounts, low, now) = (Accounts::default(), rate("1/h"), Instant::now());
        let wait = Duration::from_secs(3000);
        assert_eq!(accounts.note("me", low, Taken { requests: 0, wait }, now), Err(wait));
        let later = now + Duration::from_secs(1000);
        assert_eq!(accounts.spend("me", low, later), Word::Wait(Duration::from_secs(2000)));
        assert_eq!(accounts.spend("me", rate("2/h"), later), Word::Ask(1));
        assert_eq!(accounts.spend("me", low, now + wait), Word::Ask(1));
    }

    #[test]
    fn requests_that_ask_at_once_lose_nothing() {
        let (mut accounts, rate, now) = (Accounts::default(), rate("1600/s"), Instant::now());
        let ten = Taken { requests: 10, ..ONE };
        accounts.note("me", rate, ten, now).unwrap();
        accounts.note("me", rate, ten, now).unwrap();
        let paid = (0..30).take_while(|_| accounts.spend("me", rate, now) == Word::Paid).count();
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
