//! What the server says to a client over HTTP: the reply of one POST, and the stream of a session.

use super::track::{LONGEST_EVENT, Track};
use mcp_bash_server::{Reply, Stream};
use mcp_bash_wire::Id;
use std::sync::Arc;

/// What one POST gets back, or what belongs to no request.
pub(super) struct Said {
    track: Arc<Track>,
    /// The request, where it is one: for an answer of our own in place of one that cannot leave.
    id: Option<Id>,
    /// Whether other requests are answered on the same track.
    is_shared: bool,
}

impl Said {
    pub(super) fn on(track: &Arc<Track>, id: Option<Id>) -> Self {
        Self { track: Arc::clone(track), id, is_shared: false }
    }

    /// On a track that others share, which goes on after the answer.
    pub(super) fn shared(track: &Arc<Track>, id: Option<Id>) -> Self {
        Self { is_shared: true, ..Self::on(track, id) }
    }

    fn last(&self, message: Vec<u8>, refused: Option<i32>) {
        let id = || self.id.clone();
        if self.is_shared {
            self.track.say_or_error(message, id);
        } else {
            self.track.answer(message, refused, id);
        }
    }
}

impl Stream for Said {
    fn notify(&self, message: Vec<u8>) {
        self.track.say(message);
    }

    fn ask(&self, message: Vec<u8>) -> bool {
        let leaves = message.len() <= LONGEST_EVENT;
        self.track.say(message);
        leaves
    }

    /// Whoever reads was woken when it was said.
    fn flush(&self) {}

    fn is_clogged(&self) -> bool {
        self.track.is_clogged()
    }
}

impl Reply for Said {
    fn answer(&self, message: Vec<u8>) {
        self.last(message, None);
    }

    fn refuse(&self, message: Vec<u8>, code: i32) {
        self.last(message, Some(code));
    }

    fn end(&self) {
        if !self.is_shared {
            self.track.end();
        }
    }

    fn longest_message(&self) -> usize {
        self.track.longest_message()
    }

    fn is_shared(&self) -> bool {
        self.is_shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::track::Rules;
    use mcp_bash_budget::Budget;

    #[test]
    fn a_question_that_is_too_long_for_an_event_is_known_not_to_leave() {
        let rules = Arc::new(Rules { limit: usize::MAX, relieve: Box::new(|| {}) });
        let track = Arc::new(Track::new(Some(1), &rules, &Budget::new(usize::MAX, "LIMIT")));
        let said = Said::on(&track, None);
        assert!(!said.ask(vec![b'x'; LONGEST_EVENT + 1]) && track.try_beginning().is_none());
        assert!(said.ask(vec![b'x'; LONGEST_EVENT]) && track.try_beginning().is_some());
    }
}
