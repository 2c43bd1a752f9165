//! `requestState`: the state that a client returns with the answers to a script's questions. It is sealed (`key_ring.rs`), and
//! contains the caller who may return it, the call and the expiry. If the script may be run again, it also contains the earlier
//! answers (`answers.rs`). `parking` ensures that each state is used once.

mod answers;
mod key_ring;

pub(crate) use answers::{Entry, Round};
pub(crate) use key_ring::Purpose;
pub use key_ring::{KeyFileError, KeyRing};

use crate::stores::{OnceKey, now};
use answers::{Reader, write_rounds};
use key_ring::NotOpened;
use mcp_bash_audit::Reason;
use mcp_bash_budget::tree_bytes;
use mcp_bash_wire::RpcError;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::time::Duration;

/// The random id of a state.
pub(crate) type StateId = OnceKey;

pub(crate) type Digest = [u8; 32];

/// The most bytes of answers in a state: its client has to send all of it back.
pub(crate) const MOST_ANSWER_BYTES: usize = 256 * 1024;

/// Arguments that would take more memory than this as a parsed tree are compared as text.
const MOST_TREE_BYTES: usize = 16 * 1024 * 1024;

/// The subject of a call: a digest of its method, the name of the target and the arguments, independent of their formatting. A
/// retry must have the same subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Subject(Digest);

impl Subject {
    /// `arguments` is a JSON object.
    pub(crate) fn new(method: &str, name: &str, arguments: &str) -> Self {
        let is_short = tree_bytes(arguments) <= MOST_TREE_BYTES;
        let value = is_short.then(|| serde_json::from_str::<Value>(arguments));
        let arguments = match value {
            Some(Ok(mut value)) => {
                value.sort_all_objects();
                value.to_string()
            }
            // A number beyond the range of floats, for example, or too many values: then the formatting matters.
            Some(Err(_)) | None => arguments.to_owned(),
        };
        Self(digest(&[method, name, &arguments]))
    }

    /// The digest of a question about this call by this caller.
    pub(crate) fn with_question(self, caller: &str, question: &str) -> Digest {
        let mut digest = Sha256::new();
        digest.update(self.0);
        digest.update(self::digest(&[caller, question]));
        digest.finalize().into()
    }
}

/// The digest of several texts. Their lengths are part of it, so their boundaries are unambiguous.
pub(crate) fn digest(texts: &[&str]) -> Digest {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    digest.finalize().into()
}

/// The caller and the subject of a call that may be continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    caller: Digest,
    subject: Subject,
}

impl Origin {
    pub(crate) fn new(caller: &str, subject: Subject) -> Self {
        Self { caller: digest(&[caller]), subject }
    }
}

/// Why a state is refused. The operator sees the reason, the client never does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unacceptable {
    NotOpened(NotOpened),
    Content,
    Expired,
    Caller,
    Call,
    Used,
    Gone,
}

impl Unacceptable {
    /// The reason in audit records.
    pub(crate) fn reason(self) -> Reason {
        match self {
            Self::NotOpened(_) | Self::Content => Reason::StateAltered,
            Self::Expired => Reason::StateExpired,
            Self::Caller => Reason::StateOfAnotherCaller,
            Self::Call => Reason::StateOfAnotherCall,
            Self::Used => Reason::StateUsed,
            Self::Gone => Reason::StateGone,
        }
    }

    /// The reason in the log. It contains nothing that a client sent.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::NotOpened(why) => why.words(),
            Self::Content => "it was sealed by another version of this program",
            Self::Expired => "it has expired",
            Self::Caller => "it belongs to another caller",
            Self::Call => "it belongs to another call",
            Self::Used => "it was used before",
            Self::Gone => "its process is gone, and its script may not be run again",
        }
    }
}

impl From<NotOpened> for Unacceptable {
    fn from(why: NotOpened) -> Self {
        Self::NotOpened(why)
    }
}

/// The error if the store cannot tell whether a `requestState` was used.
pub(crate) fn unchecked_state() -> RpcError {
    RpcError::internal(
        "The requestState cannot be checked now, since the store of this server does not answer; try again with the same state",
    )
}

/// The error for every other refused `requestState`. It is the same for all reasons, so it reveals nothing.
pub(crate) fn unknown_state() -> RpcError {
    RpcError::invalid_params(
        "Invalid params: `requestState` is unknown, has expired, or belongs to another call",
    )
}

/// The content of a state.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RequestState {
    pub(crate) id: StateId,
    origin: Origin,
    /// Seconds since 1970, the same for every process.
    expires: u64,
    /// Questions and answers so far, if the script may be run again.
    pub(crate) rounds: Option<Vec<Round>>,
}

