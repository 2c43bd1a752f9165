//! Account: the outcome of each request.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fate {
    /// With the result of its script.
    Answered,
    /// With an error instead, usually because its script was killed.
    Failed,
    /// The server refused it, and said so.
    Refused,
    /// Its client cut the connection, or cancelled it.
    GivenUp,
}

#[derive(Debug, Default)]
pub(super) struct Account(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    sent: u64,
    fates: BTreeMap<Fate, u64>,
    events: BTreeMap<&'static str, u64>,
    wrong: Vec<String>,
}

/// Further ones are counted, but not shown.
const MOST_SHOWN: usize = 20;

impl Account {
    /// Sends a request. `ask` returns its outcome, or an error in it.
    pub(super) fn settle(&self, what: &str, ask: impl FnOnce() -> Result<Fate, String>) {
        self.lock().sent += 1;
        match ask() {
            Ok(fate) => *self.lock().fates.entry(fate).or_default() += 1,
            Err(wrong) => self.blame(format!("{what}: {wrong}")),
        }
    }

    /// Counts something that happened.
    pub(super) fn note(&self, event: &'static str) {
        *self.lock().events.entry(event).or_default() += 1;
    }

    /// The server did something wrong.
    pub(super) fn blame(&self, wrong: String) {
        self.lock().wrong.push(wrong);
    }

    pub(super) fn is_clean(&self) -> bool {
        let counts = self.lock();
        counts.wrong.is_empty() && counts.sent == counts.fates.values().sum::<u64>()
    }

    pub(super) fn report(&self) -> String {
        let counts = self.lock();
        let mut text = format!("{} requests:", counts.sent);
        for (fate, count) in &counts.fates {
            let _ = write!(text, " {count} {fate:?}");
        }
        let lost = counts.sent - counts.fates.values().sum::<u64>();
        let _ = writeln!(text, ", {lost} lost");
        for (event, count) in &counts.events {
            let _ = writeln!(text, "{count} {event}");
        }
        let _ = writeln!(text, "{} violations", counts.wrong.len());
        for wrong in counts.wrong.iter().take(MOST_SHOWN) {
            let _ = writeln!(text, "- {wrong}");
        }
        text
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_without_an_outcome_is_lost() {
        let account = Account::default();
        account.settle("a", || Ok(Fate::Answered));
        account.settle("b", || Ok(Fate::GivenUp));
        assert!(account.is_clean());
        account.settle("c", || Err("nobody answered".to_owned()));
        assert!(!account.is_clean());
        let report = account.report();
        assert!(report.starts_with("3 requests: 1 Answered 1 GivenUp, 1 lost\n"), "{report}");
        assert!(report.contains("- c: nobody answered"), "{report}");
    }
}
