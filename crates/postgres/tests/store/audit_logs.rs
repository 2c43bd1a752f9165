//! Audit logs: lines are added once, and read in two orders.

use super::{fresh_url, locked, open, sql};
use mcp_bash_audit::{ChainStore, Order, Position};
use mcp_bash_postgres::Postgres;
use std::sync::Barrier;
use std::thread;

/// A line as the trail makes them, with a quotation mark in a text.
fn line(seq: u64, second: u64) -> String {
    format!(
        r#"{{"seq":{seq},"prev":"00","time":"2026-01-31T12:00:{second:02}.000000Z","text":"\"time\":\"no\" \u0000"}}"#
    )
}

fn add(store: &Postgres, chain: &str, first: u64, seconds: &[u64]) {
    let lines = (first..).zip(seconds).map(|(seq, second)| line(seq, *second));
    store.add(chain, first, lines.collect()).unwrap();
}

/// Where all lines are, in an order.
fn places(store: &Postgres, order: Order, mut after: Position) -> Vec<String> {
    let mut places = Vec::new();
    loop {
        let lines = store.read(order, &after).unwrap();
        let Some(last) = lines.last() else { return places };
        after = last.at.clone();
        places.extend(lines.iter().map(|line| format!("{}{}", line.at.chain, line.at.seq)));
    }
}

#[test]
fn lines_are_read_by_chain_and_by_time() {
    let (url, _) = fresh_url();
    let (one, other) = (open(&url), open(&url));
    add(&one, "b", 1, &[1, 3]);
    add(&other, "a", 1, &[2, 2]);
    add(&one, "b", 3, &[2]);
    let all = Position::default;
    assert_eq!(places(&one, Order::Chain, all()), ["a1", "a2", "b1", "b2", "b3"]);
    assert_eq!(places(&other, Order::Time, all()), ["b1", "a1", "a2", "b3", "b2"]);
    let since = Position { time: "2026-01-31T12:00:02.000000Z".to_owned(), ..all() };
    assert_eq!(places(&one, Order::Time, since), ["a1", "a2", "b3", "b2"]);
    let first = one.read(Order::Chain, &Position { chain: "a".to_owned(), ..all() }).unwrap().remove(0);
    assert_eq!(first.text, line(1, 2), "as it was added");
}

#[test]
fn many_lines_are_read_in_several_pages() {
    let (url, _) = fresh_url();
    let store = open(&url);
    add(&store, "a", 1, &[0; 700]);
    add(&store, "b", 1, &[0; 700]);
    for order in [Order::Chain, Order::Time] {
        let places = places(&store, order, Position::default());
        let wanted =
            ["a", "b"].into_iter().flat_map(|chain| (1..=700).map(move |seq| format!("{chain}{seq}")));
        assert!(places.iter().eq(&wanted.collect::<Vec<_>>()), "{order:?}");
    }
}

#[test]
fn lines_that_are_there_already_are_not_added_again_and_others_are_an_error() {
    let (url, schema) = fresh_url();
    let store = open(&url);
    store.add("a", 1, Vec::new()).unwrap();
    add(&store, "a", 1, &[1, 2]);
    add(&store, "a", 1, &[1, 2]);
    add(&store, "a", 2, &[2, 3]);
    assert_eq!(sql(&format!("SELECT count(*) FROM {schema}.audit")), "3");
    let error = store.add("a", 3, vec![line(3, 9), line(4, 9)]).unwrap_err().to_string();
    assert!(error.contains("other lines in the audit chain a than those from 3 on"), "{error}");
    assert_eq!(
        sql(&format!("SELECT line LIKE '%:03.%' FROM {schema}.audit WHERE seq = 3")),
        "t",
        "it is kept"
    );
}

#[test]
fn two_attempts_at_once_add_lines_once_and_both_succeed() {
    let (url, schema) = fresh_url();
    let stores: Vec<Postgres> = (0..4).map(|_| open(&url)).collect();
    for round in 0..20 {
        let barrier = Barrier::new(stores.len());
        thread::scope(|scope| {
            for store in &stores {
                scope.spawn(|| {
                    barrier.wait();
                    add(store, "a", 1 + round * 50, &[1; 50]);
                });
            }
        });
    }
    assert_eq!(sql(&format!("SELECT count(*), max(seq) FROM {schema}.audit")), "1000|1000");
}

#[test]
fn a_role_that_may_only_select_and_insert_can_write_and_cannot_change() {
    let (url, schema) = fresh_url();
    open(&url).check().unwrap();
    sql(&format!(
        "CREATE ROLE writer_{schema} LOGIN; GRANT USAGE ON SCHEMA {schema} TO writer_{schema};
         GRANT SELECT ON {schema}.versions TO writer_{schema};
         GRANT SELECT, INSERT ON {schema}.audit TO writer_{schema}"
    ));
    let poor = open(&url.replace("user=postgres", &format!("user=writer_{schema}")));
    add(&poor, "a", 1, &[1, 2]);
    add(&poor, "a", 1, &[1, 2]);
    assert_eq!(places(&poor, Order::Time, Position::default()), ["a1", "a2"]);
    let change = format!("SET ROLE writer_{schema}; DELETE FROM {schema}.audit");
    let is_refused = std::panic::catch_unwind(|| locked().query(&change)).is_err();
    assert!(is_refused, "it may not delete");
}

#[test]
fn the_time_of_a_line_cannot_be_changed_without_the_line() {
    let (url, schema) = fresh_url();
    add(&open(&url), "a", 1, &[1]);
    let change = format!("UPDATE {schema}.audit SET time = ''");
    assert!(std::panic::catch_unwind(|| locked().query(&change)).is_err());
    // A line that is none has no time, and is read first.
    sql(&format!(
        "UPDATE {schema}.audit SET line = repeat('x', 300000); INSERT INTO {schema}.audit VALUES ('0', 7, '')"
    ));
    assert_eq!(places(&open(&url), Order::Time, Position::default()), ["07", "a1"]);
}
