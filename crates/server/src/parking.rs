//! Processes that wait for an answer which only another request can bring.
//!
//! In the stateless era a script that asks cannot be kept on its request: the request is answered with what is asked,
//! and an unguessable resume token. The same caller who comes back with that token, the same call and the answers goes on
//! with the very same process. A token that is unknown, that belongs to another caller or to another call is refused alike,
//! and a refusal changes nothing for whoever the token belongs to. A process for which nobody can come any more is ended.

use crate::caller::Caller;
use crate::slot::{Current, Occupant, Slot};
use mcp_bash_budget::{Charge, tree_bytes};
use mcp_bash_wire::{Object, Raw, RawBuf, RpcError};
use parking_lot::Mutex;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// How long a client may take to come back.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// More processes than these do not wait at once. The oldest of the caller that has the most is ended.
const MOST: usize = 256;

/// How many bytes of results wait for those who come late. The oldest of the caller that has the most go first.
const MOST_RESULT_BYTES: usize = 64 * 1024 * 1024;

/// What was asked, by the token that resumes it.
#[derive(Default)]
pub(crate) struct Parking(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    by_token: HashMap<String, Parked>,
    /// Whether a task waits for the next one to expire.
    is_swept: bool,
}

/// One request that is to be continued.
pub(crate) struct Parked {
    pub(crate) caller: Arc<Caller>,
    pub(crate) slot: Slot,
    pub(crate) subject: Subject,
    /// What is asked for: the name of the answer, and the whole of the question.
    pub(crate) key: &'static str,
    pub(crate) request: String,
    pub(crate) stage: ParkedStage,
    pub(crate) since: Instant,
    /// What the question costs, and then the result.
    pub(crate) held: Charge,
}

/// How far a parked process is.
pub(crate) enum ParkedStage {
    /// It waits for the answer.
    Waiting(oneshot::Sender<RawBuf>),
    /// It did not wait any longer and has ended: with the members of a result, or an error.
    Finished(Result<String, RpcError>),
}

/// Arguments that would take more memory than this as a tree of values are compared as they are written.
const MOST_TREE_BYTES: usize = 16 * 1024 * 1024;

/// What a call is about: a digest of its tool and its arguments, however those are spelled. It must be the same when the
/// call is continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Subject([u8; 32]);

impl Subject {
    /// `arguments` is the text of a JSON object.
    pub(crate) fn new(tool: &str, arguments: &str) -> Self {
        let is_short = tree_bytes(arguments) <= MOST_TREE_BYTES;
        let value = is_short.then(|| serde_json::from_str::<Value>(arguments));
        let arguments = match value {
            Some(Ok(mut value)) => {
                value.sort_all_objects();
                value.to_string()
            }
            // A number beyond all floats, say, or too many values to look at: then its spelling counts.
            Some(Err(_)) | None => arguments.to_owned(),
        };
        let mut digest = Sha256::new();
        digest.update(tool.len().to_le_bytes());
        digest.update(tool);
        digest.update(arguments);
        Self(digest.finalize().into())
    }
}

/// What becomes of a request that shows the token of a parked process.
pub(crate) enum Resumed {
    /// The process goes on, and will answer it.
    GoesOn,
    /// The process has ended meanwhile, with this result or error.
    Finished(Result<String, RpcError>),
    /// The answer was not among those that came. The question is parked under the fresh token.
    AskAgain { key: &'static str, request: String },
}

impl Parking {
    /// How many wait for their client to come back.
    pub(crate) fn count(&self) -> usize {
        self.0.lock().by_token.len()
    }

    /// Parks a process under a token. To be called within the runtime.
    pub(crate) fn park(&self, token: String, parked: Parked) {
        let mut state = self.0.lock();
        state.expire(Instant::now());
        if state.by_token.len() >= MOST {
            state.make_room(|_| 1);
        }
        parked.slot.send_replace(Occupant::Awaited);
        state.by_token.insert(token, parked);
        if !std::mem::replace(&mut state.is_swept, true) {
            tokio::spawn(sweep(Arc::downgrade(&self.0)));
        }
    }

    /// What the call is about that the token resumes, if it belongs to `caller`.
    pub(crate) fn subject(&self, token: &str, caller: &Arc<Caller>) -> Option<Subject> {
        let state = self.0.lock();
        let parked = state.by_token.get(token)?;
        let may_resume = !parked.is_expired(Instant::now()) && Arc::ptr_eq(&parked.caller, caller);
        may_resume.then_some(parked.subject)
    }

