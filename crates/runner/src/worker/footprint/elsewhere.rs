//! Worker footprint, read from the process table.

use crate::cgroup::CallGroup;
use crate::leftovers::{self, process_table};
use crate::mark::CallNumber;
use rustix::process::Pid;

#[derive(Debug)]
pub(crate) struct Footprint {
    leader: Pid,
    number: CallNumber,
}

impl Footprint {
    pub(crate) fn of(leader: Pid, number: CallNumber, _group: Option<&CallGroup>) -> Self {
        Self { leader, number }
    }

    /// How much memory the worker uses itself, in bytes.
    pub(crate) fn memory(&self) -> Option<u64> {
        process_table::memory(self.leader)
    }

    /// The same, including its children and the processes in its group.
    pub(crate) fn memory_of_all(&self) -> Option<u64> {
        let others = process_table::children_and_group(self.leader).into_iter();
        Some(self.memory()? + others.filter_map(process_table::memory).sum::<u64>())
    }

    /// Whether a process that the worker has started is alive, even if it has left the group and its parent has ended.
    pub(crate) fn has_others(&self) -> bool {
        leftovers::has_others_of(self.number, self.leader)
    }
}
