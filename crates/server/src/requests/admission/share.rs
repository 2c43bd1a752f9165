//! Caller queue: the waiting requests of one caller, and the number of its places.

use crate::callers::Caller;
use crate::replies::Stream as _;
use crate::requests::open_request::OpenRequest;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The queue and places of one caller. `T` is the action when a waiting request gets its turn.
pub(super) struct Share<T> {
    pub(super) caller: Arc<Caller>,
    pub(super) number: u64,
    pub(super) running: usize,
    /// The most requests that may run at a time.
    pub(super) most: usize,
    pub(super) resting: usize,
    pub(super) waiting: BTreeMap<Rank, Waiting<T>>,
    /// The ranks of the waiting requests, by their addresses.
    by_request: BTreeMap<usize, Rank>,
    /// Waiting requests that continue earlier work. They are never refused, and are first in the queue.
    pub(super) returning: usize,
    waiting_bytes: usize,
    pub(super) is_clogged: bool,
}

/// The order in a queue: continuing work comes before new work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    is_new: bool,
    number: u64,
}

/// A waiting request.
pub(super) struct Waiting<T> {
    pub(super) request: Option<Arc<OpenRequest>>,
    pub(super) bytes: usize,
    /// False for continuing work.
    pub(super) is_new: bool,
    pub(super) turn: T,
}

impl<T> Share<T> {
    pub(super) fn new(caller: &Arc<Caller>, number: u64) -> Self {
        Self {
            caller: Arc::clone(caller),
            number,
            running: 0,
            most: usize::MAX,
            resting: 0,
            waiting: BTreeMap::new(),
            by_request: BTreeMap::new(),
            returning: 0,
            waiting_bytes: 0,
            is_clogged: false,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running == 0 && self.resting == 0 && self.waiting.is_empty()
    }

    /// Whether a waiting request can start.
    pub(super) fn is_ready(&self) -> bool {
        !self.waiting.is_empty() && !self.is_clogged && self.running < self.most
    }

    /// The number of requests that have not started, and the bytes that all waiting requests hold.
    pub(super) fn waiting_to_begin(&self) -> (usize, usize) {
        (self.waiting.len() - self.returning, self.waiting_bytes)
    }

    /// The rank of a waiting request.
    pub(super) fn rank_of(&self, request: &Arc<OpenRequest>) -> Option<Rank> {
        self.by_request.get(&Arc::as_ptr(request).addr()).copied()
    }

    pub(super) fn queue(&mut self, number: u64, waiting: Waiting<T>) {
        let rank = Rank { is_new: waiting.is_new, number };
        self.returning += usize::from(!rank.is_new);
        self.waiting_bytes += waiting.bytes;
        if let Some(request) = &waiting.request {
            self.by_request.insert(Arc::as_ptr(request).addr(), rank);
        }
        self.waiting.insert(rank, waiting);
        // Its client may not be congested, though the others are.
        self.is_clogged = false;
    }

    /// The first waiting request whose client is not congested.
    pub(super) fn first_ready(&self) -> Option<Rank> {
        let is_clogged = |request: &Arc<OpenRequest>| request.is_clogged();
        let mut ready =
            self.waiting.iter().filter(|(_, waiting)| !waiting.request.as_ref().is_some_and(is_clogged));
        ready.next().map(|(rank, _)| *rank)
    }

    pub(super) fn remove(&mut self, rank: Rank) -> Option<Waiting<T>> {
        let waiting = self.waiting.remove(&rank)?;
        if let Some(request) = &waiting.request {
            self.by_request.remove(&Arc::as_ptr(request).addr());
        }
        self.waiting_bytes -= waiting.bytes;
        self.returning -= usize::from(!rank.is_new);
        Some(waiting)
    }
}
