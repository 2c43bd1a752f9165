//! Processes that wait for an answer which only another request can bring.
//!
//! In the stateless era a script that asks cannot be kept on its request: the request is answered with what is asked,
//! and an unguessable word. Who comes back with that word, with the same call and with answers, gets the very same
//! process again. A word that leads nowhere and one that is shown with another call are refused alike, and a refusal
//! changes nothing for whoever the word belongs to. A process for which nobody can come any more is ended.

use crate::work::{Current, Occupant, Slot};
use mcp_bash_budget::{Charge, tree_bytes};
use mcp_bash_wire::{Object, Raw, RawBuf, RpcError};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How long a client may take to come back.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// More processes than these do not wait at once. The oldest is ended.
const MOST: usize = 256;

/// How many bytes of results wait for those who come late. The oldest go first.
const MOST_RESULT_BYTES: usize = 64 * 1024 * 1024;

/// What was asked, by the word that leads back to it.
#[derive(Default)]
pub(crate) struct Parking(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    by_word: HashMap<String, Parked>,
    /// Whether a task waits for the next one to expire.
    is_swept: bool,
}

/// One request that is to be continued.
pub(crate) struct Parked {
    pub(crate) slot: Slot,
    pub(crate) subject: Subject,
    /// What is asked for: the name of the answer, and the whole of the question.
    pub(crate) key: &'static str,
    pub(crate) request: String,
    pub(crate) stage: Stage,
    pub(crate) since: Instant,
    /// What the question costs, and then the result.
    pub(crate) held: Charge,
}

/// How far a parked process is.
pub(crate) enum Stage {
    /// It waits for the answer.
    Waiting(oneshot::Sender<RawBuf>),
    /// It did not wait any longer, and this came of it: the members of a result, or an error.
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

/// What becomes of a request that leads back to a parked process.
pub(crate) enum Resumed {
    /// The process goes on, and will answer it.
    GoesOn,
    /// The process has ended meanwhile, and this came of it.
    Finished(Result<String, RpcError>),
    /// The answer was not among those that came. The question is parked under the fresh word.
    AskAgain { key: &'static str, request: String },
}

impl Parking {
    /// Parks a process under a word. To be called within the runtime.
    pub(crate) fn park(&self, word: String, parked: Parked) {
        let mut state = self.lock();
        state.expire(Instant::now());
        if state.by_word.len() >= MOST {
            state.end_oldest(|_| true);
        }
        parked.slot.send_replace(Occupant::Awaited);
        state.by_word.insert(word, parked);
        if !std::mem::replace(&mut state.is_swept, true) {
            tokio::spawn(sweep(Arc::downgrade(&self.0)));
        }
    }

    /// What the call is about that the word leads back to.
    pub(crate) fn subject(&self, word: &str) -> Option<Subject> {
        let state = self.lock();
        state
            .by_word
            .get(word)
            .filter(|parked| !parked.is_expired(Instant::now()))
            .map(|parked| parked.subject)
    }

    /// Lets `request` take the place of the one that was answered with the word, which is good only once. None where the
    /// word leads nowhere. Everything happens before anybody else can know that the word is gone.
    pub(crate) fn resume(
        &self,
        word: &str,
        responses: Option<Raw<'_>>,
        fresh_word: String,
        request: &Arc<Current>,
    ) -> Option<Resumed> {
        let mut state = self.lock();
        state.expire(Instant::now());
        let parked = state.by_word.remove(word)?;
        let waiting = match parked.stage {
            Stage::Finished(outcome) => return Some(Resumed::Finished(outcome)),
            Stage::Waiting(waiting) => waiting,
        };
        let read = |responses| Object::read(responses, "inputResponses", &[parked.key]).ok()?.get(parked.key);
        let response = responses.and_then(read);
        if response.is_none() && !waiting.is_closed() {
            let (key, request) = (parked.key, parked.request.clone());
            state.by_word.insert(fresh_word, Parked { stage: Stage::Waiting(waiting), ..parked });
            return Some(Resumed::AskAgain { key, request });
        }
        parked.slot.send_replace(Occupant::Request(Arc::clone(request)));
        // One that does not wait any longer goes on all the same, and answers in the end.
        if let Some(response) = response {
            let _ = waiting.send(response.into());
        }
        Some(Resumed::GoesOn)
    }

