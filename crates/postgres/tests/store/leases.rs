//! Tasks of several servers: leases, claims and fencing numbers.

use super::{fresh_url, open, record, sql, wait};
use mcp_bash_postgres::Postgres;
use mcp_bash_postgres_server::Server;
use mcp_bash_tasks::{Claim, Durability, Filter, Note, Status, StoreError, TaskId, TaskStore};
use std::sync::Barrier;
use std::thread;

/// Ends the leases of all tasks, as time does.
fn end_leases(schema: &str) {
    sql(&format!("UPDATE {schema}.tasks SET lease_until = now() - interval '1 second'"));
}

fn get(store: &Postgres, id: &TaskId) -> Option<mcp_bash_tasks::TaskRecord> {
    TaskStore::get(store, id).unwrap()
}

#[test]
fn a_task_is_seen_by_every_server_at_once() {
    let (url, _) = fresh_url();
    let (one, other) = (open(&url), open(&url));
    let task = record(1);
    let lease = one.create(&task, Some("{\"name\":\"slow\"}")).unwrap();
    assert_eq!(get(&other, &task.id), Some(task.clone()));
    assert_eq!(other.request(&task.id).unwrap().as_deref(), Some("{\"name\":\"slow\"}"));
    assert!(matches!(other.claim(&task.id).unwrap(), Claim::Held));
    let mut done = task.clone();
    let result = format!("\"content\":[{}]", "1,".repeat(50_000));
    one.complete(&lease, &mut done, result.clone()).unwrap();
    let seen = get(&other, &task.id).unwrap();
    assert!(seen.has_long_result && seen.result.is_none() && seen.status == Status::Completed);
    assert_eq!(other.result(&seen).unwrap(), Some(result));
    assert_eq!(get(&other, &TaskId::of_random([9; 16])), None);
}

#[test]
fn an_abandoned_task_is_claimed_by_exactly_one_of_many_servers() {
    let (url, schema) = fresh_url();
    let first = open(&url);
    let task = record(1);
    let lost = first.create(&task, None).unwrap();
    end_leases(&schema);
    assert_eq!(first.sweep(0, 10).unwrap().abandoned, std::slice::from_ref(&task.id));
    let servers: Vec<Postgres> = (0..6).map(|_| open(&url)).collect();
    let barrier = Barrier::new(servers.len());
    let taken: usize = thread::scope(|scope| {
        let claims: Vec<_> = servers
            .iter()
            .map(|server| {
                scope.spawn(|| {
                    barrier.wait();
                    let claim = server.claim(&task.id).unwrap();
                    let is_taken = matches!(&claim, Claim::Taken(_, record) if record.attempt == 2);
                    assert!(is_taken || matches!(claim, Claim::Held));
                    // The lease is kept, as a server that runs the task keeps it.
                    std::mem::forget(claim);
                    usize::from(is_taken)
                })
            })
            .collect();
        claims.into_iter().map(|claim| claim.join().unwrap()).sum()
    });
    assert_eq!(taken, 1);
    // The first server was only slow. Everything that it writes is refused.
    let stale = |done: Result<(), StoreError>| matches!(done, Err(StoreError::Stale { attempt: 2, .. }));
    assert!(stale(first.update(&lost, &task, Durability::Passing)));
    assert!(stale(first.complete(&lost, &mut task.clone(), "\"content\":[]".to_owned())));
    assert!(stale(first.renew(&lost)));
    assert!(first.remove(lost).is_ok());
    assert_eq!(get(&first, &task.id).unwrap().status, Status::Working);
}

#[test]
fn a_lease_ends_when_it_is_dropped_and_holds_while_it_is_renewed() {
    let (url, schema) = fresh_url();
    let (one, other) = (open(&url), open(&url));
    let task = record(1);
    let lease = one.create(&task, None).unwrap();
    end_leases(&schema);
    one.renew(&lease).unwrap();
    assert!(matches!(other.claim(&task.id).unwrap(), Claim::Held));
    drop(lease);
    let taken = loop {
        match other.claim(&task.id).unwrap() {
            Claim::Taken(lease, _) => break lease,
            _ => thread::yield_now(),
        }
    };
    // The end of an old lease is not the end of a new one.
    drop(one.create(&record(2), None).unwrap());
    assert!(matches!(one.claim(&task.id).unwrap(), Claim::Held));
    other.remove(taken).unwrap();
    assert!(matches!(one.claim(&task.id).unwrap(), Claim::Gone));
}

