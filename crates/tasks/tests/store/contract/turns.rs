//! Turns: no more tasks run than the limits allow, in all processes together.

use super::{Bench, record};
use mcp_bash_tasks::{Claim, Durability, Lease, Status, StoreError, TaskRecord, TaskStore, Turn, TurnLimits};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const ONE: TurnLimits = TurnLimits { all: Some(1), per_caller: None };

/// A task that waits for its turn, made after those with smaller numbers.
fn waiting(number: u8, repeatable: bool, priority: i32) -> TaskRecord {
    let turn = Some(Turn { waits: true, priority, most_of_tool: None });
    TaskRecord { turn, created_ms: 1_000 + u64::from(number), ..record(number, repeatable) }
}

fn make(store: &dyn TaskStore, task: &TaskRecord) -> Lease {
    store.create(task, Some("{}")).unwrap()
}

pub(super) fn tasks_begin_in_turn(bench: &dyn Bench) {
    let (store, other) = (bench.open(), bench.open());
    let (mut first, mut urgent) = (waiting(1, false, 0), waiting(2, true, 5));
    let lease = make(&*store, &first);
    assert!(store.begin(&lease, &mut first, ONE).unwrap());
    let leases = [lease, make(&*other, &urgent)];
    assert!(!first.waits() && !store.get(&first.id).unwrap().unwrap().waits());
    assert_eq!(other.request(&first.id).unwrap(), None, "it may not run again");
    assert!(!other.begin(&leases[1], &mut urgent, ONE).unwrap() && urgent.waits());
    let mut last = waiting(3, false, 0);
    let lease = make(&*store, &last);
    assert!(!store.begin(&lease, &mut last, ONE).unwrap());
    let mut seen = store.entrants().unwrap();
    seen.sort_by_key(|entrant| entrant.created_ms);
    assert_eq!(seen.iter().map(|entrant| entrant.turn.waits).collect::<Vec<_>>(), [false, true, true]);
    store.complete(&leases[0], &mut first, String::new()).unwrap();
    assert!(!store.begin(&lease, &mut last, ONE).unwrap(), "one with a higher priority waits elsewhere");
    assert!(other.begin(&leases[1], &mut urgent, ONE).unwrap());
    assert_eq!(store.request(&urgent.id).unwrap().as_deref(), Some("{}"), "it may run again");
    last.end(Status::Cancelled, 2_000);
    store.update(&lease, &last, Durability::Durable).unwrap();
    assert_eq!(other.entrants().unwrap().len(), 1, "one that has ended waits no more");
}

pub(super) fn the_dead_hold_nobody_up(bench: &dyn Bench) {
    let store = bench.open();
    let (mut dies, mut waits, mut lives) = (waiting(1, false, 9), waiting(2, false, 9), waiting(3, false, 0));
    let lease = make(&*store, &dies);
    assert!(store.begin(&lease, &mut dies, ONE).unwrap());
    let dead = make(&*store, &waits);
    assert!(!store.begin(&dead, &mut waits, ONE).unwrap());
    let held = make(&*store, &lives);
    assert!(!store.begin(&held, &mut lives, ONE).unwrap());
    bench.kill(lease);
    assert!(!store.begin(&held, &mut lives, ONE).unwrap(), "one with a higher priority waits");
    bench.kill(dead);
    assert!(store.begin(&held, &mut lives, ONE).unwrap());
}

pub(super) fn what_waits_begins_elsewhere(bench: &dyn Bench) {
    let (store, other) = (bench.open(), bench.open());
    let mut made = waiting(1, false, 0);
    let lease = make(&*store, &made);
    bench.free(&made.id);
    let Claim::Taken(new, mut taken) = other.claim(&made.id).unwrap() else { panic!("it is free") };
    assert!(taken.waits() && taken.may_begin_elsewhere() && !taken.repeatable);
    let refused = store.begin(&lease, &mut made, ONE);
    assert!(matches!(refused, Err(StoreError::Stale { .. })), "it is another's turn");
    assert_eq!(other.request(&made.id).unwrap().as_deref(), Some("{}"));
    assert!(other.begin(&new, &mut taken, ONE).unwrap() && !taken.may_begin_elsewhere());
}

/// Many processes let tasks begin at once, of which two may run.
pub(crate) fn no_limit_is_passed_by_many(bench: &dyn Bench) {
    let limits = TurnLimits { all: Some(2), per_caller: None };
    let (running, begun) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for number in 1..=8_u8 {
            let (running, begun) = (&running, &begun);
            scope.spawn(move || {
                let store = bench.open();
                let mut task = waiting(number, number % 2 == 0, i32::from(number % 3));
                let lease = make(&*store, &task);
                // Ends when all had their turn: those who wait are let in by those who end.
                while !store.begin(&lease, &mut task, limits).unwrap() {
                    thread::yield_now();
                }
                assert!(running.fetch_add(1, Ordering::SeqCst) < 2, "three at once");
                thread::yield_now();
                running.fetch_sub(1, Ordering::SeqCst);
                begun.fetch_add(1, Ordering::SeqCst);
                store.complete(&lease, &mut task, String::new()).unwrap();
            });
        }
    });
    assert_eq!(begun.load(Ordering::SeqCst), 8);
}
