//! Processes that wait for answers which only another request can bring.
//!
//! In the stateless era a script that asks cannot be kept on its request: the request is answered with what is asked, and
//! a sealed state (`request_state`). The same caller who comes back with that state, the same call and the answers goes on
//! with the very same process. A state is good once. A process for which nobody can come any more is ended; where its
//! author allows it, whoever comes then has the script run again.

use super::request_state::{
    Digest, Entry, KeyRing, MOST_ANSWER_BYTES, Origin, RequestState, Round, StateId, Unacceptable, now,
};
use super::slot::{Current, Occupant, Slot};
use crate::callers::{Caller, Holdings, Ticket};
use crate::replies::{RenderedResult, shape};
use mcp_bash_budget::Charge;
use mcp_bash_wire::{Object, Raw, RawBuf, RpcError};
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// How many bytes of results wait for those who come late. The oldest of the caller that has the most go first.
const MOST_RESULT_BYTES: usize = 64 * 1024 * 1024;

/// How many states are remembered to have been used.
const MOST_USED: usize = 64 * 1024;

/// How many processes wait, and for how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ParkingLimits {
    /// Beyond these, the oldest of the caller that has the most is ended.
    pub(crate) most: usize,
    /// Beyond these, the oldest of the same caller is ended.
    pub(crate) most_per_caller: usize,
    /// How long a client may take to come back to its process.
    pub(crate) patience: Duration,
    /// How long it may take to come back to a script that may be run again.
    pub(crate) replay_patience: Duration,
}

/// What was asked, by the state that continues it.
pub(crate) struct Parking {
    limits: ParkingLimits,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    by_id: HashMap<StateId, Entered>,
    /// By the addresses of their slots.
    by_slot: HashMap<usize, StateId>,
    /// All of them, by number.
    ages: Holdings<StateId>,
    /// Those that have ended, by the bytes of their results.
    results: Holdings<StateId>,
    used: UsedStates,
    patience: Duration,
    /// Whether a task waits for the next one to expire.
    is_swept: bool,
}

/// One that is parked, and where it stands among the others.
struct Entered {
    parked: Parked,
    age: Ticket,
    result: Option<Ticket>,
}

/// One request that is to be continued.
pub(crate) struct Parked {
    pub(crate) caller: Arc<Caller>,
    pub(crate) origin: Origin,
    pub(crate) slot: Slot,
    pub(crate) questions: Vec<PendingQuestion>,
    /// What was asked and answered before, where the script may be run again.
    pub(crate) earlier: Option<Vec<Round>>,
    pub(crate) stage: ParkedStage,
    pub(crate) since: Instant,
    /// What the questions cost, and then the result.
    pub(crate) held: Charge,
}

/// One of the questions that are asked at once.
#[derive(Debug, Clone)]
pub(crate) struct PendingQuestion {
    pub(crate) key: Box<str>,
    pub(crate) method: &'static str,
    /// The text of a JSON object: method and params.
    pub(crate) request: String,
    pub(crate) digest: Digest,
    pub(crate) answer: Option<RawBuf>,
}

/// How far a parked process is.
pub(crate) enum ParkedStage {
    /// It waits for the answers, one for each question.
    Waiting(oneshot::Sender<Vec<PendingQuestion>>),
    /// It did not wait any longer and has ended: with a result, or an error.
    Finished(Result<RenderedResult, RpcError>),
}

/// What a client is told that has to come back.
pub(crate) struct Asked {
    pub(crate) id: StateId,
    /// The members of a result.
    pub(crate) members: String,
}

/// What becomes of a request that shows a state.
pub(crate) enum Resumed {
    /// The process goes on, and will answer it.
    GoesOn,
    /// The process has ended meanwhile, with this result or error.
    Finished(Current, Result<RenderedResult, RpcError>),
    /// Not all answers were among those that came. The rest is asked for once more.
    AskAgain(Current, Asked),
    /// The process is gone. Its script is to be run again, with these answers.
    RunAgain(Current, Vec<Round>),
    Refused(Current, Unacceptable),
}

