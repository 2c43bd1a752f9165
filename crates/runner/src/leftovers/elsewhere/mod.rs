//! Leftovers on systems without subreapers, where orphans go to init: they are found in the process table.
//!
//! A process that forks as fast as it can may get away: nothing but its pid says which process a signal is for, and a
//! process can end between two readings of the table. So all processes of a call are stopped before the first is killed.

mod families;
mod remains;

#[cfg(any(target_vendor = "apple", test))]
mod procargs;
#[cfg(not(target_vendor = "apple"))]
#[path = "procfs.rs"]
pub(crate) mod process_table;
#[cfg(target_vendor = "apple")]
#[path = "libproc.rs"]
pub(crate) mod process_table;

use crate::calls::CALLS;
use crate::mark::{CallNumber, OURS, VARIABLE};
use crate::{system_calls, warden};
use families::{Families, Identity, Listed};
use parking_lot::Mutex;
pub(crate) use remains::kill_remains;
use rustix::process::{Pid, Signal, getpid, kill_process};
use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Once};
use std::time::{Duration, Instant};

/// The time limit of [`end`], if each reading finds more.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// How long to wait for a killed process in all. Only uninterruptible sleep takes so long, and the process is not
/// waited for again.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// How long to wait before the table is read again to check whether killed processes have ended.
const PAUSE: Duration = Duration::from_millis(1);

/// The age up to which the reading of another call counts.
const FRESH: Duration = Duration::from_millis(10);

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

#[derive(Debug, Default)]
struct State {
    families: Families,
    /// The processes that were killed, with the time of the first `KILL`.
    killed: HashMap<Identity, Instant>,
    last_reading: Option<Instant>,
}

impl State {
    /// Reads the process table. Returns the live processes of calls that have ended, or `None` if the table cannot be
    /// read.
    fn leftovers(&mut self) -> Option<Vec<Listed>> {
        // The leaders are read first: one that ends meanwhile is then missing in the table, and not taken for a
        // leftover.
        let leaders = CALLS.numbered_leaders();
        let table = process_table::all();
        if table.is_empty() {
            return None;
        }
        let now = Instant::now();
        self.last_reading = Some(now);
        let (us, warden) = (getpid(), warden::pid());
        let others: Vec<Listed> =
            table.into_iter().filter(|process| process.pid != us && Some(process.pid) != warden).collect();
        // Before the update: the last reading may be old, and group ids reused since.
        self.families.forget_calls(|call| CALLS.is_in_table(call));
        let carried = |process: &Listed| OURS.call_in(&process_table::variable(process.pid, VARIABLE)?);
        self.families.update(&others, &leaders, carried, now);
        self.killed.retain(|killed, _| others.iter().any(|process| process.identity() == *killed));
        let is_over = |(process, call): (Listed, CallNumber)| {
            (!CALLS.is_alive(call) && !leaders.contains_key(&process.pid)).then_some(process)
        };
        let given_up = |process: &Listed| {
            self.killed.get(&process.identity()).is_some_and(|since| since.elapsed() >= KILL_TIMEOUT)
        };
        Some(self.families.members().filter_map(is_over).filter(|process| !given_up(process)).collect())
    }

    fn kill(&mut self, processes: &[Listed]) {
        for process in processes {
            let _ = kill_process(process.pid, Signal::KILL);
            self.killed.entry(process.identity()).or_insert_with(Instant::now);
        }
    }
}

/// Sets the signals as this program needs them. Required before the first process is started.
pub(crate) fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(system_calls::settle_signals);
}

/// Notes the leader of a call right after its start, while it certainly exists. It may have ended when the table is
/// next read, and then the system does not know which processes it has started.
pub(crate) fn note_leader(call: CallNumber, leader: Pid) {
    if let Some(process) = process_table::of(leader) {
        STATE.lock().families.add(&process, call);
    }
}

/// Whether it is certain that nothing is left of calls that have ended. Kills nothing.
pub(crate) fn end_without_waiting() -> bool {
    // Another thread reads the table, which may take a while.
    STATE.try_lock().and_then(|mut state| state.leftovers()).is_some_and(|left| left.is_empty())
}

/// Kills everything that is left of calls that have ended, and waits until it has ended.
pub(crate) fn end() {
    let deadline = Instant::now() + END_TIMEOUT;
    let mut stopped: HashSet<Identity> = HashSet::new();
    while Instant::now() < deadline {
        let mut state = STATE.lock();
        let Some(left) = state.leftovers().filter(|left| !left.is_empty()) else { return };
        let found: Vec<_> =
            left.iter().filter(|process| !stopped.contains(&process.identity())).copied().collect();
        if found.is_empty() {
            state.kill(&left);
            drop(state);
            std::thread::sleep(PAUSE);
        } else {
            stop(&found);
            stopped.extend(found.iter().map(Listed::identity));
        }
    }
}

/// Stops processes, so that none of them starts another one, and none loses its parent, before all are found.
fn stop(processes: &[Listed]) {
    for process in processes {
        let _ = kill_process(process.pid, Signal::STOP);
    }
}

/// Reads the table for long calls: a process whose starter ends between two readings can be found only by its group or
/// its mark. Kills what is left of other calls. True if there was any, so that it should be done again soon.
pub(crate) fn reap_and_kill() -> bool {
    let Some(mut state) = STATE.try_lock() else { return false };
    if state.last_reading.is_some_and(|last| last.elapsed() < FRESH) {
        return false;
    }
    let left = state.leftovers().unwrap_or_default();
    state.kill(&left);
    !left.is_empty()
}

/// Whether any process of the group is alive but its leader.
pub(crate) fn group_is_alive(leader: Pid) -> bool {
    process_table::all().iter().any(|process| process.group == Some(leader) && process.pid != leader)
}

/// Whether any process of a running call is alive but its leader.
pub(crate) fn has_others_of(call: CallNumber, leader: Pid) -> bool {
    let mut state = STATE.lock();
    // Leftovers of other calls are left to those that kill them.
    let _ = state.leftovers();
    state.families.members().any(|(process, of)| of == call && process.pid != leader)
}
