//! Two servers that crash at any step share a task: no two of them run it at a time, and one that may not be repeated is
//! begun once. The same play finds a store whose claims do not look at the lease.

use super::{Bench, record};
use mcp_bash_tasks::{
    Claim, Durability, Entrant, Failure, Filter, Lease, Note, Status, StoreError, Swept, TaskId, TaskRecord,
    TaskStore, TurnLimits,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// What happens next, to one of two servers.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// It makes the task, if there is none.
    Create(usize),
    /// It looks whether the task is abandoned, and takes it over.
    Settle(usize),
    Progress(usize),
    Finish(usize),
    /// It dies, and another one starts in its place.
    Crash(usize),
    /// It stops for so long that it loses its lease, and goes on.
    LoseLease(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let server = 0..2_usize;
    prop_oneof![
        1 => server.clone().prop_map(Step::Create),
        4 => server.clone().prop_map(Step::Settle),
        2 => server.clone().prop_map(Step::Progress),
        2 => server.clone().prop_map(Step::Finish),
        2 => server.clone().prop_map(Step::Crash),
        1 => server.prop_map(Step::LoseLease),
    ]
}

/// A server that runs the task or does not.
#[derive(Default)]
struct Process {
    running: Option<(Lease, TaskRecord)>,
    /// It has lost its lease and does not know it.
    is_lost: bool,
}

/// Plays the steps, and returns what went wrong.
fn play(store: &dyn TaskStore, bench: &dyn Bench, repeatable: bool, steps: &[Step]) -> Result<(), String> {
    let mut servers = [Process::default(), Process::default()];
    let (mut begun, mut is_made, mut ended) = (0, false, None::<TaskRecord>);
    let task = record(7, repeatable);
    for step in steps {
        match *step {
            Step::Create(server) if !is_made => {
                let lease = store.create(&task, None).map_err(|error| error.to_string())?;
                servers[server].running = Some((lease, task.clone()));
                (is_made, begun) = (true, begun + 1);
            }
            Step::Settle(server) if servers[server].running.is_none() => {
                let claim = store.claim(&task.id).map_err(|error| error.to_string())?;
                if let Claim::Taken(lease, mut taken) = claim {
                    if taken.repeatable {
                        begun += 1;
                        servers[server].running = Some((lease, taken));
                    } else {
                        taken.fail(Failure { code: 0, message: String::new(), data: None }, 2_000);
                        write(store, &lease, &taken, &mut ended)?;
                    }
                }
            }
            Step::Progress(server) => {
                if let Some((lease, running)) = servers[server].running.take() {
                    if write(store, &lease, &running, &mut ended)? {
                        servers[server].running = Some((lease, running));
                    } else {
                        // It learns that it has lost the task, and stops.
                        servers[server].is_lost = false;
                    }
                }
            }
            Step::Finish(server) => {
                if let Some((lease, mut running)) = servers[server].running.take() {
                    running.end(Status::Completed, 2_000);
                    write(store, &lease, &running, &mut ended)?;
                    servers[server].is_lost = false;
                }
            }
            Step::Crash(server) => {
                if let Some((lease, _)) = std::mem::take(&mut servers[server]).running {
                    bench.kill(lease);
                }
            }
            // The lease that is freed is that of the last claim: a server that has lost its own has none to lose.
            Step::LoseLease(server) if servers[server].running.is_some() && !servers[server].is_lost => {
                bench.free(&task.id);
                servers[server].is_lost = true;
            }
            _ => {}
        }
        let healthy = servers.iter().filter(|server| server.running.is_some() && !server.is_lost).count();
        if healthy > 1 {
            return Err(format!("{healthy} servers run the task at once after {step:?}"));
        }
        if !repeatable && begun > 1 {
            return Err(format!("a task that may not be repeated was begun {begun} times"));
        }
        if let (Some(ended), Ok(Some(kept))) = (&ended, store.get(&task.id))
            && *ended != kept
        {
            return Err(format!("the end {ended:?} became {kept:?} after {step:?}"));
        }
    }
    Ok(())
}

/// Writes the record. False if the task belongs to another process now. An end is never followed by anything.
fn write(
    store: &dyn TaskStore,
    lease: &Lease,
    written: &TaskRecord,
    ended: &mut Option<TaskRecord>,
) -> Result<bool, String> {
    match store.update(lease, written, Durability::Passing) {
        Ok(()) => {
            if written.status.is_final() && ended.is_none() {
                *ended = Some(written.clone());
            }
            Ok(true)
        }
        Err(StoreError::Stale { .. }) => Ok(false),
        Err(error) => Err(error.to_string()),
    }
}

/// A store whose claims do not look at the lease: the fault that the play has to find.
struct Careless<'a>(Box<dyn TaskStore>, &'a dyn Bench);

