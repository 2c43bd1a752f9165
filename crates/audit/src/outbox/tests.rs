use crate::reading::{Finding, entries_by_time, verify_store};
use crate::stored::{ChainStore, Order, Position, StoredLine};
use crate::{AuditError, Destination, Event, NamedHead, OnError, Options, Record, Rotation, Trail};
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::SystemTime;

/// A store in memory.
#[derive(Default)]
struct Memory {
    state: Mutex<MemoryState>,
    changed: Condvar,
}

#[derive(Default)]
struct MemoryState {
    lines: BTreeMap<(String, u64), String>,
    attempts: usize,
    is_away: bool,
    /// The next attempt succeeds, and its answer is lost.
    loses_answer: bool,
    /// Attempts wait.
    is_held: bool,
}

impl ChainStore for Memory {
    fn add(&self, chain: &str, first: u64, lines: Vec<String>) -> Result<(), Box<dyn Error + Send + Sync>> {
        let mut state = self.state.lock();
        state.attempts += 1;
        self.changed.notify_all();
        while state.is_held {
            self.changed.wait(&mut state);
        }
        if state.is_away {
            return Err("the store is away".into());
        }
        for (seq, line) in (first..).zip(lines) {
            if state.lines.entry((chain.to_owned(), seq)).or_insert_with(|| line.clone()) != &line {
                return Err("there is another line".into());
            }
        }
        if std::mem::take(&mut state.loses_answer) { Err("the answer is lost".into()) } else { Ok(()) }
    }

    fn read(&self, order: Order, after: &Position) -> Result<Vec<StoredLine>, Box<dyn Error + Send + Sync>> {
        let state = self.state.lock();
        let key = |at: &Position| match order {
            Order::Chain => (String::new(), at.chain.clone(), at.seq),
            Order::Time => (at.time.clone(), at.chain.clone(), at.seq),
        };
        let line = |((chain, seq), text): (&(String, u64), &String)| {
            let time = text.split("\"time\":\"").nth(1).and_then(|rest| rest.split('"').next());
            let time = time.unwrap_or_default().to_owned();
            StoredLine { at: Position { time, chain: chain.clone(), seq: *seq }, text: text.clone() }
        };
        let mut lines: Vec<_> =
            state.lines.iter().map(line).filter(|line| key(&line.at) > key(after)).collect();
        lines.sort_by_key(|line| key(&line.at));
        lines.truncate(100);
        Ok(lines)
    }
}

impl Memory {
    fn change(&self, change: impl FnOnce(&mut MemoryState)) {
        change(&mut self.state.lock());
        self.changed.notify_all();
    }

    fn wait_until(&self, is_so: impl Fn(&MemoryState) -> bool) {
        let mut state = self.state.lock();
        while !is_so(&state) {
            self.changed.wait(&mut state);
        }
    }

    fn findings(&self, heads: &[NamedHead]) -> Vec<Finding> {
        let chains = verify_store(self, heads).unwrap();
        chains.into_iter().flat_map(|(_, verified)| verified.findings).collect()
    }

    /// The names of the tools in all lines, by time.
    fn tools(&self) -> Vec<String> {
        let name = |text: String| text.split("tool.name\":\"").nth(1)?.split('"').next().map(str::to_owned);
        let lines = entries_by_time(self, None, None);
        lines.filter_map(|line| name(String::from_utf8(line.unwrap().text).unwrap())).collect()
    }
}

fn trail(store: &Arc<Memory>, on_error: OnError) -> Arc<Trail> {
    let rotation = Rotation { max_bytes: 1 << 20, max_age: None, keep: 3 };
    let options = Options { destination: Destination::Store, rotation, on_error };
    let store: Arc<dyn ChainStore> = Arc::clone(store) as _;
    Trail::new(options, Some(store), Record::new(Event::ServerStart, SystemTime::now()))
}

fn record(name: &str) -> Record {
    let mut record = Record::new(Event::ToolCall, SystemTime::now());
    record.text("gen_ai.tool.name", name);
    record
}

fn end() -> Record {
    Record::new(Event::ServerEnd, SystemTime::now())
}

/// A change of lines, as somebody makes it who may write to the table.
type Change<'a> = &'a dyn Fn(&mut BTreeMap<(String, u64), String>);