    /// Lets `request` take the place of the one that was answered with the token, which is good only once. None where
    /// the token is unknown. Everything happens before anybody else can know that the token is gone.
    pub(crate) fn resume(
        &self,
        token: &str,
        responses: Option<Raw<'_>>,
        fresh_token: String,
        request: &Arc<Current>,
    ) -> Option<Resumed> {
        let mut state = self.0.lock();
        state.expire(Instant::now());
        let parked = state.by_token.remove(token)?;
        let waiting = match parked.stage {
            ParkedStage::Finished(outcome) => return Some(Resumed::Finished(outcome)),
            ParkedStage::Waiting(waiting) => waiting,
        };
        let read = |responses| Object::read(responses, "inputResponses", &[parked.key]).ok()?.get(parked.key);
        let response = responses.and_then(read);
        if response.is_none() && !waiting.is_closed() {
            let (key, request) = (parked.key, parked.request.clone());
            state.by_token.insert(fresh_token, Parked { stage: ParkedStage::Waiting(waiting), ..parked });
            return Some(Resumed::AskAgain { key, request });
        }
        parked.slot.send_replace(Occupant::Request(Arc::clone(request)));
        // One that does not wait any longer goes on all the same, and answers in the end.
        if let Some(response) = response {
            let _ = waiting.send(response.into());
        }
        Some(Resumed::GoesOn)
    }

    /// The process of a slot has ended with this outcome, which is given back if the process is not parked.
    pub(crate) fn finish(
        &self,
        slot: &Slot,
        outcome: Result<String, RpcError>,
    ) -> Option<Result<String, RpcError>> {
        let mut state = self.0.lock();
        let Some(parked) = state.by_token.values_mut().find(|parked| Arc::ptr_eq(&parked.slot, slot)) else {
            return Some(outcome);
        };
        parked.stage = ParkedStage::Finished(outcome);
        // Nobody is asked any more. The result has a limit of its own, so that it is kept in any case.
        parked.request = String::new();
        parked.held.set(parked.result_bytes());
        while state.by_token.values().map(Parked::result_bytes).sum::<usize>() > MOST_RESULT_BYTES {
            state.make_room(Parked::result_bytes);
        }
        None
    }

    /// Nobody has heard of this token, and nobody will come.
    pub(crate) fn abandon(&self, token: &str) {
        if let Some(parked) = self.0.lock().by_token.remove(token) {
            parked.abandon();
        }
    }
}

impl State {
    /// Ends those that nobody may come for any more.
    fn expire(&mut self, now: Instant) {
        for (_, parked) in self.by_token.extract_if(|_, parked| parked.is_expired(now)) {
            parked.abandon();
        }
    }

    /// Ends what has expired, and says when the next one does.
    fn sweep(&mut self) -> Option<Instant> {
        self.expire(Instant::now());
        let oldest = self.by_token.values().map(|parked| parked.since).min();
        self.is_swept = oldest.is_some();
        oldest.map(|since| since + PATIENCE)
    }

    /// Ends the oldest of the caller to whom the most belongs, by the measure of `size`. What has no size stays.
    fn make_room(&mut self, size: impl Fn(&Parked) -> usize) {
        let mut by_caller: HashMap<*const Caller, usize> = HashMap::new();
        for parked in self.by_token.values() {
            *by_caller.entry(Arc::as_ptr(&parked.caller)).or_default() += size(parked);
        }
        let Some((largest, _)) = by_caller.into_iter().max_by_key(|(_, size)| *size) else { return };
        let of_largest = |parked: &Parked| Arc::as_ptr(&parked.caller) == largest && size(parked) > 0;
        let candidates = self.by_token.iter().filter(|(_, parked)| of_largest(parked));
        let oldest = candidates.min_by_key(|(_, parked)| parked.since).map(|(token, _)| token.clone());
        if let Some(parked) = oldest.and_then(|token| self.by_token.remove(&token)) {
            parked.abandon();
        }
    }
}

impl Parked {
    fn is_expired(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) >= PATIENCE
    }

    /// Tells the work that it works for nobody: what it runs ends as if the client had cancelled it.
    fn abandon(self) {
        self.slot.send_replace(Occupant::Nobody);
    }

    /// What is kept for whoever comes late.
    fn result_bytes(&self) -> usize {
        match &self.stage {
            ParkedStage::Finished(Ok(members)) => members.len(),
            ParkedStage::Finished(Err(error)) => {
                error.message.len() + error.data.as_ref().map_or(0, String::len)
            }
            ParkedStage::Waiting(_) => 0,
        }
    }
}

