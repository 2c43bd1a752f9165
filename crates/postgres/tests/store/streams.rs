//! Event streams that clients resume at another server.

use super::{fresh_url, open, sql, wait};
use mcp_bash_postgres::{Postgres, StoredStream, StreamKey, StreamPart, StreamStage};
use mcp_bash_tasks::TaskStore as _;
use std::sync::mpsc::channel;
use std::time::Duration;

const MINE: [u8; 16] = [7; 16];

/// How long to wait for news that may be lost.
const SOON: Duration = Duration::from_millis(200);

/// A part of a stream with messages from that number on.
fn part(number: u64, first: u64, messages: &[&str]) -> StreamPart {
    let text = messages.join("\n").into_bytes();
    StreamPart {
        key: StreamKey { session: MINE, number },
        is_new: false,
        lost_answer: None,
        oldest: 1,
        first,
        last: first + messages.len() as u64 - 1,
        bytes: text.len() as u64,
        messages: text,
        is_over: false,
    }
}

fn begun(number: u64) -> StreamPart {
    StreamPart { is_new: true, lost_answer: Some(number.to_string()), ..part(number, 1, &[]) }
}

fn over(part: StreamPart) -> StreamPart {
    StreamPart { is_over: true, ..part }
}

fn write(store: &Postgres, parts: &[StreamPart]) {
    wait(store.write_streams(parts)).unwrap();
}

fn read(store: &Postgres, number: u64, after: u64) -> Option<StoredStream> {
    wait(store.read_stream(StreamKey { session: MINE, number }, after)).unwrap()
}

/// The parts after a message, as texts, and the stage.
fn parts(store: &Postgres, number: u64, after: u64) -> (Vec<(u64, String)>, StreamStage) {
    let stored = read(store, number, after).expect("a stream");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (stored.parts.into_iter().map(|(first, bytes)| (first, text(bytes))).collect(), stored.stage)
}

fn texts(parts: &[(u64, &str)]) -> Vec<(u64, String)> {
    parts.iter().map(|(first, text)| (*first, (*text).to_owned())).collect()
}

#[test]
fn a_stream_is_read_in_order_at_any_server() {
    let (url, _) = fresh_url();
    let (one, other) = (open(&url), open(&url));
    write(&one, &[begun(5)]);
    assert_eq!(parts(&other, 5, 0), (vec![], StreamStage::Open));
    assert_eq!(read(&other, 5, 0).unwrap().lost_answer.as_deref(), Some("5"));
    write(&one, &[part(5, 1, &["a", "b"])]);
    write(&one, &[over(part(5, 3, &["c"])), over(StreamPart { is_new: true, ..part(6, 1, &["x"]) })]);
    assert_eq!(parts(&other, 5, 0), (texts(&[(1, "a\nb"), (3, "c")]), StreamStage::Over));
    assert_eq!(parts(&other, 5, 2), (texts(&[(3, "c")]), StreamStage::Over));
    assert_eq!(parts(&other, 5, 3), (vec![], StreamStage::Over));
    assert_eq!(parts(&other, 6, 0), (texts(&[(1, "x")]), StreamStage::Over));
    assert!(read(&other, 7, 0).is_none());
    let another = StreamKey { session: [8; 16], number: 5 };
    assert!(wait(other.read_stream(another, 0)).unwrap().is_none());
}

#[test]
fn parts_that_are_written_twice_or_have_grown_are_read_once() {
    let (url, _) = fresh_url();
    let store = open(&url);
    for _ in 0..2 {
        write(&store, &[begun(1)]);
        write(&store, &[part(1, 1, &["a"])]);
    }
    write(&store, &[part(1, 1, &["a", "b"])]);
    write(&store, &[part(1, 1, &["a"])]);
    assert_eq!(parts(&store, 1, 0).0, texts(&[(1, "a\nb")]));
}

#[test]
fn a_long_stream_is_read_piece_by_piece() {
    let (url, _) = fresh_url();
    let store = open(&url);
    write(&store, &[begun(1)]);
    for number in 1..=40 {
        write(&store, &[part(1, number, &["x"])]);
    }
    write(&store, &[over(part(1, 41, &["end"]))]);
    let (mut after, mut reads) = (0, 0);
    loop {
        let stored = read(&store, 1, after).unwrap();
        assert!(
            stored.parts.iter().map(|(first, _)| *first).eq(after + 1..=after + stored.parts.len() as u64)
        );
        after += stored.parts.len() as u64;
        reads += 1;
        if !stored.has_more {
            break;
        }
    }
    assert_eq!((after, reads), (41, 3));
}

#[test]
fn messages_that_cannot_be_replayed_any_more_are_removed() {
    let (url, schema) = fresh_url();
    let store = open(&url);
    write(&store, &[begun(1)]);
    write(&store, &[part(1, 1, &["a"])]);
    write(&store, &[part(1, 2, &["b", "c"])]);
    write(&store, &[StreamPart { oldest: 3, ..part(1, 4, &["d"]) }]);
    assert_eq!(parts(&store, 1, 0).0, texts(&[(2, "b\nc"), (4, "d")]));
    assert_eq!(sql(&format!("SELECT count(*) FROM {schema}.events")), "2");
}