/// Waits until the trail knows whether it can be written.
fn wait_for(trail: &Trail, is_broken: bool) {
    while trail.problem().is_some() != is_broken {
        std::thread::yield_now();
    }
}

#[test]
fn the_store_is_asked_for_nothing_before_the_first_record() {
    let store = Arc::<Memory>::default();
    let trail = trail(&store, OnError::Refuse);
    trail.close(end);
    assert_eq!(store.state.lock().attempts, 0);
    trail.append(record("a")).unwrap();
    trail.close(end);
    assert_eq!(store.state.lock().lines.len(), 3, "the start, the record and the end");
    assert_eq!(store.findings(&[]), []);
    assert_eq!(trail.counts().written, 3);
}

#[test]
fn a_durable_record_is_in_the_store_before_its_answer_is_sent() {
    let store = Arc::<Memory>::default();
    let trail = trail(&store, OnError::Refuse);
    store.change(|state| state.is_held = true);
    let (sender, receiver) = channel();
    for name in ["a", "b", "c"] {
        let (sender, store) = (sender.clone(), Arc::clone(&store));
        trail.append_durably(record(name), move |written| {
            sender.send((name, written.is_ok() && store.tools().contains(&name.to_owned()))).unwrap();
        });
    }
    store.wait_until(|state| state.attempts > 0);
    assert!(receiver.try_recv().is_err(), "the store has not answered");
    store.change(|state| state.is_held = false);
    trail.flush();
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [("a", true), ("b", true), ("c", true)]);
}

#[test]
fn while_the_store_is_away_calls_are_refused_or_go_on_and_no_line_is_lost() {
    for on_error in [OnError::Refuse, OnError::Continue] {
        let store = Arc::<Memory>::default();
        let trail = trail(&store, on_error);
        let changes = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&changes);
        trail.on_change(move |why| noted.lock().push(why.is_some()));
        trail.append(record("a")).unwrap();
        trail.flush();
        store.change(|state| state.is_away = true);
        let (sender, receiver) = channel();
        trail.append_durably(record("b"), move |written| sender.send(written).unwrap());
        let why = receiver.recv().unwrap().unwrap_err();
        assert!(matches!(&*why, AuditError::Store(_)), "{why}");
        wait_for(&trail, true);
        assert_eq!(trail.refusal().is_some(), on_error == OnError::Refuse);
        assert!(trail.counts().is_broken);
        assert!(trail.append(record("c")).is_err());
        assert_eq!(store.tools(), ["a"]);
        store.change(|state| state.is_away = false);
        wait_for(&trail, false);
        trail.close(end);
        assert_eq!(store.tools(), ["a", "b", "c"]);
        assert_eq!(store.findings(&[]), []);
        assert_eq!((trail.counts().lost, trail.counts().written), (0, 5));
        assert_eq!(*changes.lock(), [true, false]);
    }
}

#[test]
fn lines_whose_answer_was_lost_are_not_doubled() {
    let store = Arc::<Memory>::default();
    let trail = trail(&store, OnError::Refuse);
    for name in ["a", "b", "c"] {
        store.change(|state| state.loses_answer = true);
        let _ = trail.append(record(name));
        store.wait_until(|state| !state.loses_answer);
        wait_for(&trail, false);
    }
    trail.close(end);
    assert_eq!(store.tools(), ["a", "b", "c"]);
    assert_eq!(store.findings(&[]), []);
}

