//! Replay buffer tests.

use super::*;
use std::sync::atomic::AtomicUsize;
use std::task::Wake;

/// A buffer, its budget, and how often its backpressure ended.
struct Scene {
    buffer: ReplayBuffer,
    budget: Arc<Budget>,
    relieved: Arc<AtomicUsize>,
}

fn scene(number: Option<u64>, limit: usize) -> Scene {
    let (budget, relieved) = (Budget::new(usize::MAX, "LIMIT"), Arc::new(AtomicUsize::new(0)));
    let told = Arc::clone(&relieved);
    let relieve = move || {
        told.fetch_add(1, Ordering::Relaxed);
    };
    let rules = Arc::new(Rules { limit, relieve: Box::new(relieve) });
    Scene { buffer: ReplayBuffer::new(number, &rules, &budget), budget, relieved }
}

fn id() -> Option<Id> {
    None
}

/// Counts wake-ups.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn next(buffer: &ReplayBuffer, reader: u64) -> Poll<Next> {
    buffer.poll_next(reader, &Context::from_waker(Waker::noop()))
}

/// All messages that the reader gets now, as numbers and texts, and how the read ends.
fn all(buffer: &ReplayBuffer, reader: u64) -> (Vec<(u64, String)>, Poll<Next>) {
    let mut messages = Vec::new();
    loop {
        match next(buffer, reader) {
            Poll::Ready(Next::Message(number, message)) => {
                messages.push((number, String::from_utf8_lossy(&message).into_owned()));
            }
            end => return (messages, end),
        }
    }
}

fn numbers(buffer: &ReplayBuffer, reader: u64) -> Vec<u64> {
    all(buffer, reader).0.into_iter().map(|(number, _)| number).collect()
}

#[test]
fn an_answer_that_is_all_there_is_begins_the_reply() {
    let Scene { buffer, budget, .. } = scene(None, 100);
    assert!(buffer.try_beginning().is_none());
    buffer.answer(b"yes".to_vec(), Some(-32601), id);
    assert_eq!(buffer.try_beginning(), Some(Beginning::Answer("yes".into(), Some(-32601))));
    assert_eq!(budget.used(), 0);
}

#[test]
fn something_before_the_answer_makes_it_a_stream() {
    let Scene { buffer, .. } = scene(None, 100);
    buffer.queue(b"progress".to_vec());
    buffer.answer(b"done".to_vec(), None, id);
    assert_eq!(buffer.try_beginning(), Some(Beginning::Events));
    buffer.begin();
    let reader = buffer.take_over();
    let (messages, end) = all(&buffer, reader);
    assert_eq!(messages, [(1, "progress".to_owned()), (2, "done".to_owned())]);
    assert_eq!(end, Poll::Ready(Next::Over));
}

#[test]
fn a_reply_may_end_without_a_word() {
    let Scene { buffer, .. } = scene(None, 100);
    buffer.end();
    buffer.answer(b"late".to_vec(), None, id);
    assert_eq!(buffer.try_beginning(), Some(Beginning::Nothing));
}

#[test]
fn a_waiting_reader_is_woken_by_a_message() {
    let Scene { buffer, .. } = scene(None, 100);
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let context = Context::from_waker(&waker);
    assert!(buffer.poll_beginning(&context).is_pending());
    buffer.queue(b"x".to_vec());
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    let reader = buffer.take_over();
    assert!(buffer.poll_next(reader, &context).is_ready() && buffer.poll_next(reader, &context).is_pending());
    buffer.end();
    assert_eq!(woken.0.load(Ordering::Relaxed), 2);
}

#[test]
fn a_long_answer_leaves_as_it_is_only_where_it_can_be_all_there_is() {
    let long = || vec![b'x'; LONGEST_EVENT + 1];
    let before = scene(None, 100);
    before.buffer.queue(b"progress".to_vec());
    before.buffer.answer(long(), None, id);
    let begun = before.buffer.try_beginning();
    assert!(matches!(&begun, Some(Beginning::Answer(answer, None)) if answer.len() == long().len()));
    assert_eq!(before.budget.used(), long().len(), "charged until it has left");
    drop(begun);
    assert_eq!(before.budget.used(), 0);

    let after = scene(None, 100);
    assert_eq!(after.buffer.longest_message(), usize::MAX);
    after.buffer.begin();
    assert_eq!(after.buffer.longest_message(), LONGEST_EVENT);
    after.buffer.answer(long(), None, id);
    let (messages, _) = all(&after.buffer, after.buffer.take_over());
    assert!(messages.len() == 1 && messages[0].1.contains("an event of a stream at most"), "{messages:?}");
}

