//! Test kit: helpers for the unit tests.

use crate::callers::caller::{Caller, test_caller};
use crate::dispatch::in_memory::{InMemoryReply, Said};
use crate::requests::in_flight::{InFlight, InFlightRequest};
use crate::requests::open_request::Pace;
use crate::requests::responder::Responder;
use mcp_bash_wire::{Id, Limits, Raw, Scanner};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Sends every notification immediately.
pub(crate) const UNLIMITED: Pace = Pace { progress_per_minute: 0, logs_per_minute: 0, live: true };

/// Requests without handlers, and their client's end.
pub(crate) struct Requests {
    pub(crate) in_flight: Arc<InFlight>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) is_clogged: Arc<AtomicBool>,
    pub(crate) pace: Pace,
}

impl Requests {
    pub(crate) fn of(caller: &str) -> Self {
        let (in_flight, is_clogged) = (Arc::default(), Arc::default());
        Self { in_flight, caller: test_caller(caller), is_clogged, pace: UNLIMITED }
    }

    /// A request in flight and its reply. `None` if its id is in use.
    pub(crate) fn begin(&self, number: u32) -> Option<(InFlightRequest, InMemoryReply)> {
        let (reply, said) = InMemoryReply::pair(&self.is_clogged);
        let responder = Responder::new(reply, Arc::clone(self.caller.budget()));
        Some((self.in_flight.begin(&id(number), responder, self.pace)?, said))
    }
}

pub(crate) fn id(number: u32) -> Id {
    Id::read(raw(&number.to_string())).unwrap()
}

/// A JSON value.
pub(crate) fn raw(text: &str) -> Raw<'_> {
    Scanner::new(text, Limits::NONE).whole_value().unwrap()
}

/// Everything that was sent, as text: responses with `=`, notifications as they are, the end as `end`.
pub(crate) fn all_said(reply: &mut InMemoryReply) -> Vec<String> {
    let text = |message: Vec<u8>| String::from_utf8(message).unwrap();
    std::iter::from_fn(|| reply.try_next())
        .map(|said| match said {
            Said::Notification(message) | Said::Question(message) => text(message),
            Said::Answer(message) => format!("={}", text(message)),
            Said::End => "end".to_owned(),
        })
        .collect()
}
