//! Parked request: its questions, the caller who may answer them, and how its process continues.

use super::limits::ParkingLimits;
use crate::callers::Caller;
use crate::replies::{RenderedResult, shape};
use crate::requests::request_state::{
    Digest, Entry, KeyRing, MOST_ANSWER_BYTES, Origin, RequestState, Round, StateId,
};
use crate::requests::slot::{Occupant, Slot};
use mcp_bash_budget::Charge;
use mcp_bash_wire::{RawBuf, RpcError};
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// A request that waits for the retry that continues it.
pub(crate) struct Parked {
    pub(crate) caller: Arc<Caller>,
    pub(crate) origin: Origin,
    pub(crate) slot: Slot,
    pub(crate) questions: Vec<PendingQuestion>,
    /// Earlier questions and answers, if the script may be run again.
    pub(crate) earlier: Option<Vec<Round>>,
    pub(crate) stage: ParkedStage,
    pub(crate) since: Instant,
    /// The charge for the questions, and later for the result.
    pub(crate) held: Charge,
}

/// One question of a round.
#[derive(Debug, Clone)]
pub(crate) struct PendingQuestion {
    pub(crate) key: Box<str>,
    pub(crate) method: &'static str,
    /// The JSON object with method and params.
    pub(crate) request: String,
    pub(crate) digest: Digest,
    pub(crate) answer: Option<RawBuf>,
}

/// The stage of a parked process.
pub(crate) enum ParkedStage {
    /// It waits for the answers, one per question.
    Waiting(oneshot::Sender<Vec<PendingQuestion>>),
    /// It stopped waiting and has finished, with a result or an error.
    Finished(Result<RenderedResult, RpcError>),
}

/// An `input_required` response: the client retries with the answers.
pub(crate) struct InputRequired {
    pub(crate) id: StateId,
    /// The members of a result.
    pub(crate) members: String,
}

impl Parked {
    /// The response for the client, and the id of the state.
    pub(super) fn ask(&self, keys: &KeyRing, limits: ParkingLimits) -> Option<(StateId, InputRequired)> {
        let this_round = || Round(self.questions.iter().map(PendingQuestion::entry).collect());
        let rounds = self.earlier.as_ref().map(|earlier| [earlier.as_slice(), &[this_round()]].concat());
        let is_short =
            |rounds: &Vec<Round>| rounds.iter().map(Round::bytes).sum::<usize>() <= MOST_ANSWER_BYTES;
        let rounds = rounds.filter(is_short);
        let may_outlive_process = rounds.is_some();
        let timeout =
            if may_outlive_process { limits.replay_timeout.max(limits.timeout) } else { limits.timeout };
        let state = RequestState::new(keys, self.origin, timeout, rounds)?;
        let open = self.questions.iter().filter(|question| question.answer.is_none());
        let requests = open.map(|question| (&*question.key, question.request.as_str()));
        let members = shape::input_required(requests, &state.seal(keys)?);
        Some((state.id, InputRequired { id: state.id, members }))
    }

    /// Terminates the process as if the client had cancelled the request.
    pub(super) fn abandon(self) {
        self.slot.send_replace(Occupant::Abandoned);
    }

    /// The bytes of the result kept for a late client.
    pub(super) fn result_bytes(&self) -> usize {
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
