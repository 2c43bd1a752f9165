//! Lines of a store, in which each process has a chain.

use super::lines::Entry;
use super::verify::{Chain, Finding, Verified};
use crate::chain::NamedHead;
use crate::error::AuditError;
use crate::stored::{ChainStore, Order, Position, StoredLine};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// The lines of all chains by their times, within these.
pub fn entries_by_time(
    store: &dyn ChainStore,
    since: Option<SystemTime>,
    until: Option<SystemTime>,
) -> impl Iterator<Item = Result<Entry, AuditError>> {
    let [since, until] = [since, until].map(|time| time.map(mcp_bash_utc::precise));
    let before = Position { time: since.unwrap_or_default(), ..Position::default() };
    lines(store, Order::Time, before)
        .take_while(move |line| {
            line.as_ref().map_or(true, |line| until.as_ref().is_none_or(|until| line.at.time <= *until))
        })
        .map(|line| line.map(entry))
}

/// Verifies each chain of a store, and that they contain these heads. Returns the results with the names of the chains.
pub fn verify_store(
    store: &dyn ChainStore,
    heads: &[NamedHead],
) -> Result<Vec<(String, Verified)>, AuditError> {
    let newest_head = |name: &str| {
        let of_chain = heads.iter().filter(|head| head.chain.as_deref() == Some(name));
        of_chain.map(|named| named.head).max_by_key(|head| head.seq)
    };
    let mut verified = Vec::new();
    let mut current: Option<(String, Chain)> = None;
    for line in lines(store, Order::Chain, Position::default()) {
        let line = line?;
        if current.as_ref().is_none_or(|(name, _)| *name != line.at.chain) {
            verified.extend(current.take().map(|(name, chain)| (name, chain.finish())));
        }
        let begin = || {
            let name = &line.at.chain;
            (name.clone(), Chain::named(name, newest_head(name)))
        };
        current.get_or_insert_with(begin).1.take(entry(line));
    }
    verified.extend(current.map(|(name, chain)| (name, chain.finish())));
    for name in heads.iter().filter_map(|head| head.chain.as_ref()) {
        if !verified.iter().any(|(known, _)| known == name) {
            let findings = vec![Finding::NoChain { chain: name.clone() }];
            verified.push((name.clone(), Verified { findings, ..Verified::default() }));
        }
    }
    Ok(verified)
}

fn lines(
    store: &dyn ChainStore,
    order: Order,
    mut after: Position,
) -> impl Iterator<Item = Result<StoredLine, AuditError>> {
    let (mut page, mut is_over) = (Vec::new().into_iter(), false);
    std::iter::from_fn(move || {
        if let Some(line) = page.next() {
            return Some(Ok(line));
        }
        if is_over {
            return None;
        }
        match store.read(order, &after) {
            Ok(read) => {
                is_over = read.is_empty();
                after = read.last()?.at.clone();
                page = read.into_iter();
                page.next().map(Ok)
            }
            Err(problem) => {
                is_over = true;
                Some(Err(AuditError::Store(Arc::from(problem))))
            }
        }
    })
}

fn entry(line: StoredLine) -> Entry {
    let StoredLine { at, text } = line;
    let file = Path::new(&format!("chain {}", at.chain)).into();
    Entry { file, line: at.seq, text: text.into_bytes(), is_ended: true }
}
