//! The calls that go on in this process, whichever runner they belong to: the orphans of all of them come to the same
//! place, where they have to be told apart.

use crate::mark::Number;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, waitpid};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

pub(crate) static CALLS: Calls = Calls {
    table: Mutex::new(Table { entries: BTreeMap::new(), last: 0, stragglers: Vec::new() }),
    left: Condvar::new(),
};

pub(crate) struct Calls {
    table: Mutex<Table>,
    /// A call has left while somebody was waiting for it.
    left: Condvar,
}

struct Table {
    entries: BTreeMap<Number, Entry>,
    last: Number,
    /// Leaders that were killed, but that the kernel did not let go of before their call had to end.
    stragglers: Vec<Pid>,
}

/// Which runner a call belongs to.
pub(crate) type RunnerId = u32;

#[derive(Debug)]
struct Entry {
    runner: RunnerId,
    /// The process that leads the group of the call, once it is known. There is always one of that number, be it dead,
    /// until the call has left: so whoever holds the table may signal it.
    leader: Option<Pid>,
    /// What is left of the call is to be killed from now on.
    ending: bool,
    /// Somebody waits for it to leave.
    awaited: bool,
}

impl Calls {
    /// Enters a call, before it has a process.
    pub(crate) fn enter(&self, runner: RunnerId) -> Number {
        let mut table = self.lock();
        loop {
            table.last = table.last.wrapping_add(1);
            let number = table.last;
            if number != 0 && !table.entries.contains_key(&number) {
                let entry = Entry { runner, leader: None, ending: false, awaited: false };
                table.entries.insert(number, entry);
                return number;
            }
        }
    }

    pub(crate) fn set_leader(&self, call: Number, leader: Pid) {
        if let Some(entry) = self.lock().entries.get_mut(&call) {
            entry.leader = Some(leader);
        }
    }

    /// From now on no process may be this call's.
    pub(crate) fn set_ending(&self, call: Number) {
        if let Some(entry) = self.lock().entries.get_mut(&call) {
            entry.ending = true;
        }
    }

    /// Takes a call out and asks its leader how it ended. `None` when it has not, or never started.
    pub(crate) fn leave(&self, call: Number) -> Option<WaitStatus> {
        let mut table = self.lock();
        // Both at once, so that no signal can be sent to the number when it may be another's.
        let removed = table.entries.remove(&call);
        let status = removed.as_ref().and_then(|entry| entry.leader).and_then(|leader| match ended(leader) {
            Ok(None) => {
                table.stragglers.push(leader);
                None
            }
            ended => ended.ok()?,
        });
        if !table.stragglers.is_empty() {
            table.stragglers.retain(|leader| matches!(ended(*leader), Ok(None)));
        }
        if removed.is_some_and(|entry| entry.awaited) {
            self.left.notify_all();
        }
        status
    }

    pub(crate) fn signal(&self, call: Number, signal: Signal) {
        if let Some(entry) = self.lock().entries.get(&call) {
            entry.signal(signal);
        }
    }

    /// Signals the groups of all calls of a runner. What gets `KILL` is ending.
    pub(crate) fn signal_all(&self, runner: RunnerId, signal: Signal) {
        for entry in self.lock().entries.values_mut().filter(|entry| entry.runner == runner) {
            entry.signal(signal);
            entry.ending |= signal == Signal::KILL;
        }
    }

    pub(crate) fn leaders_of(&self, runner: RunnerId) -> Vec<Pid> {
        let table = self.lock();
        let ours = table.entries.values().filter(|entry| entry.runner == runner);
        ours.filter_map(|entry| entry.leader).collect()
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.lock().entries.len()
    }

    /// Whether no other runner has calls.
    pub(crate) fn are_all_of(&self, runner: RunnerId) -> bool {
        self.lock().entries.values().all(|entry| entry.runner == runner)
    }

    /// Blocks until all calls of a runner have left, or until the deadline.
    pub(crate) fn wait_until_left(&self, runner: RunnerId, deadline: Instant) {
        let mut table = self.lock();
        loop {
            let mut ours = table.entries.values_mut().filter(|entry| entry.runner == runner).peekable();
            let left = deadline.saturating_duration_since(Instant::now());
            if ours.peek().is_none() || left.is_zero() {
                return;
            }
            ours.for_each(|entry| entry.awaited = true);
            table = self.left.wait_timeout(table, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What has to be known to tell orphans apart.
#[cfg(target_os = "linux")]
impl Calls {
    /// Whether that process leads one of the calls.
    pub(crate) fn are_led_by(&self, process: Pid) -> bool {
        self.lock().entries.values().any(|entry| entry.leader == Some(process))
    }

    /// Whether processes may belong to that call.
    pub(crate) fn is_alive(&self, call: Number) -> bool {
        self.lock().entries.get(&call).is_some_and(|entry| !entry.ending)
    }

    /// Whether that process, if it is dead, may be reaped by others than those who look after the call: it is not the
    /// leader, which may not be known as such yet.
    pub(crate) fn lets_reap(&self, call: Number, process: Pid) -> bool {
        self.lock()
            .entries
            .get(&call)
            .is_none_or(|entry| entry.leader.is_some_and(|leader| leader != process))
    }

    pub(crate) fn leaders(&self) -> Vec<Pid> {
        let table = self.lock();
        let stragglers = table.stragglers.iter().copied();
        table.entries.values().filter_map(|entry| entry.leader).chain(stragglers).collect()
    }
}

/// How one of our children ended, if it has. It is reaped then.
fn ended(child: Pid) -> rustix::io::Result<Option<WaitStatus>> {
    Ok(waitpid(Some(child), WaitOptions::NOHANG)?.map(|(_, status)| status))
}

impl Entry {
    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            // A group without members is what we want to see in the end.
            let _ = kill_process_group(leader, signal);
        }
    }
}
