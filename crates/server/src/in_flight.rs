//! What we owe: the requests that have arrived and are not answered yet.

use crate::open_request::{OpenRequest, Pace};
use crate::responder::Responder;
use mcp_bash_wire::{Id, RpcError};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
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
    requests: HashMap<Id, Arc<OpenRequest>>,
    /// How many of all requests still have work going on, the cancelled ones included.
    working: usize,
    /// Somebody waits for the last of it.
    is_awaited: bool,
}

impl InFlight {
    /// Enters a request. `None` when one with its id is still in flight.
    pub(crate) fn begin(
        self: &Arc<Self>,
        id: &Id,
        responder: Responder,
        pace: Pace,
    ) -> Option<InFlightRequest> {
        let mut state = self.state.lock();
        if state.requests.contains_key(id) {
            return None;
        }
        let request = Arc::new(OpenRequest::new(id.clone(), responder, pace));
        state.requests.insert(id.clone(), Arc::clone(&request));
        state.working += 1;
        Some(InFlightRequest { request, in_flight: Arc::clone(self) })
    }

    /// Whether a request with that id is in flight.
    pub(crate) fn contains(&self, id: &Id) -> bool {
        self.state.lock().requests.contains_key(id)
    }

    /// Cancels the request with that id, if there is one that is not decided yet. Its work has still to end.
    pub(crate) fn cancel(&self, id: &Id) -> Option<Arc<OpenRequest>> {
        let request = self.state.lock().requests.remove(id)?;
        request.cancel().then_some(request)
    }

    pub(crate) fn cancel_all(&self) {
        let requests = std::mem::take(&mut self.state.lock().requests);
        for request in requests.into_values() {
            request.cancel();
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.state.lock().working == 0
    }

    /// Completes when all work has ended. Safe to drop half-way; only one may wait at a time.
    pub(crate) async fn idle(&self) {
        loop {
            {
                let mut state = self.state.lock();
                if state.working == 0 {
                    return;
                }
                state.is_awaited = true;
            }
            // One that comes between the look and the wait is kept.
            self.idle.notified().await;
        }
    }
}

/// A request whose work goes on as long as this value lives. Dropped without an answer it is answered with an error,
/// so that whatever happens to its handler, its client hears of it.
pub(crate) struct InFlightRequest {
    request: Arc<OpenRequest>,
    in_flight: Arc<InFlight>,
}

impl InFlightRequest {
    pub(crate) fn request(&self) -> &Arc<OpenRequest> {
        &self.request
    }

    /// Answers the request. False when it was cancelled or has an answer.
    pub(crate) fn answer(&self, answer: Result<String, RpcError>) -> bool {
        let mut state = self.in_flight.state.lock();
        if state.requests.get(self.request.id()).is_some_and(|known| Arc::ptr_eq(known, &self.request)) {
            state.requests.remove(self.request.id());
        }
        // Queued while the table is locked: whoever has read the answer may use its id again, and whoever cancels
        // either finds the request here and stops it, or comes after its answer.
        let is_answered = self.request.answer(answer);
        drop(state);
        self.request.flush();
        is_answered
    }
}

impl Drop for InFlightRequest {
    fn drop(&mut self) {
        self.answer(Err(RpcError::internal("Internal error: the request ended without an answer")));
        let mut state = self.in_flight.state.lock();
        state.working -= 1;
        if state.working == 0 && state.is_awaited {
            self.in_flight.idle.notify_one();
        }
    }
}
