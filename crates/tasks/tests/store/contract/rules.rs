//! The rules that every store keeps, one after the other.

use super::{Bench, record};
use mcp_bash_tasks::operator::{Cancelling, Retrying, cancel, retry};
use mcp_bash_tasks::{Claim, Durability, Filter, Note, Owner, Status, StoreError, TaskId, TaskRecord};

/// Checks all rules. `new` makes an empty store for each.
pub(crate) fn check_rules(new: &dyn Fn() -> Box<dyn Bench>) {
    let rules: [fn(&dyn Bench); 12] = [
        unknown_tasks_are_none,
        another_process_sees_a_task_and_its_result,
        an_id_is_used_once,
        notes_arrive_in_order_and_only_once,
        the_task_of_a_dead_process_is_claimed_once,
        a_replaced_writer_is_refused,
        lists_are_filtered_and_have_pages,
        a_sweep_removes_what_has_expired,
        operators_cancel_and_retry,
        super::turns::tasks_begin_in_turn,
        super::turns::the_dead_hold_nobody_up,
        super::turns::what_waits_begins_elsewhere,
    ];
    for rule in rules {
        rule(&*new());
    }
}

fn unknown_tasks_are_none(bench: &dyn Bench) {
    let (store, id) = (bench.open(), TaskId::of_random([9; 16]));
    store.check().unwrap();
    assert!(!store.place().is_empty());
    assert!(store.get(&id).unwrap().is_none() && store.request(&id).unwrap().is_none());
    assert!(matches!(store.claim(&id).unwrap(), Claim::Gone));
    assert_eq!(store.notes(&id, 0).unwrap().0, []);
    assert!(store.list(Filter::default(), 9).unwrap().is_empty());
    assert!(store.sweep(u64::MAX, 9).unwrap().is_whole);
}

