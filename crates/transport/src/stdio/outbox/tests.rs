//! Outbox tests with a real pipe.

use super::*;
use std::io::{BufRead, BufReader, PipeReader, Read};

fn outbox(limit: usize) -> (Arc<Outbox>, PipeReader, Arc<Budget>) {
    let budget = Budget::new(1 << 30, "LIMIT");
    let (reader, writer) = io::pipe().unwrap();
    (Arc::new(Outbox::new(writer.into(), limit, &budget)), reader, budget)
}

#[test]
fn what_is_flushed_is_there_before_the_flush_returns() {
    let (outbox, reader, _) = outbox(1 << 20);
    outbox.notify(b"one".to_vec());
    outbox.answer(b"two".to_vec());
    outbox.flush();
    drop(outbox);
    let lines: Vec<_> = BufReader::new(reader).lines().map(Result::unwrap).collect();
    assert_eq!(lines, ["one", "two"]);
}

#[test]
fn after_the_end_of_input_only_answers_leave_and_later_nothing() {
    let (outbox, reader, _) = outbox(1 << 20);
    outbox.take_only_answers();
    outbox.notify(b"progress".to_vec());
    assert!(!outbox.ask(b"question".to_vec()));
    outbox.notify_before_answer(b"last progress".to_vec());
    outbox.answer(b"answer".to_vec());
    outbox.take_nothing();
    outbox.notify_before_answer(b"late progress".to_vec());
    outbox.answer(b"late".to_vec());
    outbox.flush();
    drop(outbox);
    let lines: Vec<_> = BufReader::new(reader).lines().map(Result::unwrap).collect();
    assert_eq!(lines, ["last progress", "answer"]);
}

#[test]
fn a_full_pipe_blocks_no_writer_and_nothing_is_lost_or_reordered() {
    let (outbox, reader, _) = outbox(usize::MAX);
    let sizes = [10, 200_000, 3, 70_000, 1, 1, 500_000, 5];
    for (number, size) in sizes.into_iter().enumerate() {
        outbox.answer(format!("{number}:{}", "x".repeat(size)).into_bytes());
        outbox.flush();
    }
    let reading = std::thread::spawn(move || {
        let lines = BufReader::new(reader).lines().map(Result::unwrap).take(sizes.len());
        lines.map(|line| (line.split_once(':').unwrap().0.to_owned(), line.len() - 2)).collect::<Vec<_>>()
    });
    outbox.finish(Duration::from_secs(60));
    let read = reading.join().unwrap();
    let sent = sizes.into_iter().enumerate().map(|(number, size)| (number.to_string(), size));
    assert_eq!(read, sent.collect::<Vec<_>>());
}

#[tokio::test]
async fn it_is_clogged_until_half_is_read_and_then_says_so() {
    let (outbox, mut reader, budget) = outbox(400_000);
    outbox.answer(vec![b'x'; 400_000]);
    outbox.flush();
    assert!(outbox.is_clogged() && outbox.is_stuck(Duration::ZERO));
    assert!(!outbox.is_stuck(Duration::from_secs(3600)));
    assert!(budget.has_room((1 << 30) - 1000).is_err(), "what waits is charged");
    let reading = std::thread::spawn(move || {
        let mut all = vec![0; 400_001];
        reader.read_exact(&mut all).unwrap();
        reader
    });
    outbox.room().await;
    outbox.relief().await;
    assert!(!outbox.is_clogged());
    let _reader = reading.join().unwrap();
    outbox.finish(Duration::from_secs(60));
    assert!(budget.has_room(1 << 30).is_ok(), "and given back");
}

#[test]
fn a_reader_that_is_gone_costs_nothing_more() {
    let (outbox, reader, budget) = outbox(1000);
    drop(reader);
    for _ in 0..3 {
        outbox.answer(vec![b'x'; 5000]);
        outbox.flush();
    }
    outbox.finish(Duration::from_secs(60));
    assert!(!outbox.is_clogged() && budget.has_room(1 << 30).is_ok());
}
