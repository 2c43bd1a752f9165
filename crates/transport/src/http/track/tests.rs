use super::*;
use std::sync::atomic::AtomicUsize;
use std::task::Wake;

/// A track, what is charged for it, and how often somebody was relieved.
struct Scene {
    track: Track,
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
    Scene { track: Track::new(number, &rules, &budget), budget, relieved }
}

fn id() -> Option<Id> {
    None
}

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn next(track: &Track, reader: u64) -> Poll<Next> {
    track.poll_next(reader, &Context::from_waker(Waker::noop()))
}

/// Everything that the reader gets now, as numbers and texts, and how it ends.
fn all(track: &Track, reader: u64) -> (Vec<(u64, String)>, Poll<Next>) {
    let mut messages = Vec::new();
    loop {
        match next(track, reader) {
            Poll::Ready(Next::Message(number, message)) => {
                messages.push((number, String::from_utf8_lossy(&message).into_owned()));
            }
            end => return (messages, end),
        }
    }
}

fn numbers(track: &Track, reader: u64) -> Vec<u64> {
    all(track, reader).0.into_iter().map(|(number, _)| number).collect()
}

#[test]
fn an_answer_that_is_all_there_is_begins_the_reply() {
    let Scene { track, budget, .. } = scene(None, 100);
    assert!(track.try_beginning().is_none());
    track.answer(b"yes".to_vec(), Some(-32601), id);
    assert_eq!(track.try_beginning(), Some(Beginning::Answer("yes".into(), Some(-32601))));
    assert_eq!(budget.used(), 0);
}

#[test]
fn something_before_the_answer_makes_it_a_stream() {
    let Scene { track, .. } = scene(None, 100);
    track.say(b"progress".to_vec());
    track.answer(b"done".to_vec(), None, id);
    assert_eq!(track.try_beginning(), Some(Beginning::Events));
    track.begin();
    let reader = track.take_over();
    let (messages, end) = all(&track, reader);
    assert_eq!(messages, [(1, "progress".to_owned()), (2, "done".to_owned())]);
    assert_eq!(end, Poll::Ready(Next::Over));
}

#[test]
fn a_reply_may_end_without_a_word() {
    let Scene { track, .. } = scene(None, 100);
    track.end();
    track.answer(b"late".to_vec(), None, id);
    assert_eq!(track.try_beginning(), Some(Beginning::Nothing));
}

#[test]
fn whoever_waits_is_woken_by_what_is_said() {
    let Scene { track, .. } = scene(None, 100);
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let context = Context::from_waker(&waker);
    assert!(track.poll_beginning(&context).is_pending());
    track.say(b"x".to_vec());
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    let reader = track.take_over();
    assert!(track.poll_next(reader, &context).is_ready() && track.poll_next(reader, &context).is_pending());
    track.end();
    assert_eq!(woken.0.load(Ordering::Relaxed), 2);
}

#[test]
fn a_long_answer_leaves_as_it_is_only_where_it_can_be_all_there_is() {
    let long = || vec![b'x'; LONGEST_EVENT + 1];
    let before = scene(None, 100);
    before.track.say(b"progress".to_vec());
    before.track.answer(long(), None, id);
    let begun = before.track.try_beginning();
    assert!(matches!(&begun, Some(Beginning::Answer(answer, None)) if answer.len() == long().len()));
    assert_eq!(before.budget.used(), long().len(), "charged until it has left");
    drop(begun);
    assert_eq!(before.budget.used(), 0);

    let after = scene(None, 100);
    assert_eq!(after.track.longest_message(), usize::MAX);
    after.track.begin();
    assert_eq!(after.track.longest_message(), LONGEST_EVENT);
    after.track.answer(long(), None, id);
    let (messages, _) = all(&after.track, after.track.take_over());
    assert!(messages.len() == 1 && messages[0].1.contains("an event of a stream at most"), "{messages:?}");
}

#[test]
fn a_reader_that_comes_back_gets_what_it_has_missed_once() {
    let Scene { track, .. } = scene(Some(7), 100);
    track.begin();
    for number in 1..=4 {
        track.say(vec![number]);
    }
    let first = track.take_over();
    assert_eq!(numbers(&track, first), [1, 2, 3, 4]);
    for seen in 0..=4 {
        let again = track.read_after(seen).expect("all is kept");
        assert_eq!(numbers(&track, again), (seen + 1..=4).collect::<Vec<_>>());
    }
    assert_eq!(next(&track, first), Poll::Ready(Next::Replaced));
    let last = track.read_after(4).unwrap();
    track.answer(b"done".to_vec(), None, id);
    assert_eq!(numbers(&track, last), [5]);
    assert_eq!(numbers(&track, track.read_after(4).unwrap()), [5], "also after the answer was taken");
    assert!(track.read_after(6).is_none() && track.read_after(u64::MAX).is_none(), "never said");
}