    /// The process of a slot has ended, and this came of it. Given back if it is not parked.
    pub(crate) fn finish(
        &self,
        slot: &Slot,
        outcome: Result<String, RpcError>,
    ) -> Option<Result<String, RpcError>> {
        let mut state = self.lock();
        let Some(parked) = state.by_word.values_mut().find(|parked| Arc::ptr_eq(&parked.slot, slot)) else {
            return Some(outcome);
        };
        parked.stage = Stage::Finished(outcome);
        // Nobody is asked any more. The result has a limit of its own, so that it is kept in any case.
        parked.request = String::new();
        parked.held.set(parked.result_bytes());
        while state.by_word.values().map(Parked::result_bytes).sum::<usize>() > MOST_RESULT_BYTES {
            state.end_oldest(|parked| parked.result_bytes() > 0);
        }
        None
    }

    /// Nobody has heard of this word, and nobody will come.
    pub(crate) fn abandon(&self, word: &str) {
        if let Some(parked) = self.lock().by_word.remove(word) {
            parked.abandon();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

impl State {
    /// Ends those that nobody may come for any more.
    fn expire(&mut self, now: Instant) {
        for (_, parked) in self.by_word.extract_if(|_, parked| parked.is_expired(now)) {
            parked.abandon();
        }
    }

    /// Ends what has expired, and says when the next one does.
    fn sweep(&mut self) -> Option<Instant> {
        self.expire(Instant::now());
        let oldest = self.by_word.values().map(|parked| parked.since).min();
        self.is_swept = oldest.is_some();
        oldest.map(|since| since + PATIENCE)
    }

    fn end_oldest(&mut self, among: impl Fn(&Parked) -> bool) {
        let oldest =
            self.by_word.iter().filter(|(_, parked)| among(parked)).min_by_key(|(_, parked)| parked.since);
        if let Some(word) = oldest.map(|(word, _)| word.clone())
            && let Some(parked) = self.by_word.remove(&word)
        {
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
            Stage::Finished(Ok(members)) => members.len(),
            Stage::Finished(Err(error)) => error.message.len() + error.data.as_ref().map_or(0, String::len),
            Stage::Waiting(_) => 0,
        }
    }
}

/// Ends what expires, for as long as anything is parked.
async fn sweep(state: Weak<Mutex<State>>) {
    while let Some(next) = state.upgrade().and_then(|state| lock(&state).sweep()) {
        tokio::time::sleep_until(next.into()).await;
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_bash_budget::Budget;
    use tokio::sync::watch;

    fn parked(since: Instant) -> (Parked, Slot, oneshot::Receiver<RawBuf>) {
        let slot: Slot = Arc::new(watch::Sender::new(Occupant::Nobody));
        let (sender, answer) = oneshot::channel();
        let parked = Parked {
            slot: Arc::clone(&slot),
            subject: Subject::new("tool", "{}"),
            key: "question",
            request: String::new(),
            stage: Stage::Waiting(sender),
            since,
            held: Charge::nothing(&Budget::new(0, "NOTHING")),
        };
        (parked, slot, answer)
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

    #[tokio::test]
    async fn what_expires_or_makes_room_is_ended() {
        let parking = Parking::default();
        let now = Instant::now();
        let (first, oldest, _answer) = parked(now);
        parking.park("oldest".to_owned(), first);
        assert!(!is_ended(&oldest));
        let mut others = Vec::new();
        for number in 1..=MOST {
            let (other, slot, answer) = parked(now + Duration::from_secs(1));
            parking.park(number.to_string(), other);
            others.push((slot, answer));
        }
        assert!(is_ended(&oldest), "there is no room for it");
        assert!(others.iter().all(|(slot, _)| !is_ended(slot)));
        parking.lock().expire(now + PATIENCE);
        assert!(others.iter().all(|(slot, _)| !is_ended(slot)), "too early");
        parking.lock().expire(now + PATIENCE + Duration::from_secs(1));
        assert!(others.iter().all(|(slot, _)| is_ended(slot)));
        assert!(parking.subject("1").is_none());
    }

    #[tokio::test]
    async fn results_that_nobody_comes_for_have_a_limit() {
        let parking = Parking::default();
        let mut slots = Vec::new();
        for number in 0..3 {
            let (one, slot, _) = parked(Instant::now() + Duration::from_secs(number));
            parking.park(number.to_string(), one);
            slots.push(slot);
        }
        for slot in &slots {
            assert!(parking.finish(slot, Ok("x".repeat(MOST_RESULT_BYTES / 2))).is_none());
        }
        assert!(parking.subject("0").is_none(), "the oldest has made room");
        assert!(parking.subject("1").is_some() && parking.subject("2").is_some());
    }
}
