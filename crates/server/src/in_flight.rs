//! What we owe: the requests that have arrived and are not answered yet.

use crate::answers::Answers;
use crate::call::{Call, Pace};
use mcp_bash_wire::{Id, RpcError};
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

#[derive(Default)]
pub(crate) struct InFlight {
    calls: Mutex<HashMap<Id, Arc<Call>>>,
    emptied: Condvar,
}

impl InFlight {
    /// Enters a request. `None` when one with its id is still in flight.
    pub(crate) fn begin(self: &Arc<Self>, id: &Id, answers: Answers, pace: Pace) -> Option<InFlightCall> {
        let mut calls = self.lock();
        if calls.contains_key(id) {
            return None;
        }
        let call = Arc::new(Call::new(id.clone(), answers, pace));
        calls.insert(id.clone(), Arc::clone(&call));
        Some(InFlightCall { call, in_flight: Arc::clone(self) })
    }

    /// Cancels the request with that id, if there is one that is not decided yet. It stays in flight until its work
    /// has ended, but nothing is sent for it any more.
    pub(crate) fn cancel(&self, id: &Id) -> Option<Arc<Call>> {
        let call = self.lock().get(id).cloned()?;
        call.cancel().then_some(call)
    }

    pub(crate) fn cancel_all(&self) {
        let calls: Vec<_> = self.lock().values().cloned().collect();
        for call in calls {
            call.cancel();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Blocks until nothing is in flight, or until the deadline. True when nothing is.
    pub(crate) fn wait_until_empty(&self, deadline: Option<Instant>) -> bool {
        let mut calls = self.lock();
        while !calls.is_empty() {
            calls = match deadline {
                None => self.emptied.wait(calls).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    self.emptied.wait_timeout(calls, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Id, Arc<Call>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that stays in flight as long as this value lives. Dropped without an answer it is answered with an
/// error, so that whatever happens to its handler, its client hears of it.
pub(crate) struct InFlightCall {
    call: Arc<Call>,
    in_flight: Arc<InFlight>,
}

impl InFlightCall {
    pub(crate) fn call(&self) -> &Arc<Call> {
        &self.call
    }
}

impl Drop for InFlightCall {
    fn drop(&mut self) {
        self.call.answer(Err(RpcError::internal("Internal error: the request ended without an answer")));
        let mut calls = self.in_flight.lock();
        calls.remove(self.call.id());
        if calls.is_empty() {
            self.in_flight.emptied.notify_all();
        }
    }
}
