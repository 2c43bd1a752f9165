//! Search: replaces all matches of a regular expression in a text, within a budget.
//!
//! One search takes linear time, and all of them together quadratic time in the worst case: to prefer a longer match, each may
//! look at the rest of the text in vain. So every byte that is looked at is paid for.

use crate::pattern::{CACHE, Pattern, PatternError};
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::{Anchored, Input, MatchKind};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Mutex;

/// How many bytes are looked at before they are paid for.
const SLICE: usize = 4096;

/// A regular expression whose matches can be replaced. An empty match is none.
#[derive(Debug)]
pub struct Search {
    forward: DFA,
    /// Finds the beginning of a match from its end.
    backward: DFA,
    /// Units for each byte that is looked at.
    cost: usize,
    finds_empty_text: bool,
    /// What the last search has kept, for the next one.
    caches: Mutex<Option<Caches>>,
}

#[derive(Debug)]
struct Caches {
    forward: Cache,
    backward: Cache,
}

/// The budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exhausted;

impl Search {
    /// Compiles a pattern; or returns why it is refused.
    pub fn compile(source: &str) -> Result<Self, PatternError> {
        let pattern = Pattern::compile(source)?;
        let translated = pattern.translated();
        // With Unicode, the end of a word cannot be found byte by byte.
        let refused = |_| PatternError::Boundary;
        let config = DFA::config().cache_capacity(CACHE).skip_cache_capacity_check(true);
        let forward = DFA::builder()
            .configure(config.clone().match_kind(MatchKind::LeftmostFirst))
            .build(translated)
            .map_err(refused)?;
        let backward = DFA::builder()
            .configure(config.match_kind(MatchKind::All))
            .thompson(thompson::Config::new().reverse(true))
            .build(translated)
            .map_err(refused)?;
        let (cost, finds_empty_text) = (pattern.units(), pattern.is_match(""));
        Ok(Self { forward, backward, cost, finds_empty_text, caches: Mutex::default() })
    }

    /// Whether it matches a text without letters, and so at every place.
    pub fn finds_empty_text(&self) -> bool {
        self.finds_empty_text
    }

