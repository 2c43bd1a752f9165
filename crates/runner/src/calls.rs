//! Call table: the running calls of all runners of this process. All runners share it, because the orphans of every call become
//! children of this process, where they have to be distinguished.

use crate::mark::CallNumber;
use crate::worker::FrameSender;
use parking_lot::{Condvar, Mutex};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, waitpid};
use std::collections::BTreeMap;
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

pub(crate) static CALLS: Calls = Calls {
    table: Mutex::new(Table {
        entries: BTreeMap::new(),
        last: 0,
        started: 0,
        workers: 0,
        unreaped: Vec::new(),
    }),
    left: Condvar::new(),
};

pub(crate) struct Calls {
    table: Mutex<Table>,
    /// Notified when a call has left that [`Calls::wait_until_left`] waits for.
    left: Condvar,
}

struct Table {
    entries: BTreeMap<CallNumber, Entry>,
    last: CallNumber,
    /// How many processes were started.
    started: u64,
    /// How many of the entries are workers.
    workers: usize,
    /// Leaders that were killed but had not ended when their call left (uninterruptible sleep). They are
    /// reaped later.
    unreaped: Vec<Pid>,
}

/// How many processes this process has started for calls, and as workers.
pub fn processes_started() -> u64 {
    CALLS.table.lock().started
}

/// The runner of a call.
pub(crate) type RunnerId = u32;

#[derive(Debug)]
struct Entry {
    runner: RunnerId,
    /// The process that leads the group of the call, once it is known. It is not reaped before the call has left, so
    /// its pid is not reused: it may be signalled while the table is locked.
    leader: Option<Pid>,
    /// Orphans of the call are to be killed from now on.
    ending: bool,
    /// [`Calls::wait_until_left`] waits for this call.
    awaited: bool,
    /// The input of a worker, which is no call itself but serves many.
    worker: Option<Arc<FrameSender>>,
}

impl Calls {
    /// Adds a call, or a worker that receives calls through this input, before it has a process.
    pub(crate) fn enter(&self, runner: RunnerId, worker: Option<Arc<FrameSender>>) -> CallNumber {
        let mut table = self.table.lock();
        loop {
            table.last = table.last.wrapping_add(1);
            let number = table.last;
            if number != 0 && !table.entries.contains_key(&number) {
                table.workers += usize::from(worker.is_some());
                let entry = Entry { runner, leader: None, ending: false, awaited: false, worker };
                table.entries.insert(number, entry);
                return number;
            }
        }
    }

    pub(crate) fn set_leader(&self, call: CallNumber, leader: Pid) {
        let mut table = self.table.lock();
        table.started += 1;
        if let Some(entry) = table.entries.get_mut(&call) {
            entry.leader = Some(leader);
        }
    }

    /// From now on orphans that carry the mark of this call are killed.
    pub(crate) fn set_ending(&self, call: CallNumber) {
        if let Some(entry) = self.table.lock().entries.get_mut(&call) {
            entry.ending = true;
        }
    }

    /// Removes a call from the table, reaps its leader and returns how it ended. `None` when it has not ended, or was
    /// never started.
    pub(crate) fn leave(&self, call: CallNumber) -> Option<WaitStatus> {
        let mut table = self.table.lock();
        // Both under one lock, so that no signal can be sent to the pid after it was reused.
        let removed = table.entries.remove(&call);
        table.workers -= usize::from(removed.as_ref().is_some_and(|entry| entry.worker.is_some()));
        let status = removed.as_ref().and_then(|entry| entry.leader).and_then(|leader| match reap(leader) {
            Ok(None) => {
                table.unreaped.push(leader);
                None
            }
            reaped => reaped.ok()?,
        });
        if !table.unreaped.is_empty() {
            table.unreaped.retain(|leader| matches!(reap(*leader), Ok(None)));
        }
        if removed.is_some_and(|entry| entry.awaited) {
            self.left.notify_all();
        }
        status
    }

    pub(crate) fn signal(&self, call: CallNumber, signal: Signal) {
        if let Some(entry) = self.table.lock().entries.get(&call) {
            entry.signal(signal);
        }
    }

    /// Signals the groups of the calls of a runner, and not those of its workers.
    pub(crate) fn signal_calls(&self, runner: RunnerId, signal: Signal) {
        let table = self.table.lock();
        let is_call = |entry: &&Entry| entry.runner == runner && entry.worker.is_none();
        table.entries.values().filter(is_call).for_each(|entry| entry.signal(signal));
    }