impl RequestState {
    /// A state that is valid for `timeout`. `None` only if the system has no random numbers.
    pub(crate) fn new(
        keys: &KeyRing,
        origin: Origin,
        timeout: Duration,
        rounds: Option<Vec<Round>>,
    ) -> Option<Self> {
        let expires = now().saturating_add(timeout.as_secs());
        Some(Self { id: keys.random()?, origin, expires, rounds })
    }

    pub(crate) fn seal(&self, keys: &KeyRing) -> Option<String> {
        let mut content = Vec::new();
        content.extend_from_slice(&self.id);
        content.extend_from_slice(&self.expires.to_le_bytes());
        content.extend_from_slice(&self.origin.caller);
        content.extend_from_slice(&self.origin.subject.0);
        content.push(u8::from(self.rounds.is_some()));
        write_rounds(&mut content, self.rounds.as_deref().unwrap_or_default());
        keys.seal(Purpose::RequestState, content)
    }

    /// Opens the state of a request. `subject` is called only if everything else is valid.
    pub(crate) fn open(
        text: &str,
        keys: &KeyRing,
        caller: &str,
        subject: impl FnOnce() -> Subject,
    ) -> Result<Self, Unacceptable> {
        let content = keys.open(Purpose::RequestState, text)?;
        let state = Self::read(&content).ok_or(Unacceptable::Content)?;
        if state.expires <= now() {
            return Err(Unacceptable::Expired);
        }
        if state.origin.caller != digest(&[caller]) {
            return Err(Unacceptable::Caller);
        }
        if state.origin.subject != subject() {
            return Err(Unacceptable::Call);
        }
        Ok(state)
    }

    fn read(content: &[u8]) -> Option<Self> {
        let mut reader = Reader(content);
        let id = reader.array()?;
        let expires = u64::from_le_bytes(reader.array()?);
        let origin = Origin { caller: reader.array()?, subject: Subject(reader.array()?) };
        let [may_replay] = reader.array()?;
        let rounds = reader.rounds()?;
        reader.0.is_empty().then_some(())?;
        Some(Self { id, origin, expires, rounds: (may_replay == 1).then_some(rounds) })
    }

    pub(crate) fn expires(&self) -> u64 {
        self.expires
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject() -> Subject {
        Subject::new("tools/call", "t", "{}")
    }

    #[test]
    fn a_subject_is_the_same_however_it_is_spelled() {
        let of = |arguments| Subject::new("tools/call", "t", arguments);
        let subject = of(r#"{"a": 1, "b": {"x": [1, 2], "y": null}}"#);
        assert_eq!(subject, of(r#"{"b":{"y":null,"x":[1,2]},"\u0061":1}"#));
        assert_ne!(subject, of(r#"{"a":1}"#));
        assert_ne!(of("{}"), Subject::new("prompts/get", "t", "{}"));
        assert_ne!(of("{}"), Subject::new("tools/call", "u", "{}"));
        assert_ne!(of(r#"{"a":1e999}"#), of(r#"{"a":2e999}"#));
    }

    #[test]
    fn a_state_is_good_for_its_caller_and_its_call_only() {
        let keys = KeyRing::of_this_process().unwrap();
        let entry = Entry { key: "k".into(), question: [7; 32], answer: None };
        let rounds =
            Some(vec![Round(vec![Entry { answer: Some(r#"{"a":1}"#.into()), ..entry.clone() }, entry])]);
        let origin = Origin::new("me", subject());
        let state = RequestState::new(&keys, origin, Duration::from_secs(60), rounds).unwrap();
        let sealed = state.seal(&keys).unwrap();
        assert_eq!(RequestState::open(&sealed, &keys, "me", subject).unwrap(), state);
        assert_eq!(RequestState::open(&sealed, &keys, "you", subject), Err(Unacceptable::Caller));
        let other = || Subject::new("tools/call", "u", "{}");
        assert_eq!(RequestState::open(&sealed, &keys, "me", other), Err(Unacceptable::Call));
        let expired = RequestState::new(&keys, origin, Duration::ZERO, None).unwrap();
        let sealed = expired.seal(&keys).unwrap();
        assert_eq!(RequestState::open(&sealed, &keys, "me", subject), Err(Unacceptable::Expired));
    }

    #[test]
    fn content_that_is_not_a_state_is_refused() {
        let keys = KeyRing::of_this_process().unwrap();
        let state =
            RequestState::new(&keys, Origin::new("me", subject()), Duration::from_secs(60), None).unwrap();
        let content = keys.open(Purpose::RequestState, &state.seal(&keys).unwrap()).unwrap();
        for length in 0..content.len() {
            assert_eq!(RequestState::read(&content[..length]), None);
        }
        assert_eq!(RequestState::read(&[&content[..], b"x"].concat()), None);
        assert_eq!(RequestState::read(&[&content[..content.len() - 4], &[0xff; 4]].concat()), None);
    }
}
