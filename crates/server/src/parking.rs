//! Processes that wait for an answer which only another request can bring.
//!
//! In the stateless era a script that asks cannot be kept on its request: the request is answered with what is asked,
//! and an unguessable word. Who comes back with that word, and with answers, gets the very same process again.

use crate::work::Slot;
use mcp_bash_wire::{RawBuf, RpcError};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How long a client may take to come back.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// More processes than these do not wait at once.
const MOST: usize = 256;

/// What was asked, by the word that leads back to it.
#[derive(Default)]
pub(crate) struct Parking(Mutex<HashMap<String, Parked>>);

/// One request that is to be continued.
pub(crate) struct Parked {
    pub(crate) slot: Slot,
    /// Where the work that waits finds the word that leads back to it.
    pub(crate) trail: Arc<Mutex<Option<String>>>,
    /// The name and the arguments of the call, which must be the same when it is continued.
    pub(crate) subject: Value,
    /// What is asked for: the name of the answer, and the whole of the question.
    pub(crate) key: String,
    pub(crate) request: String,
    pub(crate) state: State,
    pub(crate) since: Instant,
}

/// How far a parked process is.
pub(crate) enum State {
    /// It waits for the answer.
    Waiting(oneshot::Sender<RawBuf>),
    /// It did not wait any longer, and this came of it: the members of a result, or an error.
    Finished(Result<String, RpcError>),
}

impl Parking {
    /// Parks a process under a word.
    pub(crate) fn park(&self, word: String, parked: Parked) {
        let mut all = self.lock();
        all.retain(|_, parked| parked.since.elapsed() < PATIENCE);
        if all.len() >= MOST
            && let Some(oldest) =
                all.iter().min_by_key(|(_, parked)| parked.since).map(|(word, _)| word.clone())
        {
            all.remove(&oldest);
        }
        all.insert(word, parked);
    }

    /// Gives what the word leads to to `act`, before anybody else can know that it is gone. A word is good once.
    pub(crate) fn take<T>(&self, word: &str, act: impl FnOnce(Parked) -> T) -> Option<T> {
        let mut all = self.lock();
        all.remove(word).filter(|parked| parked.since.elapsed() < PATIENCE).map(act)
    }

    /// A parked process has ended, and this came of it. Given back where somebody has come for it already.
    pub(crate) fn finish(
        &self,
        word: &str,
        outcome: Result<String, RpcError>,
    ) -> Option<Result<String, RpcError>> {
        match self.lock().get_mut(word) {
            Some(parked) => {
                parked.state = State::Finished(outcome);
                None
            }
            None => Some(outcome),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Parked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