#[test]
fn no_note_is_passed_by_while_many_servers_leave_notes() {
    const NOTES: usize = 40;
    let (url, _) = fresh_url();
    let keeper = open(&url);
    let task = record(1);
    let _lease = keeper.create(&task, None).unwrap();
    let note = |server: usize, number: usize| Note::Answer {
        key: format!("{server}/{number}"),
        answer: "{}".to_owned(),
    };
    let read = thread::scope(|scope| {
        for server in 0..4 {
            let (url, id) = (&url, &task.id);
            scope.spawn(move || {
                let store = open(url);
                for number in 0..NOTES {
                    store.post(id, &note(server, number)).unwrap();
                }
            });
        }
        let (mut read, mut position) = (Vec::new(), 0);
        while read.len() < 4 * NOTES {
            let (notes, next) = keeper.notes(&task.id, position).unwrap();
            read.extend(notes);
            position = next;
        }
        read
    });
    for server in 0..4 {
        for number in 0..NOTES {
            assert_eq!(read.iter().filter(|found| **found == note(server, number)).count(), 1);
        }
    }
    let gone = TaskId::of_random([8; 16]);
    assert!(keeper.post(&gone, &Note::Cancel).is_err());
}

#[test]
fn lists_are_by_owner_and_status_and_continue() {
    let (url, _) = fresh_url();
    let store = open(&url);
    let mut leases = Vec::new();
    for number in 1..=5 {
        let mut task = record(number);
        if number == 5 {
            task.owner.name = "other".to_owned();
        }
        leases.push(store.create(&task, None).unwrap());
    }
    let mut ended = record(2);
    ended.end(Status::Cancelled, 2_000);
    store.update(&leases[1], &ended, Durability::Durable).unwrap();
    let owner = record(1).owner;
    let ids = |filter: Filter<'_>, most| -> Vec<TaskId> {
        store.list(filter, most).unwrap().into_iter().map(|task| task.id).collect()
    };
    let of = |numbers: &[u8]| -> Vec<TaskId> { numbers.iter().map(|number| record(*number).id).collect() };
    assert_eq!(ids(Filter::default(), 9), of(&[1, 2, 3, 4, 5]));
    let mine = Filter { owner: Some(&owner), ..Filter::default() };
    assert_eq!(ids(mine, 2), of(&[1, 2]));
    let after = record(2).id;
    assert_eq!(ids(Filter { after: Some(&after), ..mine }, 9), of(&[3, 4]));
    assert_eq!(ids(Filter { status: Some(Status::Cancelled), ..mine }, 9), of(&[2]));
}

#[test]
fn expired_tasks_are_removed_unless_a_server_runs_them() {
    let (url, schema) = fresh_url();
    let store = open(&url);
    let _running = store.create(&record(1), None).unwrap();
    drop(store.create(&record(2), None).unwrap());
    let _fresh = store.create(&record(3), None).unwrap();
    sql(&format!("UPDATE {schema}.tasks SET expires_ms = 5 WHERE id < '{}'", record(3).id));
    sql(&format!("UPDATE {schema}.tasks SET lease_until = now() WHERE id = '{}'", record(2).id));
    let swept = store.sweep(9, 10).unwrap();
    assert_eq!((swept.removed, swept.abandoned.len(), swept.is_whole), (1, 0, true));
    assert!(get(&store, &record(1).id).is_some() && get(&store, &record(2).id).is_none());
}

#[test]
fn a_record_that_is_none_is_an_error_with_its_id() {
    let (url, schema) = fresh_url();
    let store = open(&url);
    let _lease = store.create(&record(1), None).unwrap();
    sql(&format!("UPDATE {schema}.tasks SET record = 'nonsense'"));
    let error = TaskStore::get(&store, &record(1).id).unwrap_err().to_string();
    assert!(error.contains(record(1).id.as_str()), "{error}");
    assert_eq!(store.list(Filter::default(), 9).unwrap(), []);
}

/// A task in a schema of a database, whose lease is over.
fn task_with_no_lease(server: &Server, schema: &str) -> Postgres {
    let store = open(&server.url(schema));
    std::mem::forget(store.create(&record(1), None).unwrap());
    server.query(&format!("UPDATE {schema}.tasks SET lease_until = now() - interval '1 hour'"));
    store
}

#[test]
fn nobody_takes_a_task_over_before_its_server_could_come_back_to_a_database_that_was_started() {
    let server = Server::start();
    let store = task_with_no_lease(&server, "young");
    assert!(matches!(store.claim(&record(1).id).unwrap(), Claim::Held));
    server.pretend_to_be_old();
    let later = open(&server.url("young"));
    assert!(matches!(later.claim(&record(1).id).unwrap(), Claim::Taken(..)));
}

#[test]
fn a_server_that_could_not_reach_the_database_takes_no_task_over_before_others_could_come_back() {
    let mut server = Server::start();
    server.pretend_to_be_old();
    let store = task_with_no_lease(&server, "away");
    server.kill();
    assert!(wait(store.used(vec![[1; 16]])).is_err());
    assert!(store.availability().borrow().is_some());
    server.start_again();
    assert!(matches!(store.claim(&record(1).id).unwrap(), Claim::Held));
    assert!(store.availability().borrow().is_none());
    let other = open(&server.url("away"));
    assert!(matches!(other.claim(&record(1).id).unwrap(), Claim::Taken(..)), "it has missed nothing");
}
