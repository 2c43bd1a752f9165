//! Verification: whatever is done to the lines of a chain is found.

#![allow(clippy::disallowed_methods, reason = "tests use files of their own")]

use mcp_bash_audit::reading::{Finding, verify};
use mcp_bash_audit::{Destination, Event, Head, OnError, Options, Record, Rotation, Trail, files_of};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Writes a chain of that many calls, and returns its lines and its head.
fn chain(log: &Path, calls: usize) -> (Vec<String>, Head) {
    let rotation = Rotation { max_bytes: 1 << 30, max_age: None, keep: 9 };
    let destination = Destination::File(log.to_owned());
    let options = Options { destination, rotation, on_error: OnError::Refuse };
    let trail = Trail::new(options, None, Record::new(Event::ServerStart, SystemTime::now()));
    for call in 0..calls {
        let mut record = Record::new(Event::ToolCall, SystemTime::now());
        record.number("bytes.in", call as u64);
        trail.append(record).unwrap();
    }
    let lines = fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect();
    (lines, verify(&[log.to_owned()], None).unwrap().head.unwrap())
}

fn findings(log: &Path, lines: &[String], head: Option<Head>) -> Vec<Finding> {
    fs::write(log, [&lines.join("\n"), "\n"].concat()).unwrap();
    verify(&[log.to_owned()], head).unwrap().findings
}

#[derive(Debug, Clone)]
enum Tampering {
    Remove(usize, usize),
    Swap(usize, usize),
    Repeat(usize, usize),
    Change(usize, usize, u8),
    Insert(usize),
}

fn tampering() -> impl Strategy<Value = Tampering> {
    let (one, other) = (0..1000_usize, 0..1000_usize);
    prop_oneof![
        (one.clone(), 1..20_usize).prop_map(|(at, count)| Tampering::Remove(at, count)),
        (one.clone(), other.clone()).prop_map(|(one, other)| Tampering::Swap(one, other)),
        (one.clone(), other.clone()).prop_map(|(from, to)| Tampering::Repeat(from, to)),
        (one.clone(), other, any::<u8>()).prop_map(|(line, at, byte)| Tampering::Change(line, at, byte)),
        one.prop_map(Tampering::Insert),
    ]
}

/// Does it. False if nothing was changed by it.
fn apply(tampering: &Tampering, lines: &mut Vec<String>) -> bool {
    let before = lines.clone();
    let count = lines.len();
    match *tampering {
        Tampering::Remove(at, number) => drop(lines.drain(at % count..(at % count + number).min(count))),
        Tampering::Swap(one, other) => lines.swap(one % count, other % count),
        Tampering::Repeat(from, to) => lines.insert(to % (count + 1), before[from % count].clone()),
        Tampering::Change(line, at, byte) => {
            let mut bytes = lines[line % count].clone().into_bytes();
            let at = at % bytes.len();
            bytes[at] = b' ' + byte % 95;
            lines[line % count] = String::from_utf8(bytes).unwrap();
        }
        Tampering::Insert(at) => lines.insert(at % (count + 1), "{}".to_owned()),
    }
    *lines != before
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_change_is_found_with_a_head(tampering in tampering(), calls in 2..40_usize) {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("audit.jsonl");
        let (mut lines, head) = chain(&log, calls);
        prop_assert!(findings(&log, &lines, Some(head)).is_empty());
        prop_assume!(apply(&tampering, &mut lines));
        prop_assert!(!findings(&log, &lines, Some(head)).is_empty(), "{tampering:?}");
    }
}

type Change<'a> = &'a dyn Fn(&mut Vec<String>);

#[test]
fn each_kind_of_change_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.jsonl");
    let (lines, head) = chain(&log, 9);
    let said = |change: Change<'_>| {
        let mut lines = lines.clone();
        change(&mut lines);
        let found = findings(&log, &lines, Some(head));
        found.first().map(|finding| finding.to_string().replace(&log.display().to_string(), "log"))
    };
    let rows: [(Change, &str); 7] = [
        (&|lines| drop(lines.remove(3)), "log:4: record 4 is missing before this line"),
        (&|lines| drop(lines.drain(3..6)), "log:4: records 4 to 6 are missing before this line"),
        (
            &|lines| lines[4] = lines[4].replace("\"bytes.in\":3", "\"bytes.in\":4"),
            "log:5: record 5 was changed, or a record was put in its place: the next one has another hash",
        ),
        (&|lines| lines.swap(4, 5), "log:5: record 5 is missing before this line"),
        (
            &|lines| drop(lines.drain(..2)),
            "log:1: the file begins with record 3, which is no beginning of a file: the lines before it were removed",
        ),
        (&|lines| lines.truncate(7), "the chain ends with record 7, and 10 is newer: the end was cut off"),
        (
            &|lines| lines[9] = lines[9].replace("\"bytes.in\":8", "\"bytes.in\":9"),
            "record 10 is not the one of that head: the chain was written again",
        ),
    ];
    for (change, expected) in rows {
        assert_eq!(said(change).as_deref(), Some(expected));
    }
}

#[test]
fn a_chain_that_was_written_again_is_found_by_its_head_only() {
    let folder = tempfile::tempdir().unwrap();
    let (log, other) = (folder.path().join("audit.jsonl"), folder.path().join("other.jsonl"));
    let (_, head) = chain(&log, 5);
    let (rewritten, _) = chain(&other, 8);
    assert!(findings(&log, &rewritten, None).is_empty());
    assert_eq!(findings(&log, &rewritten, Some(head)), [Finding::Rewritten { seq: head.seq }]);
}

#[test]
fn a_file_that_is_missing_between_others_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.jsonl");
    let rotation = Rotation { max_bytes: 1000, max_age: None, keep: 9 };
    let destination = Destination::File(log.clone());
    let options = Options { destination, rotation, on_error: OnError::Refuse };
    let trail = Trail::new(options, None, Record::new(Event::ServerStart, SystemTime::now()));
    for _ in 0..20 {
        trail.append(Record::new(Event::ToolCall, SystemTime::now())).unwrap();
    }
    let files: Vec<PathBuf> = files_of(&log);
    assert!(files.len() > 3, "{files:?}");
    assert!(verify(&files, None).unwrap().findings.is_empty());
    let without: Vec<PathBuf> = [&files[..1], &files[2..]].concat();
    assert!(matches!(verify(&without, None).unwrap().findings[..], [Finding::Missing { .. }]));
}
