//! Parking: keeps processes that wait for answers which only another request can bring.
//!
//! In the stateless era a request cannot stay open while its script asks: its response carries the questions and a sealed state
//! (`request_state`). When the same caller retries the same call with that state and the answers, the same process continues.
//! Each state can be used once. A process whose client does not come back in time is terminated. If its author allows replay, a
//! later request with the state runs the script again.

mod limits;
mod parked;
mod responses;
#[cfg(test)]
mod tests;

pub(crate) use limits::ParkingLimits;
pub(crate) use parked::{InputRequired, Parked, ParkedStage, PendingQuestion};
pub(crate) use responses::is_answer;

use super::request_state::{KeyRing, RequestState, Round, StateId, Unacceptable};
use super::slot::{Current, Occupant, Slot};
use crate::callers::{Holdings, Ticket};
use crate::replies::RenderedResult;
use crate::stores::Store;
use mcp_bash_wire::{Raw, RpcError};
use parking_lot::Mutex;
use responses::{answered, fill};
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::Instant;

/// The most bytes of results kept for late clients. Beyond it, the oldest result of the caller with the most is dropped.
const MOST_RESULT_BYTES: usize = 64 * 1024 * 1024;

/// Parked requests, by the state that continues them.
pub(crate) struct Parking {
    limits: ParkingLimits,
    /// Remembers used states, so that no script is run twice with one.
    store: Arc<Store>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    by_id: HashMap<StateId, Entered>,
    /// By the address of their slots.
    by_slot: HashMap<usize, StateId>,
    /// All of them, limited in number.
    ages: Holdings<StateId>,
    /// Those that have finished, limited by the bytes of their results.
    results: Holdings<StateId>,
    timeout: Duration,
    /// Whether a sweep task runs.
    is_swept: bool,
}

/// A parked request, and its tickets in the two tables.
struct Entered {
    parked: Parked,
    age: Ticket,
    result: Option<Ticket>,
}

/// The outcome of a request with a state.
pub(crate) enum Resumed {
    /// The process continues, and will answer the request.
    GoesOn,
    /// The process has finished meanwhile, with this result or error.
    Finished(Current, Result<RenderedResult, RpcError>),
    /// Some answers are missing, so their questions are asked again.
    AskAgain(Current, InputRequired),
    /// The process is gone. Its script runs again, with these answers.
    RunAgain(Current, Vec<Round>),
    Refused(Current, Unacceptable),
    /// The store cannot tell whether the state was used. The client may try again with the same state.
    Unchecked(Current),
}

impl Parking {
    pub(crate) fn new(limits: ParkingLimits, store: Arc<Store>) -> Self {
        let state = State { timeout: limits.timeout, ..State::default() };
        Self { limits, store, state: Arc::new(Mutex::new(state)) }
    }

    /// The number of parked requests.
    pub(crate) fn count(&self) -> usize {
        self.state.lock().by_id.len()
    }

    /// How long a parked process waits for its client.
    pub(crate) fn timeout(&self) -> Duration {
        self.limits.timeout
    }

    /// Parks a process. `None` only if the system has no random numbers. Must be called inside the runtime.
    pub(crate) fn park(&self, parked: Parked, keys: &KeyRing) -> Option<InputRequired> {
        let (id, asked) = parked.ask(keys, self.limits)?;
        let mut state = self.state.lock();
        state.expire(Instant::now());
        if state.ages.count_of(&parked.caller) >= self.limits.most_per_caller {
            let oldest = state.ages.oldest_of(&parked.caller);
            state.end(oldest);
        } else if state.ages.count() >= self.limits.most {
            let oldest = state.ages.oldest_of_greediest();
            state.end(oldest);
        }
        parked.slot.send_replace(Occupant::Awaited);
        state.enter(id, parked);
        if !std::mem::replace(&mut state.is_swept, true) {
            tokio::spawn(sweep(Arc::downgrade(&self.state)));
        }
        Some(asked)
    }

