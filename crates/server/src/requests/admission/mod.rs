//! Admission: limits how many requests are handled at the same time, and orders the rest. Places go to the caller with the
//! fewest (`callers_in_turn.rs`), so a caller that floods the server delays only itself.
//!
//! Work that waits for its user's answer rests: it frees its place, and queues again before it continues.

mod callers_in_turn;
mod share;
#[cfg(test)]
mod tests;

use super::open_request::OpenRequest;
use crate::callers::Caller;
use crate::replies::Stream as _;
use crate::tasks::{Weight, Workplaces};
use callers_in_turn::CallersInTurn;
use parking_lot::{Mutex, MutexGuard};
use share::Waiting;
use std::pin::Pin;
use std::sync::Arc;
use thiserror::Error;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// The handler of a request, started once it has a place.
pub(crate) type Task = Box<dyn FnOnce(Place) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// Starts tasks while places are free, and queues the rest for each caller in order of arrival.
pub(crate) struct Admission {
    workplaces: Workplaces,
    limits: AdmissionLimits,
    state: Mutex<AdmissionState>,
}

/// Limits of running, waiting and resting requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AdmissionLimits {
    /// How many tasks run at the same time.
    pub(crate) places: usize,
    /// The most waiting requests of one caller, and the most bytes they may hold.
    pub(crate) waiting: usize,
    pub(crate) waiting_bytes: usize,
    /// The most resting requests in all, and of one caller. Beyond that, work that waits for an answer keeps its place.
    pub(crate) resting: usize,
    pub(crate) resting_per_caller: usize,
}

#[derive(Default)]
struct AdmissionState {
    running: usize,
    resting: usize,
    callers: CallersInTurn<Turn>,
}

impl AdmissionState {
    /// Whether the queue of a caller has room for a request of `bytes`.
    fn has_room(&self, caller: &Arc<Caller>, limits: AdmissionLimits, bytes: usize) -> Result<(), Reason> {
        let (waiting, held) = self.callers.waiting_to_begin(caller);
        if waiting >= limits.waiting {
            return Err(Reason::TooMany(waiting));
        }
        if held + bytes > limits.waiting_bytes {
            return Err(Reason::TooLarge(held));
        }
        Ok(())
    }
}

/// The action when a request gets its turn.
enum Turn {
    Start(Task, Weight),
    GoOn(oneshot::Sender<Place>),
}

/// A task that was not admitted. It is kept until its request is answered with the reason.
pub(crate) struct Refused {
    pub(crate) reason: Reason,
    _task: Task,
}

/// Why a queue is full.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum Reason {
    #[error("{0} requests are waiting already; MCPBASH_MAX_WAITING_REQUESTS sets the limit")]
    TooMany(usize),
    #[error("the waiting requests hold {0} bytes already; MCPBASH_MAX_WAITING_BYTES sets the limit")]
    TooLarge(usize),
}

impl Admission {
    pub(crate) fn new(runtime: Handle, limits: AdmissionLimits) -> Self {
        Self { workplaces: Workplaces::new(runtime), limits, state: Mutex::default() }
    }

    /// Starts `task` now or queues it. It also waits while its client is congested, and while `most` tasks of its caller run.
    /// `bytes` is what it holds while it waits.
    pub(crate) fn admit(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        request: &Arc<OpenRequest>,
        bytes: usize,
        task: Task,
        weight: Weight,
        most: Option<usize>,
    ) -> Result<(), Refused> {
        let mut state = self.state.lock();
        let is_below = |most: usize| state.callers.running_of(caller) < most;
        let has_place =
            state.running < self.limits.places && most.is_none_or(is_below) && !request.is_clogged();
        if has_place {
            state.callers.change(caller, |share| share.running += 1);
            state.running += 1;
            let running = state.running;
            drop(state);
            self.begin(Arc::clone(caller), Turn::Start(task, weight), running);
            return Ok(());
        }
        if let Err(reason) = state.has_room(caller, self.limits, bytes) {
            return Err(Refused { reason, _task: task });
        }
        state.callers.change(caller, |share| share.most = most.unwrap_or(usize::MAX));
        let request = Some(Arc::clone(request));
        let turn = Turn::Start(task, weight);
        state.callers.queue(caller, Waiting { request, bytes, is_new: true, turn });
        Ok(())
    }