/// Ends what expires, for as long as anything is parked.
async fn sweep(state: Weak<Mutex<State>>) {
    while let Some(next) = state.upgrade().and_then(|state| state.lock().sweep()) {
        tokio::time::sleep_until(next).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::test_caller;
    use mcp_bash_budget::Budget;
    use tokio::sync::watch;
    use tokio::time::{advance, sleep};

    fn park(parking: &Parking, token: &str, caller: &Arc<Caller>) -> (Slot, oneshot::Receiver<RawBuf>) {
        let slot: Slot = Arc::new(watch::Sender::new(Occupant::Nobody));
        let (sender, answer) = oneshot::channel();
        let parked = Parked {
            caller: Arc::clone(caller),
            slot: Arc::clone(&slot),
            subject: Subject::new("tool", "{}"),
            key: "question",
            request: String::new(),
            stage: ParkedStage::Waiting(sender),
            since: Instant::now(),
            held: Charge::nothing(&Budget::new(0, "NOTHING")),
        };
        parking.park(token.to_owned(), parked);
        (slot, answer)
    }

    fn is_ended(slot: &Slot) -> bool {
        matches!(*slot.borrow(), Occupant::Nobody)
    }

    #[test]
    fn a_subject_is_the_same_however_it_is_spelled() {
        let subject = Subject::new("t", r#"{"a": 1, "b": {"x": [1, 2], "y": null}}"#);
        assert_eq!(subject, Subject::new("t", r#"{"b":{"y":null,"x":[1,2]},"\u0061":1}"#));
        for (tool, arguments) in
            [("u", r#"{"a":1,"b":{"x":[1,2],"y":null}}"#), ("t", r#"{"a":1}"#), ("t", "{}")]
        {
            assert_ne!(subject, Subject::new(tool, arguments));
        }
        assert_ne!(Subject::new("t", r#"{"a":1e999}"#), Subject::new("t", r#"{"a":2e999}"#));
    }

    #[tokio::test(start_paused = true)]
    async fn what_expires_is_ended_without_anybody_asking() {
        let (parking, caller) = (Parking::default(), test_caller("a"));
        let (early, _answer) = park(&parking, "early", &caller);
        sleep(Duration::from_secs(1)).await;
        let (late, _answer) = park(&parking, "late", &caller);
        sleep(PATIENCE.mul_f64(0.99)).await;
        assert!(!is_ended(&early), "too early");
        sleep(Duration::from_millis(5500)).await;
        assert!(is_ended(&early) && !is_ended(&late));
        assert!(parking.subject("early", &caller).is_none() && parking.subject("late", &caller).is_some());
        sleep(Duration::from_secs(1)).await;
        assert!(is_ended(&late));
    }

    #[tokio::test(start_paused = true)]
    async fn the_caller_that_parks_the_most_makes_room() {
        let (parking, modest, greedy) = (Parking::default(), test_caller("modest"), test_caller("greedy"));
        let (first, _answer) = park(&parking, "first", &modest);
        let mut others = Vec::new();
        for number in 0..MOST {
            advance(Duration::from_millis(1)).await;
            others.push(park(&parking, &number.to_string(), &greedy));
        }
        assert!(!is_ended(&first), "the oldest of all, but of a caller that has no other");
        assert!(is_ended(&others[0].0), "there is no room for it");
        assert!(others[1..].iter().all(|(slot, _)| !is_ended(slot)));
    }

    #[tokio::test]
    async fn another_caller_learns_nothing_of_a_token() {
        let (parking, caller) = (Parking::default(), test_caller("a"));
        let (slot, _answer) = park(&parking, "token", &caller);
        assert!(parking.subject("token", &test_caller("a")).is_none(), "of the same name, but another");
        assert!(parking.subject("token", &caller).is_some() && !is_ended(&slot));
    }

    #[tokio::test(start_paused = true)]
    async fn results_that_nobody_comes_for_have_a_limit() {
        let (parking, caller) = (Parking::default(), test_caller("a"));
        let mut slots = Vec::new();
        for number in 0..3 {
            slots.push(park(&parking, &number.to_string(), &caller).0);
            advance(Duration::from_secs(1)).await;
        }
        for slot in &slots {
            assert!(parking.finish(slot, Ok("x".repeat(MOST_RESULT_BYTES / 2))).is_none());
        }
        assert!(parking.subject("0", &caller).is_none(), "the oldest has made room");
        assert!(parking.subject("1", &caller).is_some() && parking.subject("2", &caller).is_some());
    }
}
