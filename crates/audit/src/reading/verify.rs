//! Verification of a chain: finds lines that were removed, changed, added or reordered.
//!
//! The chain alone cannot show that its end was cut off, or that all of it was written again. A head that was kept
//! elsewhere can.

use super::lines::{Entry, entries};
use crate::chain::{Hash, Head, Link};
use crate::error::AuditError;
use crate::event::Event;
use std::collections::HashSet;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The result of a verification.
#[derive(Debug, Default)]
pub struct Verified {
    pub records: u64,
    /// The number of the first record.
    pub first: Option<u64>,
    /// The end of the chain.
    pub head: Option<Head>,
    /// How many times a process was killed while it wrote a line, and the next one recorded it.
    pub torn: u64,
    /// Whether the last line is incomplete. The next server records it.
    pub has_incomplete_end: bool,
    /// How many requests were begun and have no end: their server was killed, or still works on them.
    pub unfinished: usize,
    pub findings: Vec<Finding>,
}

/// Where a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub file: Arc<Path>,
    pub line: u64,
}

/// A mistake in a chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    #[error("{0}: this line is no record")]
    NoRecord(Place),
    #[error(
        "{at}: record {seq} was changed, or a record was put in its place: the next one has another hash"
    )]
    Changed { at: Place, seq: u64 },
    #[error("{at}: {} missing before this line", missing(*.first, *.last))]
    Missing { at: Place, first: u64, last: u64 },
    #[error("{at}: record {seq} follows record {after}: lines were reordered, repeated or added")]
    OutOfOrder { at: Place, seq: u64, after: u64 },
    #[error("{at}: a new chain begins, which does not go on from record {after}")]
    NewChain { at: Place, after: u64 },
    #[error(
        "{at}: the file begins with record {seq}, which is no beginning of a file: the lines before it were removed"
    )]
    NoBeginning { at: Place, seq: u64 },
    #[error("{at}: this line is of chain {of}, and was moved here")]
    Moved { at: Place, of: String },
    #[error("there is no chain {chain}, of which that head is: all of it was removed")]
    NoChain { chain: String },
    #[error("the chain ends with record {last}, and {head} is newer: the end was cut off")]
    CutOff { last: u64, head: u64 },
    #[error("record {seq} is not the one of that head: the chain was written again")]
    Rewritten { seq: u64 },
    #[error(
        "record {seq} of that head is older than the oldest record here, {first}; name the files that have it"
    )]
    TooOld { seq: u64, first: u64 },
}

fn missing(first: u64, last: u64) -> String {
    if first == last { format!("record {first} is") } else { format!("records {first} to {last} are") }
}

impl Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file.display(), self.line)
    }
}

/// Verifies the chain in these files, oldest first, and that it contains `anchor`.
pub fn verify(files: &[PathBuf], anchor: Option<Head>) -> Result<Verified, AuditError> {
    let mut chain = Chain { anchor, ..Chain::default() };
    for entry in entries(files) {
        chain.take(entry?);
    }
    Ok(chain.finish())
}

/// The chain as far as it was read.
#[derive(Default)]
pub(super) struct Chain {
    verified: Verified,
    /// The name of a chain in a store. Such a chain begins where old lines were removed.
    name: Option<String>,
    anchor: Option<Head>,
    has_met_anchor: bool,
    last: Option<Place>,
    /// Requests that were begun and have not ended so far, by the ids of their events.
    begun: HashSet<String>,
    /// Lines since the last record that are none.
    unread: Vec<Entry>,
}

impl Chain {
    /// A chain of a store.
    pub(super) fn named(name: &str, anchor: Option<Head>) -> Self {
        Self { name: Some(name.to_owned()), anchor, ..Self::default() }
    }