fn another_process_sees_a_task_and_its_result(bench: &dyn Bench) {
    let (store, other) = (bench.open(), bench.open());
    for (number, length) in [(1, 10), (2, 5_000_000)] {
        let mut made = record(number, true);
        let lease = store.create(&made, Some(r#"{"name":"slow"}"#)).unwrap();
        assert_eq!(other.get(&made.id).unwrap().as_ref(), Some(&made));
        assert_eq!(other.request(&made.id).unwrap().as_deref(), Some(r#"{"name":"slow"}"#));
        assert_eq!(other.result(&made).unwrap(), None);
        made.status_message = Some("Halfway \u{1f980}".to_owned());
        store.update(&lease, &made, Durability::Passing).unwrap();
        assert_eq!(other.get(&made.id).unwrap().as_ref(), Some(&made));
        store.renew(&lease).unwrap();
        assert!(matches!(other.claim(&made.id).unwrap(), Claim::Held));
        let result = format!(r#""content":"{}""#, "x".repeat(length));
        store.complete(&lease, &mut made, result.clone()).unwrap();
        let seen = other.get(&made.id).unwrap().unwrap();
        assert_eq!((seen.status, &seen), (Status::Completed, &made));
        assert_eq!(other.result(&seen).unwrap(), Some(result));
        drop(lease);
        let Claim::Finished(lease, _) = other.claim(&made.id).unwrap() else { panic!("it has ended") };
        other.remove(lease).unwrap();
        assert!(store.get(&made.id).unwrap().is_none() && store.request(&made.id).unwrap().is_none());
    }
}

fn an_id_is_used_once(bench: &dyn Bench) {
    let store = bench.open();
    drop(store.create(&record(1, false), None).unwrap());
    assert!(store.create(&record(1, true), Some("{}")).is_err());
    assert_eq!(store.get(&record(1, false).id).unwrap(), Some(record(1, false)), "nothing has changed");
}

fn notes_arrive_in_order_and_only_once(bench: &dyn Bench) {
    let (store, other) = (bench.open(), bench.open());
    let made = record(1, false);
    let _lease = store.create(&made, None).unwrap();
    let answer = |key: &str| Note::Answer { key: key.to_owned(), answer: "{\"a\":\"\\n\"}".to_owned() };
    other.post(&made.id, &answer("a")).unwrap();
    let (notes, position) = store.notes(&made.id, 0).unwrap();
    assert_eq!(notes, [answer("a")]);
    let none = Note::NoAnswer { key: "b".to_owned(), reason: "no".to_owned() };
    other.post(&made.id, &none).unwrap();
    other.post(&made.id, &Note::Cancel).unwrap();
    let (notes, after) = store.notes(&made.id, position).unwrap();
    assert_eq!(notes, [none, Note::Cancel]);
    assert_eq!(store.notes(&made.id, after).unwrap(), (Vec::new(), after));
    assert_eq!(store.notes(&made.id, 0).unwrap().0.len(), 3, "they stay, for those who read the task");
}

fn the_task_of_a_dead_process_is_claimed_once(bench: &dyn Bench) {
    let (store, one, other) = (bench.open(), bench.open(), bench.open());
    let made = record(1, true);
    bench.kill(store.create(&made, Some("{}")).unwrap());
    assert_eq!(one.sweep(made.created_ms, 99).unwrap().abandoned, std::slice::from_ref(&made.id));
    let Claim::Taken(lease, taken) = one.claim(&made.id).unwrap() else { panic!("it is free") };
    assert_eq!((lease.attempt, taken.attempt), (2, 2));
    assert!(matches!(other.claim(&made.id).unwrap(), Claim::Held));
    assert!(other.sweep(made.created_ms, 99).unwrap().abandoned.is_empty());
    assert_eq!(other.get(&made.id).unwrap(), Some(TaskRecord { attempt: 2, ..made }));
}

fn a_replaced_writer_is_refused(bench: &dyn Bench) {
    let (store, other) = (bench.open(), bench.open());
    let mut made = record(1, true);
    let old = store.create(&made, None).unwrap();
    bench.free(&made.id);
    let Claim::Taken(new, mut taken) = other.claim(&made.id).unwrap() else { panic!("it is free") };
    made.end(Status::Completed, 2_000);
    let refused = store.update(&old, &made, Durability::Durable);
    assert!(matches!(refused, Err(StoreError::Stale { attempt: 2, .. })));
    let refused = store.complete(&old, &mut made, "x".repeat(100_000));
    assert!(matches!(refused, Err(StoreError::Stale { attempt: 2, .. })));
    let result = "y".repeat(100_000);
    other.complete(&new, &mut taken, result.clone()).unwrap();
    assert!(store.complete(&old, &mut made, "x".repeat(100_000)).is_err());
    assert_eq!(store.get(&made.id).unwrap().as_ref(), Some(&taken));
    assert_eq!(store.result(&taken).unwrap(), Some(result), "the late result has replaced nothing");
    other.remove(new).unwrap();
    assert!(matches!(store.update(&old, &made, Durability::Durable), Err(StoreError::Stale { .. })));
    assert!(store.get(&made.id).unwrap().is_none(), "a late writer does not bring it back");
}

fn lists_are_filtered_and_have_pages(bench: &dyn Bench) {
    let store = bench.open();
    let mut leases = Vec::new();
    for number in 1..=6 {
        let mut made = record(number, false);
        if number % 2 == 0 {
            made.owner = Owner { known_by: "token".to_owned(), ..made.owner };
        }
        let lease = store.create(&made, None).unwrap();
        if number > 4 {
            made.end(Status::Cancelled, 2_000);
            store.update(&lease, &made, Durability::Durable).unwrap();
        }
        leases.push(lease);
    }
    let listed = |filter: Filter<'_>, most: usize| -> Vec<TaskId> {
        store.list(filter, most).unwrap().into_iter().map(|task| task.id).collect()
    };
    let id = |number: u8| record(number, false).id;
    assert_eq!(listed(Filter::default(), 99), [1, 2, 3, 4, 5, 6].map(id));
    assert_eq!(listed(Filter { after: Some(&id(2)), ..Filter::default() }, 2), [3, 4].map(id));
    let owner = record(1, false).owner;
    assert_eq!(listed(Filter { owner: Some(&owner), ..Filter::default() }, 99), [1, 3, 5].map(id));
    let cancelled = Filter { owner: Some(&owner), status: Some(Status::Cancelled), ..Filter::default() };
    assert_eq!(listed(cancelled, 99), [id(5)]);
}

fn a_sweep_removes_what_has_expired(bench: &dyn Bench) {
    let store = bench.open();
    let running = store.create(&record(1, false), None).unwrap();
    bench.kill(store.create(&record(2, false), None).unwrap());
    let mut finished = record(3, false);
    let lease = store.create(&finished, Some("{}")).unwrap();
    store.complete(&lease, &mut finished, "x".repeat(100_000)).unwrap();
    drop(lease);
    let swept = store.sweep(60_999, 99).unwrap();
    assert_eq!((swept.removed, swept.abandoned, swept.is_whole), (0, vec![record(2, false).id], true));
    assert_eq!(store.sweep(0, 99).unwrap().removed, 0, "a clock that was set back lets tasks live longer");
    let (mut removed, mut steps) = (0, 0);
    loop {
        let swept = store.sweep(61_000, 1).unwrap();
        (removed, steps) = (removed + swept.removed, steps + 1);
        if swept.is_whole {
            break;
        }
    }
    assert!(removed == 2 && steps > 1, "{removed} {steps}: a few at a time");
    let left = store.list(Filter::default(), 9).unwrap();
    assert_eq!(left, [record(1, false)], "the one that is run is left to its process");
    bench.kill(running);
    assert_eq!(store.sweep(61_000, 99).unwrap().removed, 1);
    assert!(store.list(Filter::default(), 9).unwrap().is_empty());
}

fn operators_cancel_and_retry(bench: &dyn Bench) {
    let (store, other) = (bench.open(), bench.open());
    let (mut made, once) = (record(1, true), record(2, false));
    let lease = store.create(&made, Some("{}")).unwrap();
    assert_eq!(cancel(&*other, &made.id, 2_000).unwrap(), Cancelling::Asked);
    assert_eq!(store.notes(&made.id, 0).unwrap().0, [Note::Cancel]);
    assert_eq!(retry(&*other, &made.id, 2_000).unwrap(), Retrying::Running);
    made.end(Status::Cancelled, 3_000);
    store.update(&lease, &made, Durability::Durable).unwrap();
    drop(lease);
    assert_eq!(cancel(&*other, &made.id, 4_000).unwrap(), Cancelling::HadEnded(Status::Cancelled));
    assert_eq!(retry(&*other, &made.id, 11_000).unwrap(), Retrying::Waiting);
    let again = store.get(&made.id).unwrap().unwrap();
    assert_eq!((again.status, again.ttl_ms, again.created_ms), (Status::Working, 70_000, 1_000));
    let notes = store.notes(&made.id, again.notes_from).unwrap().0;
    assert!(notes.is_empty(), "the old cancellation does not count: {notes:?}");
    assert_eq!(store.sweep(11_000, 99).unwrap().abandoned, std::slice::from_ref(&made.id));
    assert_eq!(cancel(&*other, &made.id, 12_000).unwrap(), Cancelling::Done, "no process ran it");
    assert_eq!(store.get(&made.id).unwrap().unwrap().status, Status::Cancelled);
    assert_eq!(retry(&*other, &made.id, 31_000).unwrap(), Retrying::Waiting);
    assert_eq!(
        store.get(&made.id).unwrap().unwrap().ttl_ms,
        90_000,
        "as long as a new task, from this retry on"
    );
    bench.kill(store.create(&once, None).unwrap());
    assert_eq!(retry(&*other, &once.id, 2_000).unwrap(), Retrying::NotKept);
    let unknown = record(3, true).id;
    assert_eq!(cancel(&*other, &unknown, 0).unwrap(), Cancelling::Unknown);
    assert_eq!(retry(&*other, &unknown, 0).unwrap(), Retrying::Unknown);
}
