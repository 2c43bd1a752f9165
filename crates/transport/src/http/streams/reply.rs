//! HTTP replies: the reply of one POST, and the stream of a session.

use crate::http::streams::replay_buffer::ReplayBuffer;
use mcp_bash_server::{Reply, Stream};
use mcp_bash_wire::Id;
use std::sync::Arc;

/// A reply or session stream that writes to a replay buffer.
pub(in crate::http) struct BufferedReply {
    buffer: Arc<ReplayBuffer>,
    /// The id of the request, for an error in place of an answer that is too long.
    id: Option<Id>,
    /// Whether other requests are answered on the same buffer.
    is_shared: bool,
}

impl BufferedReply {
    pub(in crate::http) fn on(buffer: &Arc<ReplayBuffer>, id: Option<Id>) -> Self {
        Self { buffer: Arc::clone(buffer), id, is_shared: false }
    }

    /// A reply on a shared buffer, which goes on after the answer.
    pub(in crate::http) fn shared(buffer: &Arc<ReplayBuffer>, id: Option<Id>) -> Self {
        Self { is_shared: true, ..Self::on(buffer, id) }
    }

    fn last(&self, message: Vec<u8>, refused: Option<i32>) {
        let id = || self.id.clone();
        if self.is_shared {
            self.buffer.queue_or_error(message, id);
        } else {
            self.buffer.answer(message, refused, id);
        }
    }
}

impl Stream for BufferedReply {
    fn notify(&self, message: Vec<u8>) {
        self.buffer.queue(message);
    }

    fn ask(&self, message: Vec<u8>) -> bool {
        self.buffer.queue(message)
    }

    /// Queueing a message wakes the reader.
    fn flush(&self) {}

    fn is_clogged(&self) -> bool {
        self.buffer.is_clogged()
    }
}

impl Reply for BufferedReply {
    fn answer(&self, message: Vec<u8>) {
        self.last(message, None);
    }

    fn refuse(&self, message: Vec<u8>, code: i32) {
        self.last(message, Some(code));
    }

    fn end(&self) {
        if !self.is_shared {
            self.buffer.end();
        }
    }

    fn longest_message(&self) -> usize {
        self.buffer.longest_message()
    }

    fn is_shared(&self) -> bool {
        self.is_shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::streams::replay_buffer::{LONGEST_EVENT, Rules};
    use mcp_bash_budget::Budget;

    #[test]
    fn a_question_that_is_too_long_or_that_nobody_will_read_is_known_not_to_leave() {
        let rules = Arc::new(Rules { limit: usize::MAX, relieve: Box::new(|| {}) });
        let buffer = Arc::new(ReplayBuffer::new(Some(1), &rules, &Budget::new(usize::MAX, "LIMIT")));
        let reply = BufferedReply::on(&buffer, None);
        assert!(!reply.ask(vec![b'x'; LONGEST_EVENT + 1]) && buffer.try_beginning().is_none());
        assert!(reply.ask(vec![b'x'; LONGEST_EVENT]) && buffer.try_beginning().is_some());
        buffer.close();
        assert!(!reply.ask(b"anybody?".to_vec()), "the client is gone");
    }
}
