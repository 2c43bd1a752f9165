//! Questions: requests from the server to the client in the handshake era (elicitation, sampling, roots), and their responses.

use crate::replies::Stream;
use mcp_bash_budget::NoRoom;
use mcp_bash_wire::{Id, RawBuf, Response, in_part, write};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use thiserror::Error;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Why a question has no answer. Scripts receive these messages.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub(crate) enum Unanswered {
    #[error("the client cannot be asked this: {0}")]
    NotOffered(&'static str),
    #[error("the client did not answer within {} s", .0.as_secs())]
    TimedOut(Duration),
    #[error("the client answered with an error: {0}")]
    Refused(String),
    #[error("the request was cancelled")]
    Cancelled,
    #[error(
        "the client cannot answer any more: the server's input has ended, or the server is shutting down"
    )]
    NoAnswers,
    #[error(
        "the client leaves unread what it was sent before; MCPBASH_MAX_UNREAD_BYTES says how much it may"
    )]
    Clogged,
    #[error(
        "the question was not sent: the request is over, or {0} bytes are too long for a stream of events"
    )]
    NotAsked(usize),
    #[error("the question or its answer is too long: {0}")]
    NoRoom(#[from] NoRoom),
}

impl Unanswered {
    /// The error type in spans.
    pub(crate) fn error_type(&self) -> &'static str {
        match self {
            Self::NotOffered(_) => "not_offered",
            Self::TimedOut(_) => "timeout",
            Self::Refused(_) => "client_error",
            Self::Cancelled | Self::NoAnswers => "cancelled",
            Self::Clogged | Self::NotAsked(_) | Self::NoRoom(_) => "not_asked",
        }
    }
}

/// The questions to the client of one session.
#[derive(Default)]
pub(crate) struct Questions {
    last: AtomicU64,
    pending: Mutex<Pending>,
}

#[derive(Default)]
struct Pending {
    by_number: HashMap<u64, oneshot::Sender<Result<RawBuf, Unanswered>>>,
    /// Whether no more answers can arrive.
    is_closed: bool,
}

impl Questions {
    /// Sends a question on the stream of the request it belongs to, or of the session, and returns the result of its response.
    /// If the caller stops waiting, or the timeout passes, the question is cancelled.
    pub(crate) async fn ask(
        &self,
        stream: &dyn Stream,
        method: &str,
        params: &str,
        patience: Duration,
    ) -> Result<RawBuf, Unanswered> {
        if stream.is_clogged() {
            return Err(Unanswered::Clogged);
        }
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, answer) = oneshot::channel();
        {
            let mut pending = self.pending.lock();
            if pending.is_closed {
                return Err(Unanswered::NoAnswers);
            }
            pending.by_number.insert(number, sender);
        }
        let open = OpenQuestion { questions: self, stream, number };
        let question = write::request(number, method, params);
        let bytes = question.len();
        if !stream.ask(question) {
            // The client never received it, so there is nothing to cancel.
            self.pending.lock().by_number.remove(&number);
            return Err(Unanswered::NotAsked(bytes));
        }
        stream.flush();
        match timeout(patience, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(Unanswered::Cancelled),
            Err(_) => {
                drop(open);
                Err(Unanswered::TimedOut(patience))
            }
        }
    }

    /// Delivers a response. False if no question waits for it.
    pub(crate) fn take(&self, response: &Response<'_>) -> bool {
        let number = response.id.as_ref().map(Id::as_json).and_then(|id| id.parse().ok());
        let Some(sender) = number.and_then(|number: u64| self.pending.lock().by_number.remove(&number))
        else {
            return false;
        };
        let answer = match (response.result, response.error) {
            (Some(result), _) => Ok(result.into()),
            (None, Some(error)) => Err(Unanswered::Refused(in_part(error.text()))),
            (None, None) => Err(Unanswered::Refused("it holds neither a result nor an error".to_owned())),
        };
        sender.send(answer).is_ok()
    }

    /// Fails every open and future question, because no more responses can arrive.
    pub(crate) fn close(&self) {
        let mut pending = self.pending.lock();
        pending.is_closed = true;
        for (_, sender) in pending.by_number.drain() {
            let _ = sender.send(Err(Unanswered::NoAnswers));
        }
    }
}

/// A question that was sent.
struct OpenQuestion<'a> {
    questions: &'a Questions,
    stream: &'a dyn Stream,
    number: u64,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        let is_open = self.questions.pending.lock().by_number.remove(&self.number).is_some();
        if is_open {
            let params =
                format!(r#"{{"requestId":{},"reason":"the answer is not needed any more"}}"#, self.number);
            self.stream.notify(write::notification("notifications/cancelled", &params));
            self.stream.flush();
        }
    }
}
