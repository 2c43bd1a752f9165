//! How many requests are worked on side by side, and in which order the others get their turn.

use crate::call::Call;
use crate::workplaces::Workplaces;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;
use tokio::runtime::Handle;

pub(crate) type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Starts work while there are places, and keeps the rest in the order it came.
pub(crate) struct Admission {
    workplaces: Workplaces,
    places: usize,
    most_waiting: usize,
    most_waiting_bytes: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: usize,
    waiting: VecDeque<Waiting>,
    waiting_bytes: usize,
}

struct Waiting {
    call: Arc<Call>,
    bytes: usize,
    work: Work,
}

/// Work that was not taken, given back so that its request can be answered with the reason.
pub(crate) struct Refused {
    pub(crate) reason: Reason,
    _work: Work,
}

/// Why no more can wait.
#[derive(Debug, Error)]
pub(crate) enum Reason {
    #[error("{0} requests are waiting already; MCPBASH_MAX_WAITING_REQUESTS sets the limit")]
    TooMany(usize),
    #[error("the waiting requests hold {0} bytes already; MCPBASH_MAX_WAITING_BYTES sets the limit")]
    TooLarge(usize),
}

impl Admission {
    pub(crate) fn new(
        runtime: Handle,
        places: usize,
        most_waiting: usize,
        most_waiting_bytes: usize,
    ) -> Self {
        let workplaces = Workplaces::new(runtime);
        Self { workplaces, places, most_waiting, most_waiting_bytes, state: Mutex::default() }
    }

    /// Starts `work` now or in its turn. It waits as well while its client leaves too much unread. `bytes` is what it holds while it waits.
    pub(crate) fn admit(self: &Arc<Self>, call: &Arc<Call>, bytes: usize, work: Work) -> Result<(), Refused> {
        let waiting = Waiting { call: Arc::clone(call), bytes, work };
        let start = self.with(|state| {
            if state.running < self.places && !call.is_clogged() {
                state.running += 1;
                return Ok(Some((waiting.work, state.running)));
            }
            let reason = if state.waiting.len() >= self.most_waiting {
                Some(Reason::TooMany(state.waiting.len()))
            } else if state.waiting_bytes + bytes > self.most_waiting_bytes {
                Some(Reason::TooLarge(state.waiting_bytes))
            } else {
                None
            };
            if let Some(reason) = reason {
                return Err(Refused { reason, _work: waiting.work });
            }
            state.waiting_bytes += bytes;
            state.waiting.push_back(waiting);
            Ok(None)
        })?;
        if let Some((work, running)) = start {
            self.start(work, running);
        }
        Ok(())
    }

    /// Drops the work of a call that is still waiting.
    pub(crate) fn forget(&self, call: &Arc<Call>) {
        // Taken out under the lock and dropped outside of it, since what it holds may have a lot to say when dropped.
        let _forgotten = self.with(|state| {
            let place = state.waiting.iter().position(|waiting| Arc::ptr_eq(&waiting.call, call))?;
            let waiting = state.waiting.remove(place)?;
            state.waiting_bytes -= waiting.bytes;
            Some(waiting)
        });
    }

    /// Starts work that is one of so many.
    fn start(self: &Arc<Self>, work: Work, running: usize) {
        let place = Place(Arc::clone(self));
        self.workplaces.for_one_of(running).spawn(async move {
            let _place = place;
            work.await;
        });
    }

    /// Starts what waits as far as there are places: a client has read what it had left unread.
    pub(crate) fn go_on(self: &Arc<Self>) {
        let next = || {
            self.with(|state| {
                let work = if state.running < self.places { state.next()? } else { return None };
                state.running += 1;
                Some((work, state.running))
            })
        };
        while let Some((work, running)) = next() {
            self.start(work, running);
        }
    }

    /// A place is free: it goes to the next in turn, if there is one.
    fn pass_on(self: &Arc<Self>) {
        let next = self.with(|state| {
            let work = state.next();
            if work.is_none() {
                state.running -= 1;
            }
            work.map(|work| (work, state.running))
        });
        if let Some((work, running)) = next {
            self.start(work, running);
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    /// What has waited longest, of those whose clients read. The others wait until theirs do: their results could only
    /// add to what is unread.
    fn next(&mut self) -> Option<Work> {
        let place = self.waiting.iter().position(|waiting| !waiting.call.is_clogged())?;
        let waiting = self.waiting.remove(place)?;
        self.waiting_bytes -= waiting.bytes;
        Some(waiting.work)
    }
}

/// A place that passes to whoever waits next, even when the work that held it panicked.
struct Place(Arc<Admission>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.pass_on();
    }
}
