//! What we owe: the requests that have arrived and are not answered yet.

use crate::answers::Answers;
use crate::call::{Call, Pace};
use mcp_bash_wire::{Id, RpcError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct InFlight {
    state: Mutex<State>,
    /// The last work has ended.
    idle: Notify,
}

#[derive(Default)]
struct State {
    /// Requests that are neither answered nor cancelled.
    calls: HashMap<Id, Arc<Call>>,
    /// How many of all requests still have work going on, the cancelled ones included.
    working: usize,
    /// Somebody waits for the last of it.
    is_awaited: bool,
}

impl InFlight {
    /// Enters a request. `None` when one with its id is still in flight.
    pub(crate) fn begin(self: &Arc<Self>, id: &Id, answers: Answers, pace: Pace) -> Option<InFlightCall> {
        let mut state = self.lock();
        if state.calls.contains_key(id) {
            return None;
        }
        let call = Arc::new(Call::new(id.clone(), answers, pace));
        state.calls.insert(id.clone(), Arc::clone(&call));
        state.working += 1;
        Some(InFlightCall { call, in_flight: Arc::clone(self) })
    }

    /// Whether a request with that id is in flight.
    pub(crate) fn contains(&self, id: &Id) -> bool {
        self.lock().calls.contains_key(id)
    }

    /// Cancels the request with that id, if there is one that is not decided yet. Its work has still to end.
    pub(crate) fn cancel(&self, id: &Id) -> Option<Arc<Call>> {
        let call = self.lock().calls.remove(id)?;
        call.cancel().then_some(call)
    }

    pub(crate) fn cancel_all(&self) {
        let calls = std::mem::take(&mut self.lock().calls);
        for call in calls.into_values() {
            call.cancel();
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.lock().working == 0
    }

    /// Completes when all work has ended. Safe to drop half-way; only one may wait at a time.
    pub(crate) async fn idle(&self) {
        loop {
            {
                let mut state = self.lock();
                if state.working == 0 {
                    return;
                }
                state.is_awaited = true;
            }
            // One that comes between the look and the wait is kept.
            self.idle.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request whose work goes on as long as this value lives. Dropped without an answer it is answered with an error,
/// so that whatever happens to its handler, its client hears of it.
pub(crate) struct InFlightCall {
    call: Arc<Call>,
    in_flight: Arc<InFlight>,
}

impl InFlightCall {
    pub(crate) fn call(&self) -> &Arc<Call> {
        &self.call
    }

    /// Answers the request. False when it was cancelled or has an answer.
    pub(crate) fn answer(&self, answer: Result<String, RpcError>) -> bool {
        let mut state = self.in_flight.lock();
        if state.calls.get(self.call.id()).is_some_and(|call| Arc::ptr_eq(call, &self.call)) {
            state.calls.remove(self.call.id());
        }
        // Queued while the table is locked: whoever has read the answer may use its id again, and whoever cancels
        // either finds the request here and stops it, or comes after its answer.
        let is_answered = self.call.answer(answer);
        drop(state);
        self.call.flush();
        is_answered
    }
}

impl Drop for InFlightCall {
    fn drop(&mut self) {
        self.answer(Err(RpcError::internal("Internal error: the request ended without an answer")));
        let mut state = self.in_flight.lock();
        state.working -= 1;
        if state.working == 0 && state.is_awaited {
            self.in_flight.idle.notify_one();
        }
    }
}