    /// The number of running and of waiting tasks.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.state.lock();
        (state.running, state.callers.waiting())
    }

    /// Removes the task of a request from the queue, if it has not started.
    pub(crate) fn forget(&self, caller: &Arc<Caller>, request: &Arc<OpenRequest>) {
        // Dropped outside the lock, since dropping a task may take long.
        let forgotten = self.state.lock().callers.take(caller, request);
        drop(forgotten);
    }

    /// Starts waiting requests while places are free, after a congested client has read its data.
    pub(crate) fn go_on(self: &Arc<Self>) {
        self.state.lock().callers.retry_clogged();
        while self.begin_next() {}
    }

    /// Starts the next request. False if no place is free or no request can start.
    fn begin_next(self: &Arc<Self>) -> bool {
        self.begin_next_of(self.state.lock())
    }

    fn begin_next_of(self: &Arc<Self>, mut state: MutexGuard<'_, AdmissionState>) -> bool {
        if state.running >= self.limits.places {
            return false;
        }
        let Some((caller, turn)) = state.callers.next() else { return false };
        state.running += 1;
        let running = state.running;
        drop(state);
        self.begin(caller, turn, running);
        true
    }

    /// Starts a request. `running` already includes it.
    fn begin(self: &Arc<Self>, caller: Arc<Caller>, turn: Turn, running: usize) {
        let place = Place { admission: Arc::clone(self), caller };
        match turn {
            Turn::Start(task, weight) => {
                drop(self.workplaces.for_one_of(running, weight).spawn(task(place)));
            }
            // If the receiver is gone, the place is freed again.
            Turn::GoOn(waiting) => drop(waiting.send(place)),
        }
    }

    /// Frees a place of `caller`, and starts the next request.
    fn pass_on(self: &Arc<Self>, caller: &Arc<Caller>) {
        let mut state = self.state.lock();
        state.running -= 1;
        state.callers.change(caller, |share| share.running -= 1);
        self.begin_next_of(state);
    }
}

/// A place for running work. Dropping it starts the next request, even after a panic.
pub(crate) struct Place {
    admission: Arc<Admission>,
    caller: Arc<Caller>,
}

impl Place {
    /// Frees the place while the work rests, unless too many rest already.
    pub(crate) fn rest(self) -> Result<Resting, Self> {
        let limits = self.admission.limits;
        self.rest_if(|all, of_caller| all < limits.resting && of_caller < limits.resting_per_caller)
    }

    /// Frees the place while the work rests. Something else limits the number of such work.
    pub(crate) fn rest_in_any_case(self) -> Result<Resting, Self> {
        self.rest_if(|_, _| true)
    }

    /// `is_room` receives the number of resting requests, in all and of the caller.
    fn rest_if(self, is_room: impl FnOnce(usize, usize) -> bool) -> Result<Resting, Self> {
        let (admission, caller) = (Arc::clone(&self.admission), Arc::clone(&self.caller));
        {
            let mut state = admission.state.lock();
            let all = state.resting;
            let is_room = state.callers.change(&caller, |share| {
                let is_room = is_room(all, share.resting);
                share.resting += usize::from(is_room);
                is_room
            });
            if !is_room {
                drop(state);
                return Err(self);
            }
            state.resting += 1;
        }
        drop(self);
        Ok(Resting { admission, caller })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.admission.pass_on(&self.caller);
    }
}

/// Work that has freed its place while it waits.
pub(crate) struct Resting {
    admission: Arc<Admission>,
    caller: Arc<Caller>,
}

impl Resting {
    /// Waits for a place, ahead of its caller's requests that have not started. `request` is the one that the work answers now.
    /// `None` if that request was cancelled meanwhile.
    pub(crate) async fn take_turn(&self, request: Option<Arc<OpenRequest>>) -> Option<Place> {
        let (sender, turn) = oneshot::channel();
        let waiting = Waiting { request, bytes: 0, is_new: false, turn: Turn::GoOn(sender) };
        self.admission.state.lock().callers.queue(&self.caller, waiting);
        while self.admission.begin_next() {}
        turn.await.ok()
    }

    /// Takes a place beyond the limit, for work that continues and cannot be made to wait.
    pub(crate) fn take_place_at_once(&self) -> Place {
        let mut state = self.admission.state.lock();
        state.callers.change(&self.caller, |share| share.running += 1);
        state.running += 1;
        Place { admission: Arc::clone(&self.admission), caller: Arc::clone(&self.caller) }
    }
}

impl Drop for Resting {
    fn drop(&mut self) {
        let mut state = self.admission.state.lock();
        state.resting -= 1;
        state.callers.change(&self.caller, |share| share.resting -= 1);
    }
}
