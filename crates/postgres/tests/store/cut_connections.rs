//! Connections that break at every point of every operation: the operation is done once, or not at all and says so.

use super::{locked, open, record, wait};
use mcp_bash_audit::{ChainStore, Order, Position};
use mcp_bash_postgres::{Postgres, Record};
use mcp_bash_tasks::{
    Claim, Durability, Filter, Lease, Note, Status, TaskRecord, TaskStore, Turn, TurnLimits,
};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// A way to the database that breaks once, after a number of bytes of its answers.
struct Proxy {
    folder: tempfile::TempDir,
    /// How many bytes of answers pass before the break. Negative: nothing breaks.
    left: Arc<AtomicI64>,
    /// How many connections there were so far.
    connections: Arc<AtomicUsize>,
    /// The answers of connections before this one do not pass any more, and nothing says so.
    first_heard: Arc<AtomicUsize>,
}

impl Proxy {
    fn start(database: PathBuf) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let left = Arc::new(AtomicI64::new(-1));
        let (connections, first_heard) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let of_proxy = (Arc::clone(&left), Arc::clone(&connections), Arc::clone(&first_heard));
        thread::spawn(move || {
            let (left, connections, first_heard) = of_proxy;
            for client in listener.incoming().map_while(Result::ok) {
                let number = connections.fetch_add(1, Ordering::SeqCst);
                let (left, database) = (Arc::clone(&left), database.clone());
                let first_heard = Arc::clone(&first_heard);
                let is_heard = move || number >= first_heard.load(Ordering::SeqCst);
                thread::spawn(move || pass(client, &database, &left, is_heard));
            }
        });
        Self { folder, left, connections, first_heard }
    }

    /// Cuts off all connections that are open, without a word.
    fn cut_silently(&self) {
        self.first_heard.store(self.connections.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    fn store(&self, schema: &str) -> Postgres {
        open(&format!(
            "postgres:///postgres?host={}&user=postgres&schema={schema}",
            self.folder.path().display()
        ))
    }
}

fn pass(client: UnixStream, database: &Path, left: &AtomicI64, is_heard: impl Fn() -> bool) {
    let Ok(server) = UnixStream::connect(database) else { return };
    let (mut from_client, mut to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    thread::spawn(move || {
        let _ = std::io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Both);
    });
    let (mut from_server, mut to_client) = (server, client);
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from_server.read(&mut buffer) {
        if !is_heard() {
            continue;
        }
        let before = left.load(Ordering::SeqCst);
        let passing = usize::try_from(before).map_or(count, |before| before.min(count));
        let is_break = before >= 0 && passing < count;
        if before >= 0 {
            left.store(if is_break { -1 } else { before - i64::try_from(count).unwrap() }, Ordering::SeqCst);
        }
        if to_client.write_all(&buffer[..passing]).is_err() || is_break {
            break;
        }
    }
    let _ = to_client.shutdown(Shutdown::Both);
    let _ = from_server.shutdown(Shutdown::Both);
}

/// The bytes between two breaks. The shortest messages of the protocol have five.
const STEP: usize = 5;

/// The same for operations that change nothing.
const STEP_OF_READS: usize = 25;

/// What has to be true after an operation that changes nothing: the database answers.
const READ: &str = "SELECT 1";

/// An operation, and what has to be true after it was done once. The store has a task that it holds.
type Operation = (&'static str, fn(&Postgres), &'static str, &'static str);

/// The right to write the first task.
fn lease() -> Lease {
    Lease::new(record(1).id, 1, Box::new(()))
}

const OPERATIONS: [Operation; 24] = [
    (
        "create",
        |store| std::mem::forget(store.create(&record(2), Some("{}")).unwrap()),
        "SELECT count(*) FROM {s}.tasks",
        "2",
    ),
    (
        "post",
        |store| store.post(&record(1).id, &Note::Cancel).unwrap(),
        "SELECT count(*) FROM {s}.notes",
        "1",
    ),
    (
        "use_once",
        |store| assert!(wait(store.use_once([5; 16], u64::from(u32::MAX))).unwrap()),
        "SELECT count(*) FROM {s}.used_keys",
        "1",
    ),
    (
        "put",
        |store| {
            let record = Record { bytes: vec![1; 9], mime_type: "text/plain".to_owned() };
            wait(store.put("k", "me", record, Duration::from_secs(60))).unwrap();
        },
        "SELECT count(*) FROM {s}.records",
        "1",
    ),
    ("get", |store| assert!(TaskStore::get(store, &record(1).id).unwrap().is_some()), READ, "1"),
    (
        "claim",
        |store| match store.claim(&record(1).id).unwrap() {
            // Its own claim, whose answer was lost.
            Claim::Held => {}
            Claim::Taken(lease, _) => std::mem::forget(lease),
            _ => panic!("the task is there"),
        },
        "SELECT attempt FROM {s}.tasks",
        "2",
    ),
    (
        "complete",
        |store| {
            let lease = lease();
            store.complete(&lease, &mut record(1), "x".repeat(20_000)).unwrap();
        },
        "SELECT octet_length(result), is_final FROM {s}.tasks",
        "20000|t",
    ),
    (
        "update",
        |store| {
            let lease = lease();
            let mut changed = record(1);
            changed.end(Status::Cancelled, 2_000);
            store.update(&lease, &changed, Durability::Passing).unwrap();
        },
        "SELECT is_final FROM {s}.tasks",
        "t",
    ),
    (
        "begin",
        |store| {
            let turn = Some(Turn { waits: true, priority: 0, most_of_tool: None });
            let mut waits = TaskRecord { turn, ..record(1) };
            assert!(
                store.begin(&lease(), &mut waits, TurnLimits { all: Some(1), per_caller: None }).unwrap()
            );
        },
        "SELECT entrant::json -> 'turn' ->> 'waits' FROM {s}.tasks",
        "false",
    ),
    ("entrants", |store| assert_eq!(store.entrants().unwrap(), []), READ, "1"),
    (
        "renew",
        |store| store.renew(&lease()).unwrap(),
        "SELECT lease_until > now() + interval '20 seconds' FROM {s}.tasks",
        "t",
    ),
    ("notes", |store| assert_eq!(store.notes(&record(1).id, 0).unwrap(), (Vec::new(), 0)), READ, "1"),
    ("request", |store| assert!(store.request(&record(1).id).unwrap().is_none()), READ, "1"),
    (
        "result",
        |store| {
            let long = TaskRecord { has_long_result: true, ..record(1) };
            assert!(store.result(&long).unwrap().is_none());
        },
        READ,
        "1",
    ),
    ("list", |store| assert_eq!(store.list(Filter::default(), 9).unwrap().len(), 1), READ, "1"),
    (
        "count",
        |store| assert_eq!(store.count(&record(1).owner, 0).unwrap(), Some(1)),
        "SELECT count(*) FROM {s}.tasks",
        "1",
    ),
    (
        "sweep",
        |store| assert_eq!(store.sweep(u64::MAX, 9).unwrap().abandoned, []),
        "SELECT count(*) FROM {s}.tasks",
        "1",
    ),
    ("remove", |store| store.remove(lease()).unwrap(), "SELECT count(*) FROM {s}.tasks", "0"),
    (
        "give_back",
        |store| {
            wait(store.mark([5; 16], u64::from(u32::MAX))).unwrap();
            wait(store.give_back([5; 16])).unwrap();
        },
        "SELECT count(*) FROM {s}.used_keys",
        "0",
    ),
    (
        "used",
        |store| assert!(wait(store.used(vec![[5; 16]])).unwrap().is_empty()),
        "SELECT count(*) FROM {s}.used_keys",
        "0",
    ),
    (
        "take",
        |store| {
            let taken =
                wait(store.take("me", Duration::from_secs(60), Duration::from_secs(3600), 7)).unwrap();
            assert_eq!(taken.requests, 7);
        },
        "SELECT taken, round((paid_at - extract(epoch FROM now()) * 1000000) / 60000000) FROM {s}.rates",
        "7|7",
    ),
    ("read", |store| assert!(wait(store.get("k", "me")).unwrap().is_none()), READ, "1"),
    (
        "add",
        |store| {
            let line = |seq: u64| format!("{{\"seq\":{seq},\"time\":\"2026\"}}");
            ChainStore::add(store, "a", 1, (1..=3).map(line).collect()).unwrap();
        },
        "SELECT count(*), max(seq) FROM {s}.audit",
        "3|3",
    ),
    (
        "read lines",
        |store| assert_eq!(ChainStore::read(store, Order::Time, &Position::default()).unwrap(), []),
        READ,
        "1",
    ),
];

#[test]
fn an_operation_whose_connection_breaks_anywhere_is_done_once() {
    let database = locked().folder().join(".s.PGSQL.5432");
    let proxy = Proxy::start(database);
    for (name, operation, statement, wanted) in OPERATIONS {
        let schema = format!("cut_{}", name.replace(' ', "_"));
        let sql = |text: &str| locked().query(&text.replace("{s}", &schema));
        let mut breaks = 0;
        // Until an operation passes with no break: then all of it had its turn.
        let step = if statement == READ { STEP_OF_READS } else { STEP };
        for bytes in (0..).step_by(step) {
            let store = proxy.store(&schema);
            std::mem::forget(store.create(&record(1), None).unwrap());
            if name == "claim" {
                sql("UPDATE {s}.tasks SET lease_until = now()");
            }
            proxy.left.store(bytes, Ordering::SeqCst);
            operation(&store);
            let is_over = proxy.left.swap(-1, Ordering::SeqCst) >= 0;
            let empty = "TRUNCATE {s}.tasks, {s}.notes, {s}.records, {s}.used_keys, {s}.rates, {s}.audit";
            assert_eq!(sql(&format!("{statement}; {empty}")), wanted, "{name}, broken after {bytes} bytes");
            if is_over {
                break;
            }
            breaks += 1;
        }
        assert!(breaks > 1, "{name} was broken {breaks} times only");
    }
}

#[test]
fn an_operation_takes_another_connection_if_its_own_was_cut_off_without_a_word() {
    let proxy = Proxy::start(locked().folder().join(".s.PGSQL.5432"));
    let store = proxy.store("silent");
    store.check().unwrap();
    proxy.cut_silently();
    assert!(wait(store.used(vec![[1; 16]])).unwrap().is_empty());
    proxy.cut_silently();
    std::mem::forget(store.create(&record(1), None).unwrap());
    assert_eq!(locked().query("SELECT count(*) FROM silent.tasks"), "1", "both connections did it");
}