    /// Signals the groups of all calls and workers of a runner. With `KILL` the calls are marked as ending.
    pub(crate) fn signal_all(&self, runner: RunnerId, signal: Signal) {
        for entry in self.table.lock().entries.values_mut().filter(|entry| entry.runner == runner) {
            entry.signal(signal);
            entry.ending |= signal == Signal::KILL;
        }
    }

    pub(crate) fn leaders_of(&self, runner: RunnerId) -> Vec<Pid> {
        let table = self.table.lock();
        let ours = table.entries.values().filter(|entry| entry.runner == runner);
        ours.filter_map(|entry| entry.leader).collect()
    }

    /// How many calls are running, without workers.
    pub(crate) fn count(&self) -> usize {
        let table = self.table.lock();
        table.entries.len() - table.workers
    }

    /// Closes the input of all workers of a runner, and returns their leaders.
    pub(crate) fn close_workers(&self, runner: RunnerId) -> Vec<Pid> {
        let table = self.table.lock();
        let ours = table.entries.values().filter(|entry| entry.runner == runner);
        let workers = ours.filter_map(|entry| Some((entry.worker.as_ref()?, entry.leader)));
        workers.inspect(|(input, _)| input.close()).filter_map(|(_, leader)| leader).collect()
    }

    /// Whether no other runner has calls.
    pub(crate) fn all_belong_to(&self, runner: RunnerId) -> bool {
        self.table.lock().entries.values().all(|entry| entry.runner == runner)
    }

    /// Blocks until all calls of a runner have left, or until the deadline. Workers are not waited for.
    pub(crate) fn wait_until_left(&self, runner: RunnerId, deadline: Instant) {
        let mut table = self.table.lock();
        loop {
            let is_call = |entry: &&mut Entry| entry.runner == runner && entry.worker.is_none();
            let mut ours = table.entries.values_mut().filter(is_call).peekable();
            let left = deadline.saturating_duration_since(Instant::now());
            if ours.peek().is_none() || left.is_zero() {
                return;
            }
            ours.for_each(|entry| entry.awaited = true);
            self.left.wait_for(&mut table, left);
        }
    }
}

/// Tells `leftovers` which processes belong to a running call.
impl Calls {
    /// Whether the call is running, so that its orphans may live.
    pub(crate) fn is_alive(&self, call: CallNumber) -> bool {
        self.table.lock().entries.get(&call).is_some_and(|entry| !entry.ending)
    }
}

/// Lookups on systems without subreapers.
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
impl Calls {
    /// Whether the call has not left.
    pub(crate) fn is_in_table(&self, call: CallNumber) -> bool {
        self.table.lock().entries.contains_key(&call)
    }

    /// The leaders of the calls, with the numbers of their calls.
    pub(crate) fn numbered_leaders(&self) -> HashMap<Pid, CallNumber> {
        let table = self.table.lock();
        table.entries.iter().filter_map(|(number, entry)| Some((entry.leader?, *number))).collect()
    }
}

/// Lookups on systems with subreapers, where orphans become children of this process and have to be reaped.
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
impl Calls {
    /// Whether `process` leads one of the calls.
    pub(crate) fn is_leader(&self, process: Pid) -> bool {
        self.table.lock().entries.values().any(|entry| entry.leader == Some(process))
    }

    /// Whether `process`, which carries the mark of `call`, may be reaped as an orphan. Not if it is the
    /// leader, which [`Calls::leave`] reaps, or could be: right after its start the leader is not in the
    /// table yet.
    pub(crate) fn may_be_reaped(&self, call: CallNumber, process: Pid) -> bool {
        self.table
            .lock()
            .entries
            .get(&call)
            .is_none_or(|entry| entry.leader.is_some_and(|leader| leader != process))
    }

    pub(crate) fn leaders(&self) -> Vec<Pid> {
        let table = self.table.lock();
        let unreaped = table.unreaped.iter().copied();
        table.entries.values().filter_map(|entry| entry.leader).chain(unreaped).collect()
    }
}

/// Reaps a child if it has ended, and returns how.
fn reap(child: Pid) -> rustix::io::Result<Option<WaitStatus>> {
    Ok(waitpid(Some(child), WaitOptions::NOHANG)?.map(|(_, status)| status))
}

impl Entry {
    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            // It fails when the group has no members any more, which is the goal.
            let _ = kill_process_group(leader, signal);
        }
    }
}
