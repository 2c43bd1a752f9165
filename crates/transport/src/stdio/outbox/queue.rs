//! Outbox queue: messages that are not written yet.

use mcp_bash_budget::{Budget, Charge};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

/// Small messages share one buffer. A large message is a piece of its own: it is not copied, and its memory is freed as soon as
/// it is written.
pub(super) struct Queue {
    /// Written first: large messages, and the small ones queued before them.
    pieces: VecDeque<Vec<u8>>,
    /// Small messages queued after all pieces.
    small: Vec<u8>,
    /// Bytes not written yet, including those a writer has taken.
    unsent: usize,
    held: Charge,
    pub(super) writer: Writer,
    pub(super) has_thread: bool,
    /// The client has closed the output, or writing failed.
    pub(super) is_dead: bool,
    /// Which messages are still accepted.
    pub(super) takes: Takes,
    /// When the client last read something, as far as the writer thread knows.
    pub(super) last_taken: Instant,
}

/// Which messages a queue still accepts. Clients raise errors for messages that they do not expect while they close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Everything,
    /// The input has ended: only responses, each with the notifications of its request.
    Answers,
    Nothing,
}

/// Who writes at the moment. The writer also takes messages that are queued meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writer {
    Nobody,
    /// A task that flushes.
    Flusher,
    Thread,
}

/// A longer message becomes a piece of its own, and a longer buffer of small messages becomes a piece.
const LARGE: usize = 64 * 1024;

/// A larger buffer is not reused.
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

    /// Bytes not written yet, including those a writer has taken.
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

    /// Takes all small messages, if there are no pieces and they have at most `most` bytes.
    pub(super) fn take_few(&mut self, most: usize) -> Option<Vec<u8>> {
        (self.pieces.is_empty() && self.small.len() <= most).then(|| std::mem::take(&mut self.small))
    }

    /// Takes the next bytes to write.
    pub(super) fn take_first(&mut self) -> Option<Vec<u8>> {
        self.pieces.pop_front().or_else(|| (!self.small.is_empty()).then(|| std::mem::take(&mut self.small)))
    }

    /// Puts back bytes that were taken and not written.
    pub(super) fn put_back(&mut self, rest: Vec<u8>) {
        self.pieces.push_front(rest);
    }

    /// Notes that `count` of the taken bytes were written.
    pub(super) fn wrote(&mut self, count: usize) {
        // The queue may have died meanwhile, which resets `unsent`.
        self.unsent = self.unsent.saturating_sub(count);
        self.held.set(self.unsent);
    }

    pub(super) fn die(&mut self) {
        self.is_dead = true;
        (self.pieces, self.small) = (VecDeque::new(), Vec::new());
        self.unsent = 0;
        self.held.set(0);
    }

    /// Reuses a buffer for the next messages, unless it has grown too large.
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