    pub(super) fn take(&mut self, entry: Entry) {
        let Some(link) = Link::read(&entry.text).filter(|_| entry.is_ended) else {
            self.unread.push(entry);
            return;
        };
        let place = Place { file: Arc::clone(&entry.file), line: entry.line };
        self.take_unread(&link);
        self.check(&link, &place);
        let head = Head { seq: link.seq, hash: Hash::of(&entry.text) };
        if let Some(anchor) = self.anchor.filter(|anchor| anchor.seq == head.seq) {
            self.has_met_anchor = true;
            if anchor != head {
                self.verified.findings.push(Finding::Rewritten { seq: head.seq });
            }
        }
        match (link.call_id, link.event_id) {
            (Some(call), _) if link.event == Event::Begun.name() => drop(self.begun.insert(call)),
            (_, Some(id)) => drop(self.begun.remove(&id)),
            _ => {}
        }
        self.verified.records += 1;
        self.verified.first.get_or_insert(link.seq);
        self.verified.head = Some(head);
        self.last = Some(place);
    }

    /// Lines that are no records are accounted for if the next record says that they are torn.
    fn take_unread(&mut self, next: &Link) {
        let unread = std::mem::take(&mut self.unread);
        if unread.is_empty() {
            return;
        }
        let text = unread.iter().map(|entry| entry.text.as_slice()).collect::<Vec<_>>().join(&b'\n');
        if next.event == Event::Torn.name() && next.torn() == Some(Hash::of(&text)) {
            self.verified.torn += 1;
        } else {
            self.report_unread(unread);
        }
    }

    fn report_unread(&mut self, unread: Vec<Entry>) {
        let places = unread.into_iter().map(|entry| Place { file: entry.file, line: entry.line });
        self.verified.findings.extend(places.map(Finding::NoRecord));
    }

    fn check(&mut self, link: &Link, place: &Place) {
        let Link { seq, .. } = *link;
        let at = place.clone();
        let is_new_file = self.last.as_ref().is_none_or(|last| last.file != place.file);
        let is_beginning = seq == 1 || link.event == Event::Continued.name();
        let finding = match self.verified.head {
            None if seq == 1 => {
                (link.previous() != Some(Head::START.hash)).then_some(Finding::NoBeginning { at, seq })
            }
            None => (!is_beginning && self.name.is_none()).then_some(Finding::NoBeginning { at, seq }),
            Some(head) if seq == 1 && head.seq > 0 => Some(Finding::NewChain { at, after: head.seq }),
            Some(head) if seq <= head.seq => Some(Finding::OutOfOrder { at, seq, after: head.seq }),
            Some(head) if seq > head.seq + 1 => {
                Some(Finding::Missing { at, first: head.seq + 1, last: seq - 1 })
            }
            Some(head) if link.previous() != Some(head.hash) => {
                let at = self.last.clone().unwrap_or(at);
                Some(Finding::Changed { at, seq: head.seq })
            }
            Some(_) if is_new_file && !is_beginning => Some(Finding::NoBeginning { at, seq }),
            Some(_) => None,
        };
        self.verified.findings.extend(finding);
        // The ids of events begin with the name of their chain.
        if let Some(name) = &self.name
            && let Some((of, _)) = link.event_id.as_deref().and_then(|id| id.split_once('-'))
            && of != name
        {
            self.verified.findings.push(Finding::Moved { at: place.clone(), of: of.to_owned() });
        }
    }

    pub(super) fn finish(mut self) -> Verified {
        let mut unread = std::mem::take(&mut self.unread);
        if unread.pop_if(|last| !last.is_ended).is_some() {
            self.verified.has_incomplete_end = true;
        }
        self.report_unread(unread);
        if let Some(Head { seq, .. }) = self.anchor.filter(|_| !self.has_met_anchor) {
            let last = self.verified.head.map_or(0, |head| head.seq);
            self.verified.findings.extend(match self.verified.first {
                _ if seq > last => Some(Finding::CutOff { last, head: seq }),
                Some(first) if seq < first => Some(Finding::TooOld { seq, first }),
                // It is missing, which was found above.
                _ => None,
            });
        }
        self.verified.unfinished = self.begun.len();
        self.verified
    }
}
