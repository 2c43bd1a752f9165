//! Mark search: the warden finds the processes of a server that has ended by their marks, in `/proc`, and kills them.

use crate::leftovers::proc;
use crate::leftovers::process::{Process, kill_tree};
use crate::mark::{Carried, Mark};
use rustix::process::{Pid, getpid};
use std::time::{Duration, Instant};

/// The time limit of [`kill_all`], if each pass finds more.
const KILL_ALL_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a pass waits for the processes it has killed to end.
const PASS_TIMEOUT: Duration = Duration::from_millis(50);

/// How many killed processes a pass waits for. It does not wait for the others.
const MAX_AWAITED: usize = 64;

/// How many passes in a row have to find nothing. A pass may miss a process that forks and exits while `/proc` is read.
const EMPTY_PASSES: u32 = 3;

/// Which mark to read. The limit is quick to read. Reading an environment takes as long as a process needs to fork and
/// exit, and is for processes that do not carry the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarkKind {
    Limits,
    Environment,
}

/// Kills every process that carries the mark, and its descendants, until there is none.
pub(super) fn kill_all(mark: &Mark) {
    let deadline = Instant::now() + KILL_ALL_TIMEOUT;
    let mut empty_passes = 0;
    while empty_passes < EMPTY_PASSES && Instant::now() < deadline {
        let by_limits = if mark.is_on_limits() { kill_pass(mark, MarkKind::Limits) } else { 0 };
        if by_limits > 0 || kill_pass(mark, MarkKind::Environment) > 0 {
            empty_passes = 0;
        } else {
            empty_passes += 1;
        }
    }
}

/// One pass over all processes. Returns how many were killed.
fn kill_pass(mark: &Mark, kind: MarkKind) -> usize {
    let us = getpid();
    let mut all: Vec<Pid> = proc::all().filter(|pid| *pid != us).collect();
    // Youngest first: a process that forks and exits does not live long.
    all.sort_unstable_by_key(|pid| std::cmp::Reverse(pid.as_raw_nonzero()));
    let (mut killed, mut awaited) = (0, Vec::new());
    for pid in all {
        // The mark is checked again once the pidfd is open: the pid may have become that of another process
        // before.
        let Some(process) = carries(mark, kind, pid).then(|| Process::open(pid)).flatten() else { continue };
        if carries(mark, kind, pid)
            && kill_tree(&process)
            && proc::status(pid).is_some_and(|now| !now.is_dead())
        {
            killed += 1;
            if awaited.len() < MAX_AWAITED {
                awaited.push(process);
            }
        }
    }
    let deadline = Instant::now() + PASS_TIMEOUT;
    for process in &awaited {
        process.wait(deadline);
    }
    killed
}

fn carries(mark: &Mark, kind: MarkKind, process: Pid) -> bool {
    match kind {
        MarkKind::Limits => matches!(mark.on_limits(process), Some(Carried::Call(_))),
        MarkKind::Environment => mark.in_environment(process).is_some(),
    }
}