#[test]
fn a_store_that_does_not_keep_up_refuses_calls_and_what_is_lost_is_counted() {
    let store = Arc::<Memory>::default();
    let trail = trail(&store, OnError::Refuse);
    store.change(|state| state.is_held = true);
    // Those that wait for the store besides the start, those that are kept, and five more.
    let fits = super::MOST_LINES - 1;
    assert!((0..fits).all(|_| trail.append(record("x")).is_ok()));
    assert!(trail.refusal().is_none());
    assert!((0..1024 + 5).all(|_| trail.append(record("x")).is_err()));
    let why = trail.refusal().unwrap();
    assert!(matches!(*why, AuditError::Behind { lines: super::MOST_LINES }), "{why}");
    assert_eq!((trail.counts().lost, trail.counts().written), (5, 0));
    store.change(|state| state.is_held = false);
    wait_for(&trail, false);
    trail.flush();
    let state = store.state.lock();
    let last = state.lines.values().next_back().unwrap();
    assert!(last.contains(r#""audit.lost_records":5"#), "{last}");
    assert_eq!(state.lines.len(), 1 + fits + 1024 + 1);
    drop(state);
    assert_eq!(store.findings(&[]), []);
}

#[test]
fn a_line_of_somebody_else_in_the_chain_is_a_problem() {
    let store = Arc::<Memory>::default();
    let trail = trail(&store, OnError::Refuse);
    trail.append(record("a")).unwrap();
    trail.flush();
    store.change(|state| {
        let ((chain, seq), _) = state.lines.last_key_value().unwrap();
        let next = (chain.clone(), seq + 1);
        state.lines.insert(next, "planted".to_owned());
    });
    let (sender, receiver) = channel();
    trail.append_durably(record("b"), move |written| sender.send(written.is_err()).unwrap());
    assert!(receiver.recv().unwrap());
    wait_for(&trail, true);
    assert!(trail.refusal().unwrap().to_string().contains("another line"));
}

#[test]
fn two_processes_have_chains_of_their_own_and_changes_of_each_are_found() {
    let whole = Arc::<Memory>::default();
    let (one, other) = (trail(&whole, OnError::Refuse), trail(&whole, OnError::Refuse));
    for name in ["a", "b", "c", "d"] {
        for trail in [&one, &other] {
            trail.append(record(name)).unwrap();
            trail.flush();
        }
    }
    assert_eq!(whole.tools(), ["a", "a", "b", "b", "c", "c", "d", "d"], "by time");
    let chains = verify_store(&*whole, &[]).unwrap();
    let heads: Vec<NamedHead> = chains
        .into_iter()
        .map(|(name, verified)| NamedHead { chain: Some(name), head: verified.head.unwrap() })
        .collect();
    assert_eq!(heads.len(), 2);
    assert_eq!(whole.findings(&heads), []);
    let first = heads[0].chain.clone().unwrap();
    let key = |seq| (first.clone(), seq);
    let found = |change: Change<'_>, heads: &[NamedHead]| {
        let store = Memory::default();
        store.change(|state| {
            state.lines = whole.state.lock().lines.clone();
            change(&mut state.lines);
        });
        store.findings(heads).first().map(ToString::to_string).unwrap_or_default()
    };
    let removed = found(&|lines| drop(lines.remove(&key(3))), &[]);
    assert!(removed.contains("record 3 is missing"), "{removed}");
    let changed = found(
        &|lines| {
            let text = lines.get_mut(&key(3)).unwrap();
            *text = text.replace("\"b\"", "\"x\"");
        },
        &[],
    );
    assert!(changed.contains("record 3 was changed"), "{changed}");
    let swapped = found(
        &|lines| {
            let [one, other] = [3, 4].map(|seq| lines.remove(&key(seq)).unwrap());
            lines.extend([(key(3), other), (key(4), one)]);
        },
        &[],
    );
    assert!(swapped.contains("record 3 is missing before this line"), "{swapped}");
    let moved = found(
        &|lines| {
            let of_first: Vec<_> =
                lines.iter().filter(|(at, _)| at.0 == first).map(|(at, text)| (at.1, text.clone())).collect();
            lines.extend(of_first.into_iter().map(|(seq, text)| (("0".to_owned(), seq), text)));
        },
        &[],
    );
    assert!(moved.contains(&format!("is of chain {first}")), "{moved}");
    let pruned =
        |lines: &mut BTreeMap<(String, u64), String>| lines.retain(|at, _| at.0 != first || at.1 > 2);
    assert_eq!(found(&pruned, &heads), "", "old lines may be removed");
    let cut = |lines: &mut BTreeMap<(String, u64), String>| drop(lines.remove(&key(5)));
    assert_eq!(found(&cut, &[]), "", "the log itself cannot show it");
    assert!(found(&cut, &heads).contains("the end was cut off"));
    let gone = |lines: &mut BTreeMap<(String, u64), String>| lines.retain(|at, _| at.0 != first);
    assert_eq!(found(&gone, &[]), "");
    assert!(found(&gone, &heads).contains(&format!("there is no chain {first}")));
}
