//! Outbox queue: messages that are not written yet.

use mcp_bash_budget::{Budget, Charge};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

/// Small messages stand one behind the other in one buffer, a large one is a piece of its own: it is not copied, and its
/// memory is free again as soon as it is written.
pub(super) struct Queue {
    /// What leaves first: large messages, and small ones that came before them.
    pieces: VecDeque<Vec<u8>>,
    /// Small messages that came after all of those.
    small: Vec<u8>,
    /// What has not been written, and what is still in memory of it.
    unsent: usize,
    held: Charge,
    pub(super) writer: Writer,
    pub(super) has_thread: bool,
    /// The client has closed its end.
    pub(super) is_dead: bool,
    /// What may still be added.
    pub(super) takes: Takes,
    /// When the client last took something, as far as the writer thread knows.
    pub(super) last_taken: Instant,
}

/// What a queue still takes. Clients raise errors for what they do not expect while they close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Everything,
    /// The input has ended: only answers that the client may wait for, each with the notifications of its request.
    Answers,
    Nothing,
}

/// Who is writing, and will take what is queued meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writer {
    Nobody,
    /// Somebody who has flushed.
    Flusher,
    Thread,
}

/// A larger message is a piece of its own, and more small ones than this are one.
const LARGE: usize = 64 * 1024;

/// A larger buffer is not kept for the next messages.
const MOST_KEPT: usize = 256 * 1024;

impl Queue {
    pub(super) fn new(budget: &Arc<Budget>) -> Self {
        Self {
            pieces: VecDeque::new(),
            small: Vec::new(),
            unsent: 0,
            held: Charge::nothing(budget),
            writer: Writer::Nobody,
            has_thread: false,
            is_dead: false,
            takes: Takes::Everything,
            last_taken: Instant::now(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.small.is_empty()
    }

    /// How many bytes have not been written, those that somebody has taken to write among them.
    pub(super) fn unsent(&self) -> usize {
        self.unsent
    }

    /// Adds a message as a line.
    pub(super) fn push(&mut self, mut message: Vec<u8>) {
        if self.is_dead {
            return;
        }
        message.push(b'\n');
        self.unsent += message.len();
        self.held.set(self.unsent);
        let is_large = message.len() > LARGE;
        if !self.small.is_empty() && (is_large || self.small.len() + message.len() > LARGE) {
            self.pieces.push_back(std::mem::take(&mut self.small));
        }
        if is_large {
            self.pieces.push_back(message);
        } else {
            self.small.extend_from_slice(&message);
        }
    }

    /// Takes all there is, if that is no more than `most`.
    pub(super) fn take_few(&mut self, most: usize) -> Option<Vec<u8>> {
        (self.pieces.is_empty() && self.small.len() <= most).then(|| std::mem::take(&mut self.small))
    }

    /// Takes what leaves next.
    pub(super) fn take_first(&mut self) -> Option<Vec<u8>> {
        self.pieces.pop_front().or_else(|| (!self.small.is_empty()).then(|| std::mem::take(&mut self.small)))
    }

    /// What was taken and not written leaves next.
    pub(super) fn put_back(&mut self, rest: Vec<u8>) {
        self.pieces.push_front(rest);
    }

    /// So many bytes of what was taken were written.
    pub(super) fn wrote(&mut self, count: usize) {
        // One that died meanwhile has nothing left to write.
        self.unsent = self.unsent.saturating_sub(count);
        self.held.set(self.unsent);
    }

    pub(super) fn die(&mut self) {
        self.is_dead = true;
        (self.pieces, self.small) = (VecDeque::new(), Vec::new());
        self.unsent = 0;
        self.held.set(0);
    }

    /// Keeps a buffer for the next messages, unless it has grown out of proportion.
    pub(super) fn recycle(&mut self, buffer: Vec<u8>) {
        if buffer.capacity() <= MOST_KEPT {
            self.small = buffer;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_leave_in_their_order_whatever_their_size() {
        let budget = Budget::new(1 << 30, "LIMIT");
        let mut queue = Queue::new(&budget);
        let mut expected = Vec::new();
        for size in [1, 10, LARGE, 5, LARGE - 1, LARGE + 1, 7, 300_000, 0, 3] {
            let message = vec![b'a' + u8::try_from(size % 26).unwrap(); size];
            expected.extend_from_slice(&message);
            expected.push(b'\n');
            queue.push(message);
        }
        assert_eq!(queue.unsent(), expected.len());
        assert!(budget.has_room((1 << 30) - expected.len() + 1).is_err(), "it is charged");
        assert!(queue.take_few(LARGE).is_none());
        let mut sent = Vec::new();
        let first = queue.take_first().unwrap();
        sent.extend_from_slice(&first[..3]);
        queue.put_back(first[3..].to_vec());
        while let Some(piece) = queue.take_first() {
            sent.extend(piece);
        }
        assert_eq!(sent, expected);
        queue.wrote(sent.len());
        assert!(queue.unsent() == 0 && queue.is_empty() && budget.has_room(1 << 30).is_ok());
    }
}