    /// The text with every match replaced. `spend` takes units, and says whether there were enough.
    pub fn replace_all<'t>(
        &self,
        text: &'t str,
        by: &str,
        spend: &dyn Fn(usize) -> bool,
    ) -> Result<Cow<'t, str>, Exhausted> {
        let kept = self.caches.lock().ok().and_then(|mut caches| caches.take());
        let mut caches = kept.unwrap_or_else(|| Caches {
            forward: self.forward.create_cache(),
            backward: self.backward.create_cache(),
        });
        let pay = |bytes: usize| spend(bytes.saturating_mul(self.cost)).then_some(()).ok_or(Exhausted);
        let replaced = self.replace(&mut caches, text, by, &pay);
        if let Ok(mut kept) = self.caches.lock() {
            *kept = Some(caches);
        }
        replaced
    }

    fn replace<'t>(
        &self,
        caches: &mut Caches,
        text: &'t str,
        by: &str,
        pay: &dyn Fn(usize) -> Result<(), Exhausted>,
    ) -> Result<Cow<'t, str>, Exhausted> {
        let (mut replaced, mut copied, mut from) = (String::new(), 0, 0);
        while let Some(found) = self.next(caches, text, from, pay)? {
            if found.is_empty() {
                let Some(letter) = text.get(found.end..).and_then(|rest| rest.chars().next()) else { break };
                from = found.end + letter.len_utf8();
                continue;
            }
            replaced.push_str(text.get(copied..found.start).ok_or(Exhausted)?);
            replaced.push_str(by);
            (copied, from) = (found.end, found.end);
        }
        if copied == 0 {
            return Ok(Cow::Borrowed(text));
        }
        replaced.push_str(text.get(copied..).ok_or(Exhausted)?);
        Ok(Cow::Owned(replaced))
    }

    /// The leftmost match from a place on.
    fn next(
        &self,
        caches: &mut Caches,
        text: &str,
        from: usize,
        pay: &dyn Fn(usize) -> Result<(), Exhausted>,
    ) -> Result<Option<Range<usize>>, Exhausted> {
        let Some(end) = self.end_of_match(&mut caches.forward, text, from, pay)? else { return Ok(None) };
        // As far as the search before it at most.
        let input = Input::new(text).range(from..end).anchored(Anchored::Yes);
        let start = self.backward.try_search_rev(&mut caches.backward, &input).map_err(|_| Exhausted)?;
        Ok(Some(start.ok_or(Exhausted)?.offset()..end))
    }

    fn end_of_match(
        &self,
        cache: &mut Cache,
        text: &str,
        from: usize,
        pay: &dyn Fn(usize) -> Result<(), Exhausted>,
    ) -> Result<Option<usize>, Exhausted> {
        let (dfa, bytes) = (&self.forward, text.as_bytes());
        let input = Input::new(text).range(from..);
        let mut state = dfa.start_state_forward(cache, &input).map_err(|_| Exhausted)?;
        let mut end = None;
        for (number, slice) in bytes[from..].chunks(SLICE).enumerate() {
            for (offset, byte) in slice.iter().enumerate() {
                state = dfa.next_state(cache, state, *byte).map_err(|_| Exhausted)?;
                if !state.is_tagged() {
                    continue;
                }
                if state.is_match() {
                    // An automaton knows of a match one byte later.
                    end = Some(from + number * SLICE + offset);
                } else if state.is_dead() {
                    pay(offset + 1)?;
                    return Ok(end);
                } else if state.is_quit() {
                    return Err(Exhausted);
                }
            }
            pay(slice.len())?;
        }
        // Also at the end of the text, where there is no byte.
        pay(1)?;
        let last = dfa.next_eoi_state(cache, state).map_err(|_| Exhausted)?;
        Ok(if last.is_match() { Some(bytes.len()) } else { end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    fn replaced(pattern: &str, text: &str) -> String {
        Search::compile(pattern).unwrap().replace_all(text, "#", &|_| true).unwrap().into_owned()
    }

    #[test]
    fn every_match_is_replaced() {
        assert_eq!(replaced("[0-9]{4}", "1234 a 12345678 é4321"), "# a ## é#");
        assert_eq!(replaced("a|ab", "abab"), "#b#b");
        assert_eq!(replaced(r"\bkey=\S+", "key=ö monkey=x key=1"), "# monkey=x #");
        assert_eq!(replaced("^a|b$", "aab\nb"), "#ab\n#");
        assert_eq!(replaced("x*", "axxb"), "a#b");
        assert_eq!(replaced("z", "none"), "none");
        assert!(matches!(Search::compile(r"\B"), Err(PatternError::Boundary)));
        assert!(matches!(Search::compile("("), Err(PatternError::Syntax(_))));
    }

    #[test]
    fn every_byte_that_is_looked_at_is_paid_for() {
        let pay_for = |pattern: &str, text: &str| {
            let (search, units) = (Search::compile(pattern).unwrap(), Cell::new(0));
            let spend = |more| {
                units.set(units.get() + more);
                units.get() < 100_000_000
            };
            let result = search.replace_all(text, "#", &spend).map(|text| text.len());
            (result, units.get() / search.cost)
        };
        let text = "X".repeat(100_000);
        let (result, bytes) = pay_for("X", &text);
        assert_eq!(result, Ok(100_000));
        assert!(bytes < 400_000, "{bytes}");
        // Each match looks at the rest of the text for the end of a longer one.
        let (result, bytes) = pay_for("X[^Y]*Y|X", &text);
        assert_eq!(result, Err(Exhausted), "{bytes}");
    }

    proptest! {
        #[test]
        fn the_matches_are_those_of_the_regular_expression(
            pattern in "[ab.*+?|()\\[\\]^$é]{0,8}",
            text in "[abé\\n]{0,20}",
        ) {
            if let Ok(search) = Search::compile(&pattern) {
                let regex = regex::Regex::new(Pattern::compile(&pattern).unwrap().translated()).unwrap();
                let ours = search.replace_all(&text, "#", &|_| true).unwrap();
                let theirs = regex.replace_all(&text, |found: &regex::Captures<'_>| {
                    if found[0].is_empty() { "" } else { "#" }
                });
                prop_assert_eq!(ours, theirs);
            }
        }
    }
}