    /// Continues with `request` the request that was answered with the state `shown`. Each state can be used once. Waits only
    /// if several servers share the used states.
    pub(crate) async fn resume(
        &self,
        shown: RequestState,
        responses: Option<Raw<'_>>,
        request: Current,
        keys: &KeyRing,
    ) -> Resumed {
        if shown.rounds.is_some() {
            match self.store.use_once(shown.id, shown.expires()).await {
                Ok(true) => {}
                Ok(false) => return Resumed::Refused(request, Unacceptable::Used),
                Err(_) => return Resumed::Unchecked(request),
            }
        }
        let mut state = self.state.lock();
        state.expire(Instant::now());
        let Some(mut parked) = state.take(&shown.id) else {
            return match shown.rounds {
                Some(rounds) => Resumed::RunAgain(request, answered(rounds, responses)),
                None => Resumed::Refused(request, Unacceptable::Gone),
            };
        };
        let waiting = match parked.stage {
            ParkedStage::Finished(outcome) => return Resumed::Finished(request, outcome),
            ParkedStage::Waiting(waiting) => waiting,
        };
        if let Some(responses) = responses {
            fill(&mut parked.questions, responses);
        }
        let is_answered = parked.questions.iter().all(|question| question.answer.is_some());
        // If the process no longer waits for answers, it continues anyway, and answers in the end.
        if is_answered || waiting.is_closed() {
            parked.slot.send_replace(Occupant::Request(Arc::new(request)));
            let _ = waiting.send(parked.questions);
            return Resumed::GoesOn;
        }
        let parked = Parked { stage: ParkedStage::Waiting(waiting), since: Instant::now(), ..parked };
        let Some((id, asked)) = parked.ask(keys, self.limits) else {
            parked.abandon();
            return Resumed::Refused(request, Unacceptable::Gone);
        };
        state.enter(id, parked);
        Resumed::AskAgain(request, asked)
    }

    /// Marks a state as unused again, so that the client can retry with it.
    pub(crate) async fn give_back(&self, id: StateId, expires: u64) {
        self.store.give_back(id, expires).await;
    }

    /// Stores the outcome of a parked process. Returns the outcome if the process is not parked.
    pub(crate) fn finish(
        &self,
        slot: &Slot,
        outcome: Result<RenderedResult, RpcError>,
    ) -> Option<Result<RenderedResult, RpcError>> {
        let mut state = self.state.lock();
        let Some(id) = state.by_slot.get(&slot_key(slot)).copied() else { return Some(outcome) };
        let Some(mut parked) = state.take(&id) else { return Some(outcome) };
        parked.stage = ParkedStage::Finished(outcome);
        // The questions are not needed any more. The result has a limit of its own, so it is kept without a check.
        parked.questions = Vec::new();
        parked.earlier = None;
        parked.held.set(parked.result_bytes());
        state.enter(id, parked);
        while state.results.size() > MOST_RESULT_BYTES {
            let oldest = state.results.oldest_of_greediest().and_then(|oldest| state.results.get(oldest));
            let Some(id) = oldest.copied() else { break };
            state.abandon(&id);
        }
        None
    }

    /// Drops a state that no client has received.
    pub(crate) fn abandon(&self, id: &StateId) {
        self.state.lock().abandon(id);
    }
}

impl State {
    fn enter(&mut self, id: StateId, parked: Parked) {
        let age = self.ages.add(&parked.caller, parked.since, 1, id);
        let bytes = parked.result_bytes();
        let result = (bytes > 0).then(|| self.results.add(&parked.caller, parked.since, bytes, id));
        self.by_slot.insert(slot_key(&parked.slot), id);
        self.by_id.insert(id, Entered { parked, age, result });
    }

    fn take(&mut self, id: &StateId) -> Option<Parked> {
        let Entered { parked, age, result } = self.by_id.remove(id)?;
        self.ages.remove(age);
        if let Some(result) = result {
            self.results.remove(result);
        }
        self.by_slot.remove(&slot_key(&parked.slot));
        Some(parked)
    }

    fn abandon(&mut self, id: &StateId) {
        if let Some(parked) = self.take(id) {
            parked.abandon();
        }
    }

    /// Terminates the process with this ticket.
    fn end(&mut self, age: Option<Ticket>) {
        if let Some(id) = age.and_then(|age| self.ages.get(age)).copied() {
            self.abandon(&id);
        }
    }

    /// Terminates expired processes.
    fn expire(&mut self, now: Instant) {
        let timeout = self.timeout;
        let is_expired = |oldest: &Ticket| now.saturating_duration_since(oldest.since()) >= timeout;
        while let Some(oldest) = self.ages.oldest().filter(is_expired) {
            self.end(Some(oldest));
        }
    }

    /// Terminates expired processes, and returns the time of the next expiry.
    fn sweep(&mut self) -> Option<Instant> {
        self.expire(Instant::now());
        let oldest = self.ages.oldest();
        self.is_swept = oldest.is_some();
        oldest.map(|oldest| oldest.since() + self.timeout)
    }
}

/// The address of a slot, unique while the slot is held.
fn slot_key(slot: &Slot) -> usize {
    Arc::as_ptr(slot).addr()
}

/// Terminates processes as they expire, as long as any is parked.
async fn sweep(state: Weak<Mutex<State>>) {
    while let Some(next) = state.upgrade().and_then(|state| state.lock().sweep()) {
        tokio::time::sleep_until(next).await;
    }
}
