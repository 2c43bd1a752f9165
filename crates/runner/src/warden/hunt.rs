//! How the warden finds every process of a server that is gone: by its mark, in the table of all processes.

use crate::leftovers::proc;
use crate::leftovers::process::{Process, kill_tree};
use crate::mark::{Carried, Mark};
use rustix::process::{Pid, getpid};
use std::time::{Duration, Instant};

/// How long we go on, should there always be more.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long one pass waits for its victims.
const ROUND: Duration = Duration::from_millis(50);

/// How many victims of a pass are waited for. Others get their turn in the next.
const AWAITED: usize = 64;

/// How many passes in a row have to find nothing. A process that forks and ends while the table is read may be missed by
/// one of them.
const QUIET_PASSES: u32 = 3;

/// What to look at. The number is asked for in a moment; to read an environment takes as long as a process needs to fork
/// and end, and is for those that do not carry the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Limits,
    Environment,
}

/// Kills every process that carries the mark, and all that descend from one, until there is none.
pub(super) fn kill_all(mark: &Mark) {
    let deadline = Instant::now() + PATIENCE;
    let mut quiet = 0;
    while quiet < QUIET_PASSES && Instant::now() < deadline {
        let by_limits = if mark.is_on_limits() { kill_some(mark, Sign::Limits) } else { 0 };
        if by_limits > 0 || kill_some(mark, Sign::Environment) > 0 {
            quiet = 0;
        } else {
            quiet += 1;
        }
    }
}

/// One pass over the table. Returns how many were killed.
fn kill_some(mark: &Mark, sign: Sign) -> usize {
    let us = getpid();
    let mut all: Vec<Pid> = proc::all().filter(|pid| *pid != us).collect();
    // The youngest first: a process that forks and ends does not live long.
    all.sort_unstable_by_key(|pid| std::cmp::Reverse(pid.as_raw_nonzero()));
    let (mut killed, mut doomed) = (0, Vec::new());
    for pid in all {
        // Held first and looked at then: what is killed is what was looked at.
        let Some(process) = carries(mark, sign, pid).then(|| Process::open(pid)).flatten() else { continue };
        if carries(mark, sign, pid)
            && kill_tree(&process)
            && proc::status(pid).is_some_and(|now| !now.is_dead())
        {
            killed += 1;
            if doomed.len() < AWAITED {
                doomed.push(process);
            }
        }
    }
    let deadline = Instant::now() + ROUND;
    for process in &doomed {
        process.wait(deadline);
    }
    killed
}

fn carries(mark: &Mark, sign: Sign, process: Pid) -> bool {
    match sign {
        Sign::Limits => matches!(mark.on_limits(process), Some(Carried::Call(_))),
        Sign::Environment => mark.in_environment(process).is_some(),
    }
}
