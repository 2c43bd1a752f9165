//! Requests in flight: requests that have arrived and are not answered yet.

use super::open_request::{OpenRequest, Pace};
use super::responder::Responder;
use crate::replies::{RenderedResult, Stream as _};
use mcp_bash_wire::{Id, RpcError};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct InFlight {
    state: Mutex<InFlightState>,
    /// Notified when the last handler has finished.
    idle: Notify,
}

#[derive(Default)]
struct InFlightState {
    /// Requests that are neither answered nor cancelled.
    requests: HashMap<Id, Arc<OpenRequest>>,
    /// Requests whose handlers still run, including cancelled ones.
    working: usize,
    /// Whether a task waits until all handlers have finished.
    is_awaited: bool,
}

impl InFlight {
    /// Adds a request. `None` if its id is still in flight.
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

    /// Cancels the request with this id, unless it is already answered or cancelled. Its handler may still run.
    pub(crate) fn cancel(&self, id: &Id) -> Option<Arc<OpenRequest>> {
        let request = self.state.lock().requests.remove(id)?;
        request.cancel().then_some(request)
    }

    /// Cancels all requests, and returns those that were neither answered nor cancelled before.
    pub(crate) fn cancel_all(&self) -> Vec<Arc<OpenRequest>> {
        let requests = std::mem::take(&mut self.state.lock().requests);
        requests.into_values().filter(|request| request.cancel()).collect()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.state.lock().working == 0
    }

    /// Completes when all handlers have finished. Cancel-safe; only one task may wait at a time.
    pub(crate) async fn idle(&self) {
        loop {
            {
                let mut state = self.state.lock();
                if state.working == 0 {
                    return;
                }
                state.is_awaited = true;
            }
            // A notification between the check and the wait is not lost.
            self.idle.notified().await;
        }
    }
}

/// A request whose handler runs as long as this value lives. If it is dropped unanswered, the client receives an error, so
/// every request is answered even if its handler panics.
pub(crate) struct InFlightRequest {
    request: Arc<OpenRequest>,
    in_flight: Arc<InFlight>,
}

impl InFlightRequest {
    pub(crate) fn request(&self) -> &Arc<OpenRequest> {
        &self.request
    }

    /// Answers the request. False if it was cancelled or answered before.
    pub(crate) fn answer(&self, answer: Result<RenderedResult, RpcError>) -> bool {
        let mut state = self.in_flight.state.lock();
        if state.requests.get(self.request.id()).is_some_and(|known| Arc::ptr_eq(known, &self.request)) {
            state.requests.remove(self.request.id());
        }
        // Queued while the table is locked: a client that has read the response may reuse the id, and a cancellation either
        // finds the request here or comes after its response.
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

#[cfg(test)]
mod tests {
    use crate::replies::shape::RenderedResult;
    use crate::test_kit::{Requests, all_said, id};
    use mcp_bash_wire::RpcError;
    use std::time::Duration;
    use tokio::time::timeout;

    #[test]
    fn an_id_is_taken_until_its_request_is_answered() {
        let requests = Requests::of("a");
        let (first, mut reply) = requests.begin(1).unwrap();
        assert!(requests.begin(1).is_none() && requests.begin(2).is_some());
        assert!(first.answer(Ok("\"x\":1".to_owned().into())));
        assert!(!first.answer(Err(RpcError::internal("twice"))), "it is answered");
        assert!(requests.begin(1).is_some(), "free from the answer on, though its work goes on");
        assert_eq!(all_said(&mut reply), [r#"={"jsonrpc":"2.0","id":1,"result":{"x":1}}"#]);
    }

    #[test]
    fn a_request_that_is_dropped_is_answered_all_the_same() {
        let requests = Requests::of("a");
        let (dropped, mut reply) = requests.begin(1).unwrap();
        drop(dropped);
        let said = all_said(&mut reply);
        assert!(said.len() == 1 && said[0].contains("ended without an answer"), "{said:?}");
    }

    #[test]
    fn a_cancelled_request_ends_its_reply_and_is_never_answered() {
        let requests = Requests::of("a");
        let (cancelled, mut reply) = requests.begin(1).unwrap();
        assert!(requests.in_flight.cancel(&id(7)).is_none(), "nobody has this id");
        assert!(requests.in_flight.cancel(&id(1)).is_some());
        assert!(requests.in_flight.cancel(&id(1)).is_none(), "only once");
        assert!(cancelled.request().is_cancelled() && !cancelled.answer(Ok(RenderedResult::default())));
        drop(cancelled);
        assert_eq!(all_said(&mut reply), ["end"]);
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_idle_when_the_last_work_has_ended() {
        let requests = Requests::of("a");
        let (answered, _reply) = requests.begin(1).unwrap();
        let (cancelled, _reply) = requests.begin(2).unwrap();
        answered.answer(Ok(RenderedResult::default()));
        requests.in_flight.cancel_all();
        let idle = || timeout(Duration::from_secs(60), requests.in_flight.idle());
        assert!(idle().await.is_err(), "both still work");
        drop(answered);
        let (woken, ()) = tokio::join!(idle(), async { drop(cancelled) });
        assert!(woken.is_ok() && requests.in_flight.is_idle());
    }
}