#[test]
fn what_was_taken_is_kept_within_bounds_and_what_is_not_kept_is_not_promised() {
    let Scene { track, budget, .. } = scene(Some(1), usize::MAX);
    track.begin();
    let reader = track.take_over();
    for _ in 0..20 {
        track.say(vec![b'x'; 100 * 1024]);
        assert!(next(&track, reader).is_ready());
    }
    assert!(track.kept_bytes() <= MOST_KEPT && budget.used() <= MOST_KEPT);
    assert!(track.read_after(0).is_none() && track.read_after(5).is_none());
    assert_eq!(numbers(&track, track.read_after(18).unwrap()), [19, 20]);
}

#[test]
fn what_nobody_can_come_back_for_is_let_go() {
    let Scene { track, budget, .. } = scene(None, 100);
    let reader = track.take_over();
    track.say(b"one".to_vec());
    assert!(next(&track, reader).is_ready());
    assert_eq!((track.kept_bytes(), budget.used()), (0, 0));
}

#[test]
fn it_is_clogged_until_half_of_what_is_too_much_was_read() {
    let Scene { track, relieved, .. } = scene(None, 10);
    let reader = track.take_over();
    for _ in 0..3 {
        track.say(b"four".to_vec());
    }
    assert!(track.is_clogged());
    assert!(next(&track, reader).is_ready() && track.is_clogged());
    assert!(next(&track, reader).is_ready() && !track.is_clogged());
    assert_eq!(relieved.load(Ordering::Relaxed), 1);
}

#[test]
fn a_closed_track_holds_nothing_and_ends_its_reader() {
    let Scene { track, budget, .. } = scene(Some(1), 10);
    let reader = track.take_over();
    track.say(vec![0; 8192]);
    track.close();
    track.say(b"more".to_vec());
    assert_eq!((budget.used(), track.is_clogged()), (0, false));
    assert_eq!(next(&track, reader), Poll::Ready(Next::Over));
    assert!(track.read_after(0).is_none());
}

#[test]
fn a_new_reader_replaces_the_one_before_and_gets_what_was_said_meanwhile() {
    let Scene { track, .. } = scene(Some(0), 100);
    let (first, second) = (track.take_over(), track.take_over());
    assert_eq!(next(&track, first), Poll::Ready(Next::Replaced));
    track.leave(first);
    assert!(track.has_reader(), "only the last reader can leave");
    track.leave(second);
    assert!(!track.has_reader());
    track.say(b"meanwhile".to_vec());
    assert_eq!(numbers(&track, track.take_over()), [1]);
}

#[test]
fn a_reply_that_begins_with_events_has_no_answer_that_is_too_long_for_one() {
    let Scene { track, .. } = scene(Some(1), usize::MAX);
    track.say(b"progress".to_vec());
    assert_eq!(track.try_beginning(), Some(Beginning::Events));
    track.answer(vec![b'x'; LONGEST_EVENT + 1], None, id);
    let (messages, _) = all(&track, track.take_over());
    assert_eq!(messages[0].1, "progress");
    assert!(messages[1].1.contains("at most 1048576"), "{messages:?}");
    // The same for one that begins because it takes long, unless the answer was faster.
    let Scene { track: late, .. } = scene(Some(1), usize::MAX);
    assert_eq!(late.begin_now(), Beginning::Events);
    late.answer(vec![b'x'; LONGEST_EVENT + 1], None, id);
    assert!(all(&late, late.take_over()).0[0].1.contains("at most 1048576"));
    let Scene { track: fast, .. } = scene(Some(1), usize::MAX);
    fast.answer(b"yes".to_vec(), None, id);
    assert_eq!(fast.begin_now(), Beginning::Answer("yes".into(), None));
}

#[test]
fn nothing_follows_the_answer() {
    let Scene { track, .. } = scene(Some(1), 100);
    track.answer(b"yes".to_vec(), None, id);
    track.say(b"too late".to_vec());
    assert_eq!(track.try_beginning(), Some(Beginning::Answer("yes".into(), None)));
}