#[test]
fn a_reader_that_reconnects_gets_missed_events_once() {
    let Scene { buffer, .. } = scene(Some(7), 100);
    buffer.begin();
    for number in 1..=4 {
        buffer.queue(vec![number]);
    }
    let first = buffer.take_over();
    assert_eq!(numbers(&buffer, first), [1, 2, 3, 4]);
    for seen in 0..=4 {
        let again = buffer.read_after(seen).expect("all is kept");
        assert_eq!(numbers(&buffer, again), (seen + 1..=4).collect::<Vec<_>>());
    }
    assert_eq!(next(&buffer, first), Poll::Ready(Next::Replaced));
    let last = buffer.read_after(4).unwrap();
    buffer.answer(b"done".to_vec(), None, id);
    assert_eq!(numbers(&buffer, last), [5]);
    assert_eq!(numbers(&buffer, buffer.read_after(4).unwrap()), [5], "also after the answer was taken");
    assert!(buffer.read_after(6).is_none() && buffer.read_after(u64::MAX).is_none(), "never said");
}

#[test]
fn what_was_taken_is_kept_within_bounds_and_what_is_not_kept_is_not_promised() {
    let Scene { buffer, budget, .. } = scene(Some(1), usize::MAX);
    buffer.begin();
    let reader = buffer.take_over();
    for _ in 0..20 {
        buffer.queue(vec![b'x'; 100 * 1024]);
        assert!(next(&buffer, reader).is_ready());
    }
    assert!(buffer.kept_bytes() <= MOST_KEPT && budget.used() <= MOST_KEPT);
    assert!(buffer.read_after(0).is_none() && buffer.read_after(5).is_none());
    assert_eq!(numbers(&buffer, buffer.read_after(18).unwrap()), [19, 20]);
}

#[test]
fn events_that_cannot_be_resumed_are_dropped() {
    let Scene { buffer, budget, .. } = scene(None, 100);
    let reader = buffer.take_over();
    buffer.queue(b"one".to_vec());
    assert!(next(&buffer, reader).is_ready());
    assert_eq!((buffer.kept_bytes(), budget.used()), (0, 0));
}

#[test]
fn it_is_clogged_until_half_of_what_is_too_much_was_read() {
    let Scene { buffer, relieved, .. } = scene(None, 10);
    let reader = buffer.take_over();
    for _ in 0..3 {
        buffer.queue(b"four".to_vec());
    }
    assert!(buffer.is_clogged());
    assert!(next(&buffer, reader).is_ready() && buffer.is_clogged());
    assert!(next(&buffer, reader).is_ready() && !buffer.is_clogged());
    assert_eq!(relieved.load(Ordering::Relaxed), 1);
}

#[test]
fn a_closed_buffer_holds_nothing_and_ends_its_reader() {
    let Scene { buffer, budget, .. } = scene(Some(1), 10);
    let reader = buffer.take_over();
    buffer.queue(vec![0; 8192]);
    buffer.close();
    buffer.queue(b"more".to_vec());
    assert_eq!((budget.used(), buffer.is_clogged()), (0, false));
    assert_eq!(next(&buffer, reader), Poll::Ready(Next::Over));
    assert!(buffer.read_after(0).is_none());
}

#[test]
fn a_new_reader_replaces_the_one_before_and_gets_what_was_said_meanwhile() {
    let Scene { buffer, .. } = scene(Some(0), 100);
    let (first, second) = (buffer.take_over(), buffer.take_over());
    assert_eq!(next(&buffer, first), Poll::Ready(Next::Replaced));
    buffer.leave(first);
    assert!(buffer.has_reader(), "only the last reader can leave");
    buffer.leave(second);
    assert!(!buffer.has_reader());
    assert!(buffer.queue(b"meanwhile".to_vec()));
    assert_eq!(numbers(&buffer, buffer.take_over()), [1]);
}

#[test]
fn a_reply_that_begins_with_events_has_no_answer_that_is_too_long_for_one() {
    let Scene { buffer, .. } = scene(Some(1), usize::MAX);
    buffer.queue(b"progress".to_vec());
    assert_eq!(buffer.try_beginning(), Some(Beginning::Events));
    buffer.answer(vec![b'x'; LONGEST_EVENT + 1], None, id);
    let (messages, _) = all(&buffer, buffer.take_over());
    assert_eq!(messages[0].1, "progress");
    assert!(messages[1].1.contains("at most 1048576"), "{messages:?}");
    // The same for a reply that becomes a stream because it takes long, unless the answer was faster.
    let Scene { buffer: late, .. } = scene(Some(1), usize::MAX);
    assert_eq!(late.begin_now(), Beginning::Events);
    late.answer(vec![b'x'; LONGEST_EVENT + 1], None, id);
    assert!(all(&late, late.take_over()).0[0].1.contains("at most 1048576"));
    let Scene { buffer: fast, .. } = scene(Some(1), usize::MAX);
    fast.answer(b"yes".to_vec(), None, id);
    assert_eq!(fast.begin_now(), Beginning::Answer("yes".into(), None));
}

#[test]
fn nothing_follows_the_answer() {
    let Scene { buffer, .. } = scene(Some(1), 100);
    buffer.answer(b"yes".to_vec(), None, id);
    assert!(!buffer.queue(b"too late".to_vec()));
    assert_eq!(buffer.try_beginning(), Some(Beginning::Answer("yes".into(), None)));
}