impl TaskStore for Careless<'_> {
    fn claim(&self, id: &TaskId) -> Result<Claim, StoreError> {
        self.1.free(id);
        self.0.claim(id)
    }
    fn place(&self) -> String {
        self.0.place()
    }
    fn check(&self) -> Result<(), StoreError> {
        self.0.check()
    }
    fn create(&self, record: &TaskRecord, request: Option<&str>) -> Result<Lease, StoreError> {
        self.0.create(record, request)
    }
    fn get(&self, id: &TaskId) -> Result<Option<TaskRecord>, StoreError> {
        self.0.get(id)
    }
    fn result(&self, record: &TaskRecord) -> Result<Option<String>, StoreError> {
        self.0.result(record)
    }
    fn request(&self, id: &TaskId) -> Result<Option<String>, StoreError> {
        self.0.request(id)
    }
    fn update(&self, lease: &Lease, record: &TaskRecord, durability: Durability) -> Result<(), StoreError> {
        self.0.update(lease, record, durability)
    }
    fn complete(&self, lease: &Lease, record: &mut TaskRecord, result: String) -> Result<(), StoreError> {
        self.0.complete(lease, record, result)
    }
    fn begin(&self, lease: &Lease, record: &mut TaskRecord, limits: TurnLimits) -> Result<bool, StoreError> {
        self.0.begin(lease, record, limits)
    }
    fn entrants(&self) -> Result<Vec<Entrant>, StoreError> {
        self.0.entrants()
    }
    fn post(&self, id: &TaskId, note: &Note) -> Result<(), StoreError> {
        self.0.post(id, note)
    }
    fn notes(&self, id: &TaskId, from: u64) -> Result<(Vec<Note>, u64), StoreError> {
        self.0.notes(id, from)
    }
    fn list(&self, filter: Filter<'_>, most: usize) -> Result<Vec<TaskRecord>, StoreError> {
        self.0.list(filter, most)
    }
    fn sweep(&self, now_ms: u64, most: usize) -> Result<Swept, StoreError> {
        self.0.sweep(now_ms, most)
    }
    fn remove(&self, lease: Lease) -> Result<(), StoreError> {
        self.0.remove(lease)
    }
}

/// Plays arbitrary steps with the store, `cases` times. `new` makes an empty store for each.
pub(crate) fn at_most_one_process_runs_a_task(new: &dyn Fn() -> Box<dyn Bench>, cases: u32) {
    let mut runner =
        TestRunner::new(ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() });
    let steps = prop::collection::vec(step(), 1..40);
    let played = runner.run(&(any::<bool>(), steps), |(repeatable, steps)| {
        let bench = new();
        play(&*bench.open(), &*bench, repeatable, &steps).map_err(TestCaseError::fail)
    });
    assert!(played.is_ok(), "{}", played.unwrap_err());
}

/// The same play with a broken store, which it has to find out.
pub(crate) fn the_planted_fault_is_found(new: &dyn Fn() -> Box<dyn Bench>) {
    let found = TestRunner::deterministic().run(&prop::collection::vec(step(), 1..40), |steps| {
        let bench = new();
        play(&Careless(bench.open(), &*bench), &*bench, true, &steps).map_err(TestCaseError::fail)
    });
    assert!(found.is_err(), "the planted fault was not found");
}
