//! Worker footprint, read from `/proc` and from the control group of the worker, through files that stay open.

use crate::cgroup::CallGroup;
use crate::leftovers::{self, proc};
use crate::mark::CallNumber;
use rustix::param::page_size;
use rustix::process::Pid;
use std::fs::File;
use std::os::unix::fs::FileExt;

#[derive(Debug)]
pub(crate) struct Footprint {
    leader: Pid,
    number: CallNumber,
    /// `/proc/PID/statm`.
    statm: Option<File>,
    others: Others,
}

/// The list of its other processes.
#[derive(Debug)]
enum Others {
    /// `cgroup.procs` of its control group, which lists all live ones.
    Group(File),
    /// `/proc/PID/task/PID/children`. Orphans have become our own children.
    Children(Option<File>),
}

impl Footprint {
    #[expect(
        clippy::disallowed_methods,
        reason = "files of the kernel, which are there as long as their process"
    )]
    pub(crate) fn of(leader: Pid, number: CallNumber, group: Option<&CallGroup>) -> Self {
        let pid = leader.as_raw_nonzero();
        let open = |name: String| File::open(format!("/proc/{pid}/{name}")).ok();
        let others = match group.and_then(CallGroup::processes) {
            Some(processes) => Others::Group(processes),
            None => Others::Children(open(format!("task/{pid}/children"))),
        };
        Self { leader, number, statm: open("statm".to_owned()), others }
    }

    /// How much memory the worker uses itself, in bytes.
    pub(crate) fn memory(&self) -> Option<u64> {
        resident(self.statm.as_ref()?)
    }

    /// The same, including all processes that it has started.
    #[expect(
        clippy::disallowed_methods,
        reason = "files of the kernel, which are there as long as their process"
    )]
    pub(crate) fn memory_of_all(&self) -> Option<u64> {
        let mut pids = match &self.others {
            Others::Group(processes) => proc::pids_in(processes),
            Others::Children(_) => proc::children(self.leader),
        };
        pids.retain(|pid| *pid != self.leader);
        let others = pids
            .into_iter()
            .filter_map(|pid| resident(&File::open(format!("/proc/{}/statm", pid.as_raw_nonzero())).ok()?));
        Some(self.memory()? + others.sum::<u64>())
    }

    /// Whether a process that it has started is alive.
    pub(crate) fn has_others(&self) -> bool {
        match &self.others {
            Others::Group(processes) => is_several(processes),
            Others::Children(children) => {
                let lives = |child: Pid| proc::status(child).is_some_and(|status| !status.is_dead());
                let children = children.as_ref().map(proc::pids_in).unwrap_or_default();
                children.into_iter().any(lives) || leftovers::has_orphans_of(self.number)
            }
        }
    }
}

/// Whether a list of processes has more than one.
fn is_several(processes: &File) -> bool {
    let mut start = [0; 64];
    let count = processes.read_at(&mut start, 0).unwrap_or(0);
    memchr::memchr_iter(b'\n', &start[..count]).nth(1).is_some()
}

/// The second number of `statm`: the pages in memory.
fn resident(statm: &File) -> Option<u64> {
    let mut text = [0; 128];
    let count = statm.read_at(&mut text, 0).ok()?;
    let pages: u64 = std::str::from_utf8(&text[..count]).ok()?.split(' ').nth(1)?.parse().ok()?;
    Some(pages * page_size() as u64)
}
