//! Copies of messages for other servers, where the client may resume the stream.

use super::{ReplayBuffer, Stage, State};
use std::sync::atomic::{AtomicBool, Ordering};

/// Reports that there may be something to copy.
pub(super) struct Copying {
    report: Box<dyn Fn() + Send + Sync>,
    /// Whether the client reads the copies.
    is_followed: AtomicBool,
}

/// Messages of a buffer, whether or not they were read.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::http) struct Copied {
    /// The number of the oldest message in the buffer.
    pub(in crate::http) oldest: u64,
    /// The numbers of the first and the last message. Without messages, the last comes before the first.
    pub(in crate::http) first: u64,
    pub(in crate::http) last: u64,
    /// The messages, separated by newlines.
    pub(in crate::http) messages: Vec<u8>,
    /// Whether these are all of the messages that are left.
    pub(in crate::http) is_all: bool,
    /// Whether no message follows.
    pub(in crate::http) is_over: bool,
    /// Bytes of all messages in the buffer.
    pub(in crate::http) kept_bytes: usize,
}

impl Copying {
    /// Whether the client may need copies: its connection is lost, it reads them already, or nothing else follows.
    pub(super) fn is_due(&self, state: &State) -> bool {
        let is_over = state.stage != Stage::Open || state.is_closed;
        is_over || !state.has_reader || self.is_followed.load(Ordering::Acquire)
    }

    pub(super) fn report(&self) {
        (self.report)();
    }
}

impl ReplayBuffer {
    /// Reports from now on that there may be something to copy.
    pub(in crate::http) fn report_to(&self, report: Box<dyn Fn() + Send + Sync>) {
        let copying = Copying { report, is_followed: AtomicBool::new(false) };
        let _ = self.copying.set(copying);
    }

    /// The client reads the copies from now on.
    pub(in crate::http) fn note_followed(&self) {
        if let Some(copying) = self.copying.get()
            && !copying.is_followed.swap(true, Ordering::AcqRel)
        {
            copying.report();
        }
    }

    /// The messages after that number which the client may need elsewhere: about `most` bytes, or one message. `None` if the
    /// buffer is closed.
    pub(in crate::http) fn copy_after(&self, number: u64, most: usize) -> Option<Copied> {
        let state = self.state.lock();
        if state.is_closed {
            return None;
        }
        let first = state.first.max(number + 1);
        let mut copied = Copied {
            oldest: state.first,
            first,
            last: first - 1,
            messages: Vec::new(),
            is_all: true,
            is_over: false,
            kept_bytes: state.unread_bytes + state.taken_bytes,
        };
        if !self.copying.get().is_some_and(|copying| copying.is_due(&state)) {
            return Some(copied);
        }
        let skipped = usize::try_from(first - state.first).unwrap_or(usize::MAX);
        for message in state.messages.iter().skip(skipped) {
            if copied.last >= first {
                if copied.messages.len() + message.bytes.len() > most {
                    copied.is_all = false;
                    break;
                }
                copied.messages.push(b'\n');
            }
            copied.messages.extend_from_slice(&message.bytes);
            copied.last += 1;
        }
        copied.is_over = copied.is_all && state.stage != Stage::Open;
        Some(copied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::streams::replay_buffer::{MOST_KEPT, Next, Rules};
    use mcp_bash_budget::Budget;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    use std::task::{Context, Poll, Waker};

    /// A buffer with a reader, and how often it reported something to copy.
    fn reported() -> (ReplayBuffer, u64, Arc<AtomicUsize>) {
        let rules = Arc::new(Rules { limit: usize::MAX, relieve: Box::new(|| {}) });
        let buffer = ReplayBuffer::new(Some(1), &rules, &Budget::new(usize::MAX, "LIMIT"));
        let (reader, reports) = (buffer.take_over(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&reports);
        buffer.report_to(Box::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        }));
        (buffer, reader, reports)
    }

    fn copy(buffer: &ReplayBuffer, after: u64) -> (u64, u64, String, bool) {
        let copied = buffer.copy_after(after, usize::MAX).expect("it is open");
        assert!(copied.is_all);
        (copied.first, copied.last, String::from_utf8(copied.messages).expect("text"), copied.is_over)
    }

    #[test]
    fn nothing_is_copied_while_the_client_reads_and_everything_with_the_answer() {
        let (buffer, reader, reports) = reported();
        buffer.queue(b"one".to_vec());
        buffer.queue(b"two".to_vec());
        assert_eq!(copy(&buffer, 0), (1, 0, String::new(), false));
        let read = buffer.poll_next(reader, &Context::from_waker(Waker::noop()));
        assert!(matches!(read, Poll::Ready(Next::Message(1, _))));
        assert_eq!(reports.load(Ordering::Relaxed), 0);
        buffer.answer(b"done".to_vec(), None, || None);
        assert_eq!(reports.load(Ordering::Relaxed), 1);
        assert_eq!(copy(&buffer, 0), (1, 3, "one\ntwo\ndone".to_owned(), true));
        assert_eq!(copy(&buffer, 2), (3, 3, "done".to_owned(), true));
        assert_eq!(copy(&buffer, 3), (4, 3, String::new(), true));
    }

    #[test]
    fn a_client_that_left_or_reads_the_copies_gets_every_message() {
        let (buffer, reader, reports) = reported();
        buffer.queue(b"one".to_vec());
        buffer.leave(reader);
        assert_eq!(copy(&buffer, 0).1, 1);
        buffer.queue(b"two".to_vec());
        assert_eq!((copy(&buffer, 1).2, reports.load(Ordering::Relaxed)), ("two".to_owned(), 2));
        let _reader = buffer.take_over();
        buffer.queue(b"three".to_vec());
        assert_eq!((copy(&buffer, 2).1, reports.load(Ordering::Relaxed)), (2, 2), "it is back");
        buffer.note_followed();
        buffer.note_followed();
        buffer.queue(b"four".to_vec());
        assert_eq!((copy(&buffer, 2).2, reports.load(Ordering::Relaxed)), ("three\nfour".to_owned(), 4));
    }

    #[test]
    fn a_long_stream_is_copied_in_parts_and_without_what_is_not_kept() {
        let (buffer, reader, _) = reported();
        for _ in 0..3 {
            buffer.queue(vec![b'x'; MOST_KEPT]);
        }
        buffer.end();
        let parts = [0, 1, 2].map(|after| buffer.copy_after(after, MOST_KEPT + 1).expect("it is open"));
        assert!(
            parts.iter().all(|part| part.messages.len() == MOST_KEPT && part.kept_bytes == 3 * MOST_KEPT)
        );
        assert_eq!(parts.each_ref().map(|part| (part.first, part.last)), [(1, 1), (2, 2), (3, 3)]);
        assert_eq!(
            parts.each_ref().map(|part| (part.is_all, part.is_over)),
            [(false, false), (false, false), (true, true)]
        );
        let context = Context::from_waker(Waker::noop());
        while matches!(buffer.poll_next(reader, &context), Poll::Ready(Next::Message(..))) {}
        let copied = buffer.copy_after(0, usize::MAX).expect("it is open");
        assert_eq!((copied.oldest, copied.first, copied.last), (3, 3, 3));
        buffer.close();
        assert_eq!(buffer.copy_after(0, usize::MAX), None);
    }
}
