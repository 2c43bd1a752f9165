//! How many requests are worked on side by side, and in which order the others get their turn: places go to the caller
//! who has the fewest, so that one who floods the server delays nobody but itself.

use crate::caller::Caller;
use crate::open_request::OpenRequest;
use crate::workplaces::Workplaces;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use thiserror::Error;
use tokio::runtime::Handle;

/// What is done for a request.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Starts tasks while there are places, and keeps the rest in the order they came, for each caller.
pub(crate) struct Admission {
    workplaces: Workplaces,
    places: usize,
    limits: WaitingLimits,
    state: Mutex<State>,
}

/// How much may wait for one caller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitingLimits {
    pub(crate) requests: usize,
    pub(crate) bytes: usize,
}

#[derive(Default)]
struct State {
    running: usize,
    /// The callers that have something running or waiting. Mostly it is one.
    callers: Vec<Share>,
}

/// What one caller has of the server.
struct Share {
    caller: Arc<Caller>,
    running: usize,
    waiting: VecDeque<Waiting>,
    waiting_bytes: usize,
}

struct Waiting {
    request: Arc<OpenRequest>,
    bytes: usize,
    task: Task,
}

/// A task that was not taken, given back so that its request can be answered with the reason.
pub(crate) struct Refused {
    pub(crate) reason: Reason,
    _task: Task,
}

/// Why no more can wait.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum Reason {
    #[error("{0} requests are waiting already; MCPBASH_MAX_WAITING_REQUESTS sets the limit")]
    TooMany(usize),
    #[error("the waiting requests hold {0} bytes already; MCPBASH_MAX_WAITING_BYTES sets the limit")]
    TooLarge(usize),
}

impl Admission {
    pub(crate) fn new(runtime: Handle, places: usize, limits: WaitingLimits) -> Self {
        Self { workplaces: Workplaces::new(runtime), places, limits, state: Mutex::default() }
    }

    /// Starts `task` now or in its turn. It waits as well while its client leaves too much unread. `bytes` is what it
    /// holds while it waits.
    pub(crate) fn admit(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        request: &Arc<OpenRequest>,
        bytes: usize,
        task: Task,
    ) -> Result<(), Refused> {
        let mut state = self.state.lock();
        let has_place = state.running < self.places && !request.is_clogged();
        let share = state.share_of(caller);
        if has_place {
            share.running += 1;
            state.running += 1;
            let running = state.running;
            drop(state);
            self.start(Arc::clone(caller), task, running);
            return Ok(());
        }
        if let Err(reason) = share.has_room(self.limits, bytes) {
            return Err(Refused { reason, _task: task });
        }
        share.waiting_bytes += bytes;
        share.waiting.push_back(Waiting { request: Arc::clone(request), bytes, task });
        Ok(())
    }

    /// Drops the task of a request that is still waiting.
    pub(crate) fn forget(&self, request: &Arc<OpenRequest>) {
        // Taken out under the lock and dropped outside of it, since what it holds may have a lot to say when dropped.
        let forgotten = self.state.lock().callers.iter_mut().find_map(|share| share.take(request));
        drop(forgotten);
    }

    /// Starts what waits as far as there are places: a client has read what it had left unread.
    pub(crate) fn go_on(self: &Arc<Self>) {
        loop {
            let mut state = self.state.lock();
            if state.running == self.places {
                return;
            }
            let Some((caller, task)) = state.next() else { return };
            state.running += 1;
            let running = state.running;
            drop(state);
            self.start(caller, task, running);
        }
    }

    /// Starts a task that is one of so many.
    fn start(self: &Arc<Self>, caller: Arc<Caller>, task: Task, running: usize) {
        let held = HeldPlace { admission: Arc::clone(self), caller };
        self.workplaces.for_one_of(running).spawn(async move {
            let _held = held;
            task.await;
        });
    }

    /// A place of `caller` is free: it goes to the next in turn, if there is one.
    fn pass_on(self: &Arc<Self>, caller: &Arc<Caller>) {
        let mut state = self.state.lock();
        state.give_back(caller);
        let Some((caller, task)) = state.next() else {
            state.running -= 1;
            return;
        };
        let running = state.running;
        drop(state);
        self.start(caller, task, running);
    }
}

impl State {
    fn share_of(&mut self, caller: &Arc<Caller>) -> &mut Share {
        let known = self.callers.iter().position(|share| Arc::ptr_eq(&share.caller, caller));
        let index = known.unwrap_or_else(|| {
            self.callers.retain(|share| share.running > 0 || !share.waiting.is_empty());
            self.callers.push(Share {
                caller: Arc::clone(caller),
                running: 0,
                waiting: VecDeque::new(),
                waiting_bytes: 0,
            });
            self.callers.len() - 1
        });
        &mut self.callers[index]
    }

    fn give_back(&mut self, caller: &Arc<Caller>) {
        let Some(index) = self.callers.iter().position(|share| Arc::ptr_eq(&share.caller, caller)) else {
            return;
        };
        let share = &mut self.callers[index];
        share.running -= 1;
        if share.running == 0 && share.waiting.is_empty() {
            self.callers.swap_remove(index);
        }
    }

    /// What has waited longest for the caller who has the fewest places, as far as clients read. The others wait until
    /// theirs do: their results could only add to what is unread.
    fn next(&mut self) -> Option<(Arc<Caller>, Task)> {
        let ready = self.callers.iter_mut().filter_map(|share| Some((share.first_ready()?, share)));
        let (index, share) = ready.min_by_key(|(_, share)| share.running)?;
        let waiting = share.waiting.remove(index)?;
        share.waiting_bytes -= waiting.bytes;
        share.running += 1;
        Some((Arc::clone(&share.caller), waiting.task))
    }
}

impl Share {
    fn has_room(&self, limits: WaitingLimits, bytes: usize) -> Result<(), Reason> {
        if self.waiting.len() >= limits.requests {
            return Err(Reason::TooMany(self.waiting.len()));
        }
        if self.waiting_bytes + bytes > limits.bytes {
            return Err(Reason::TooLarge(self.waiting_bytes));
        }
        Ok(())
    }

    /// The first of those that wait whose client reads.
    fn first_ready(&self) -> Option<usize> {
        self.waiting.iter().position(|waiting| !waiting.request.is_clogged())
    }

    fn take(&mut self, request: &Arc<OpenRequest>) -> Option<Waiting> {
        let index = self.waiting.iter().position(|waiting| Arc::ptr_eq(&waiting.request, request))?;
        let waiting = self.waiting.remove(index)?;
        self.waiting_bytes -= waiting.bytes;
        Some(waiting)
    }
}

/// A place that passes to whoever is next in turn, even when the task that held it panicked.
struct HeldPlace {
    admission: Arc<Admission>,
    caller: Arc<Caller>,
}

impl Drop for HeldPlace {
    fn drop(&mut self) {
        self.admission.pass_on(&self.caller);
    }
}
