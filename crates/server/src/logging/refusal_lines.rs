//! Refusal lines: how many lines of the audit log a peer causes that is refused before its message is read. A peer needs no
//! credential for that, so that the lines are limited, and the refusals beyond the limit are counted.

use mcp_bash_audit::{Event, Reason};
use std::time::Duration;
use tokio::time::Instant;

/// The refusals of one kind in a minute that have lines of their own.
const MOST_LINES: u64 = 10;

/// The kinds that are distinguished in a minute. A peer can have many addresses: all others share kinds without an address.
const MOST_KINDS: usize = 64;

pub(super) const MINUTE: Duration = Duration::from_secs(60);

/// Refusals that are limited together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RefusalKind {
    pub(super) event: Event,
    pub(super) reason: Reason,
    pub(super) address: Option<Box<str>>,
    /// The name of the caller and how it is known, if it is.
    pub(super) caller: Option<(Box<str>, &'static str)>,
}

/// Whether a refusal has a line of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Written,
    Counted,
    /// It is the first one of the minute that is only counted: a line is due when the minute is over.
    FirstCounted,
}

/// Refusals of one kind that have no lines of their own.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unwritten {
    pub(super) kind: RefusalKind,
    pub(super) count: u64,
}

/// The refusals of the current minute, which begins with the first of them.
#[derive(Debug, Default)]
pub(super) struct RefusalLines {
    since: Option<Instant>,
    seen: Vec<(RefusalKind, u64)>,
}

impl RefusalLines {
    /// Counts a refusal.
    pub(super) fn take(&mut self, kind: RefusalKind, now: Instant) -> Turn {
        self.since.get_or_insert(now);
        let is_first_counted = !self.seen.iter().any(|(_, count)| *count > MOST_LINES);
        let count = self.count_of(kind);
        *count += 1;
        match *count {
            ..=MOST_LINES => Turn::Written,
            _ if is_first_counted => Turn::FirstCounted,
            _ => Turn::Counted,
        }
    }

    fn count_of(&mut self, mut kind: RefusalKind) -> &mut u64 {
        let is_known = self.seen.iter().any(|(seen, _)| *seen == kind);
        if !is_known && self.seen.len() >= MOST_KINDS {
            (kind.address, kind.caller) = (None, None);
        }
        let place = self.seen.iter().position(|(seen, _)| *seen == kind);
        let place = place.unwrap_or_else(|| {
            self.seen.push((kind, 0));
            self.seen.len() - 1
        });
        &mut self.seen[place].1
    }

    /// Ends the minute if it is over: the refusals in it that have no lines.
    pub(super) fn end_minute(&mut self, now: Instant) -> Vec<Unwritten> {
        match self.since {
            Some(since) if now.duration_since(since) >= MINUTE => self.end(),
            _ => Vec::new(),
        }
    }

    /// Ends the minute now.
    pub(super) fn end(&mut self) -> Vec<Unwritten> {
        self.since = None;
        let seen = std::mem::take(&mut self.seen).into_iter();
        let unwritten = seen.map(|(kind, count)| Unwritten { kind, count: count.saturating_sub(MOST_LINES) });
        unwritten.filter(|unwritten| unwritten.count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(reason: Reason, address: &str) -> RefusalKind {
        RefusalKind { event: Event::LoginFailed, reason, address: Some(address.into()), caller: None }
    }

    #[test]
    fn refusals_beyond_the_limit_are_counted_by_kind() {
        let (mut lines, now) = (RefusalLines::default(), Instant::now());
        let turns: Vec<Turn> = (0..15).map(|_| lines.take(kind(Reason::Throttled, "a"), now)).collect();
        let expected = [vec![Turn::Written; 10], vec![Turn::FirstCounted], vec![Turn::Counted; 4]].concat();
        assert_eq!(turns, expected);
        assert_eq!(lines.take(kind(Reason::Throttled, "b"), now), Turn::Written);
        assert_eq!(lines.take(kind(Reason::Forbidden, "a"), now), Turn::Written);
        assert_eq!(lines.end_minute(now + MINUTE / 2), []);
        let unwritten = lines.end_minute(now + MINUTE);
        assert_eq!(unwritten, [Unwritten { kind: kind(Reason::Throttled, "a"), count: 5 }]);
        assert_eq!(lines.take(kind(Reason::Throttled, "a"), now + MINUTE), Turn::Written, "a new minute");
        assert_eq!(lines.end(), []);
    }

    #[test]
    fn a_peer_with_many_addresses_is_limited_and_counted_too() {
        let (mut lines, now) = (RefusalLines::default(), Instant::now());
        let take =
            |lines: &mut RefusalLines, number: u64| lines.take(kind(Reason::Host, &format!("{number}")), now);
        let written = (0..10_000).filter(|number| take(&mut lines, *number) == Turn::Written).count();
        assert_eq!(written, MOST_KINDS + 10);
        assert_eq!(take(&mut lines, 0), Turn::Written, "its address was known before the limit was reached");
        let shared = RefusalKind { address: None, ..kind(Reason::Host, "") };
        assert_eq!(lines.end(), [Unwritten { kind: shared, count: 10_000 - MOST_KINDS as u64 - 10 }]);
    }
}