impl Parking {
    pub(crate) fn new(limits: ParkingLimits) -> Self {
        let state = State { patience: limits.patience, ..State::default() };
        Self { limits, state: Arc::new(Mutex::new(state)) }
    }

    /// How many wait for their client to come back.
    pub(crate) fn count(&self) -> usize {
        self.state.lock().by_id.len()
    }

    /// How long a client may take to come back.
    pub(crate) fn patience(&self) -> Duration {
        self.limits.patience
    }

    /// Parks a process. None only while the system has no random numbers. To be called within the runtime.
    pub(crate) fn park(&self, parked: Parked, keys: &KeyRing) -> Option<Asked> {
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

    /// Lets `request` take the place of the one that was answered with `shown`, which is good only once. Everything
    /// happens before anybody else can know that the state is used.
    pub(crate) fn resume(
        &self,
        shown: RequestState,
        responses: Option<Raw<'_>>,
        request: Current,
        keys: &KeyRing,
    ) -> Resumed {
        let mut state = self.state.lock();
        state.expire(Instant::now());
        let is_first = shown.rounds.is_none() || state.used.add(shown.id, shown.expires());
        if !is_first {
            return Resumed::Refused(request, Unacceptable::Used);
        }
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
        // One that does not wait any longer goes on all the same, and answers in the end.
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

    /// The state was not used after all, and can be shown again.
    pub(crate) fn give_back(&self, id: StateId, expires: u64) {
        self.state.lock().used.remove(id, expires);
    }

    /// The process of a slot has ended with this outcome, which is given back if the process is not parked.
    pub(crate) fn finish(
        &self,
        slot: &Slot,
        outcome: Result<RenderedResult, RpcError>,
    ) -> Option<Result<RenderedResult, RpcError>> {
        let mut state = self.state.lock();
        let Some(id) = state.by_slot.get(&slot_key(slot)).copied() else { return Some(outcome) };
        let Some(mut parked) = state.take(&id) else { return Some(outcome) };
        parked.stage = ParkedStage::Finished(outcome);
        // Nobody is asked any more. The result has a limit of its own, so that it is kept in any case.
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

    /// Nobody has heard of this state, and nobody will come.
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

    /// Ends the one of that age.
    fn end(&mut self, age: Option<Ticket>) {
        if let Some(id) = age.and_then(|age| self.ages.get(age)).copied() {
            self.abandon(&id);
        }
    }

    /// Ends those that nobody may come for any more.
    fn expire(&mut self, now: Instant) {
        let patience = self.patience;
        let is_expired = |oldest: &Ticket| now.saturating_duration_since(oldest.since()) >= patience;
        while let Some(oldest) = self.ages.oldest().filter(is_expired) {
            self.end(Some(oldest));
        }
    }

    /// Ends what has expired, and says when the next one does.
    fn sweep(&mut self) -> Option<Instant> {
        self.expire(Instant::now());
        let oldest = self.ages.oldest();
        self.is_swept = oldest.is_some();
        oldest.map(|oldest| oldest.since() + self.patience)
    }
}

/// The address of a slot, which no other has while it is held.
fn slot_key(slot: &Slot) -> usize {
    Arc::as_ptr(slot).addr()
}

impl Parked {
    /// What its client is told, and under which id it is found again.
    fn ask(&self, keys: &KeyRing, limits: ParkingLimits) -> Option<(StateId, Asked)> {
        let this_round = || Round(self.questions.iter().map(PendingQuestion::entry).collect());
        let rounds = self.earlier.as_ref().map(|earlier| [earlier.as_slice(), &[this_round()]].concat());
        let is_short =
            |rounds: &Vec<Round>| rounds.iter().map(Round::bytes).sum::<usize>() <= MOST_ANSWER_BYTES;
        let rounds = rounds.filter(is_short);
        let may_outlive_process = rounds.is_some();
        let patience =
            if may_outlive_process { limits.replay_patience.max(limits.patience) } else { limits.patience };
        let state = RequestState::new(keys, self.origin, patience, rounds)?;
        let open = self.questions.iter().filter(|question| question.answer.is_none());
        let requests = open.map(|question| (&*question.key, question.request.as_str()));
        let members = shape::input_required(requests, &state.seal(keys)?);
        Some((state.id, Asked { id: state.id, members }))
    }

    /// Tells the work that it works for nobody: what it runs ends as if the client had cancelled it.
    fn abandon(self) {
        self.slot.send_replace(Occupant::Nobody);
    }

    /// What is kept for whoever comes late.
    fn result_bytes(&self) -> usize {
        match &self.stage {
            ParkedStage::Finished(Ok(result)) => result.members.len(),
            ParkedStage::Finished(Err(error)) => {
                error.message.len() + error.data.as_ref().map_or(0, String::len)
            }
            ParkedStage::Waiting(_) => 0,
        }
    }
}

impl PendingQuestion {
    pub(crate) fn entry(&self) -> Entry {
        let answer = self.answer.as_ref().map(|answer| answer.as_raw().text().into());
        Entry { key: self.key.clone(), question: self.digest, answer }
    }
}

/// Takes the answers that fit the questions. Others are passed over, and so is what nobody has asked.
fn fill(questions: &mut [PendingQuestion], responses: Raw<'_>) {
    for question in questions.iter_mut().filter(|question| question.answer.is_none()) {
        question.answer = response(responses, &question.key)
            .filter(|answer| is_answer(question.method, *answer))
            .map(RawBuf::from);
    }
}

fn response<'a>(responses: Raw<'a>, key: &str) -> Option<Raw<'a>> {
    Object::read(responses, "inputResponses", &[key]).ok()?.get(key)
}

/// What was asked before, with the answers that came now. Whether they fit is seen when the questions are asked.
fn answered(mut rounds: Vec<Round>, responses: Option<Raw<'_>>) -> Vec<Round> {
    let open = rounds.iter_mut().flat_map(|round| &mut round.0).filter(|entry| entry.answer.is_none());
    for entry in open {
        entry.answer = responses.and_then(|all| response(all, &entry.key)).map(|answer| answer.text().into());
    }
    rounds
}

/// Whether this can be the answer to a question of that method.
pub(crate) fn is_answer(method: &str, answer: Raw<'_>) -> bool {
    let Ok(members) = Object::read(answer, "the answer", &["action", "content", "roots"]) else {
        return false;
    };
    match method {
        "elicitation/create" => members
            .get("action")
            .and_then(Raw::string)
            .is_some_and(|action| ["accept", "decline", "cancel"].contains(&&*action)),
        "sampling/createMessage" => {
            members.get("content").is_some_and(|content| content.is_object() || content.is_array())
        }
        _ => members.get("roots").is_some_and(Raw::is_array),
    }
}

/// States that were shown, until they expire. Only those are remembered for which a script could be run twice.
#[derive(Default)]
struct UsedStates(BTreeSet<(u64, StateId)>);

impl UsedStates {
    /// False where it was used before.
    fn add(&mut self, id: StateId, expires: u64) -> bool {
        let now = now();
        while self.0.first().is_some_and(|(first, _)| *first <= now || self.0.len() >= MOST_USED) {
            self.0.pop_first();
        }
        self.0.insert((expires, id))
    }

    fn remove(&mut self, id: StateId, expires: u64) {
        self.0.remove(&(expires, id));
    }
}

/// Ends what expires, for as long as anything is parked.
async fn sweep(state: Weak<Mutex<State>>) {
    while let Some(next) = state.upgrade().and_then(|state| state.lock().sweep()) {
        tokio::time::sleep_until(next).await;
    }
}

#[cfg(test)]
mod tests;