#[test]
fn the_oldest_streams_of_a_session_that_are_over_make_room() {
    let (url, schema) = fresh_url();
    let store = open(&url);
    write(&store, &[begun(1)]);
    let another = StreamKey { session: [8; 16], number: 2 };
    write(&store, &[over(StreamPart { key: another, is_new: true, ..part(2, 1, &["x"]) })]);
    for number in 3..=110 {
        write(&store, &[over(StreamPart { is_new: true, ..part(number, 1, &["x"]) })]);
    }
    assert!(read(&store, 1, 0).is_some(), "a stream that goes on stays");
    assert!(wait(store.read_stream(another, 0)).unwrap().is_some(), "other sessions are not affected");
    assert!(read(&store, 3, 0).is_none() && read(&store, 110, 0).is_some());
    let count = |table| sql(&format!("SELECT count(*) FROM {schema}.{table}")).parse::<u32>().unwrap();
    assert_eq!((count("streams"), count("events")), (103, 102));
    let megabyte = "x".repeat(1024 * 1024);
    for number in 111..=120 {
        write(&store, &[over(StreamPart { is_new: true, ..part(number, 1, &[&megabyte]) })]);
    }
    assert!(count("streams") <= 8, "{}", count("streams"));
    assert!(read(&store, 120, 0).is_some());
}

#[test]
fn a_session_that_has_ended_leaves_nothing_and_nothing_is_added() {
    let (url, schema) = fresh_url();
    let store = open(&url);
    write(&store, &[begun(1), begun(2)]);
    write(&store, &[part(1, 1, &["a"])]);
    wait(store.forget_streams(MINE)).unwrap();
    write(&store, &[over(part(1, 2, &["b"]))]);
    let left =
        format!("SELECT (SELECT count(*) FROM {schema}.streams) + (SELECT count(*) FROM {schema}.events)");
    assert_eq!(sql(&left), "0");
}

#[test]
fn what_has_expired_is_not_read_and_is_removed() {
    let (url, schema) = fresh_url();
    let store = open(&url);
    write(&store, &[begun(1), over(StreamPart { is_new: true, ..part(2, 1, &["x"]) })]);
    sql(&format!("UPDATE {schema}.streams SET expires_at = now()"));
    assert!(read(&store, 1, 0).is_none() && read(&store, 2, 0).is_none());
    store.sweep(0, 10).unwrap();
    let left =
        format!("SELECT (SELECT count(*) FROM {schema}.streams) + (SELECT count(*) FROM {schema}.events)");
    assert_eq!(sql(&left), "0");
}

#[test]
fn a_stream_is_abandoned_when_its_lease_has_ended() {
    let (url, schema) = fresh_url();
    let store = open(&url);
    let key = StreamKey { session: MINE, number: 1 };
    write(&store, &[begun(1)]);
    sql(&format!("UPDATE {schema}.streams SET lease_until = now() - interval '1 s'"));
    assert_eq!(parts(&store, 1, 0).1, StreamStage::Abandoned);
    wait(store.renew_streams([key].into_iter(), StreamPart::LEASE)).unwrap();
    assert_eq!(parts(&store, 1, 0).1, StreamStage::Open);
    wait(store.renew_streams([key].into_iter(), Duration::ZERO)).unwrap();
    assert_eq!(parts(&store, 1, 0).1, StreamStage::Abandoned);
    write(&store, &[part(1, 1, &["a"])]);
    assert_eq!(parts(&store, 1, 0).1, StreamStage::Open, "writing renews it");
    write(&store, &[over(part(1, 2, &["b"]))]);
    sql(&format!("UPDATE {schema}.streams SET lease_until = now() - interval '1 s'"));
    assert_eq!(parts(&store, 1, 0).1, StreamStage::Over);
}

#[test]
fn both_servers_hear_of_each_other() {
    let (url, schema) = fresh_url();
    let (owner, reader) = (open(&url), open(&url));
    let key = StreamKey { session: [0xAB; 16], number: 1 << 47 };
    let of_key = |part| StreamPart { key, ..part };
    write(&owner, &[of_key(begun(1))]);
    let ((owner_sends, owner_hears), (reader_sends, reader_hears)) = (channel(), channel());
    owner.on_stream_news(move |key| {
        let _ = owner_sends.send(key);
    });
    reader.on_stream_news(move |key| {
        let _ = reader_sends.send(key);
    });
    assert!(wait(owner.renew_streams([key].into_iter(), StreamPart::LEASE)).unwrap().is_empty());
    // News are lost until both listen.
    let (mut is_owner_told, mut is_reader_told) = (false, false);
    let are_both_told = (0..300).any(|_| {
        sql(&format!("UPDATE {schema}.streams SET is_followed = false"));
        wait(reader.read_stream(key, 0)).unwrap();
        is_owner_told |= owner_hears.recv_timeout(SOON) == Ok(key);
        is_reader_told |= reader_hears.recv_timeout(SOON) == Ok(key);
        is_owner_told && is_reader_told
    });
    assert!(are_both_told);
    while reader_hears.recv_timeout(SOON).is_ok() {}
    write(&owner, &[of_key(part(1, 1, &["a"]))]);
    assert_eq!(reader_hears.recv_timeout(Duration::from_secs(60)), Ok(key));
    assert_eq!(wait(owner.renew_streams([key].into_iter(), StreamPart::LEASE)).unwrap(), [key]);
}
