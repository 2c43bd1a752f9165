//! Remains: the processes of a server that has ended. Its warden finds and kills them.

use super::families::{Families, Identity, Listed};
use super::{PAUSE, process_table, stop};
use crate::mark::{Mark, VARIABLE};
use rustix::process::{Pid, Signal, getpid, kill_process};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// The time limit of [`kill_remains`], if each reading finds more.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How many readings in a row have to find nothing. A reading may miss a process that forks and exits meanwhile.
const EMPTY_READINGS: u32 = 3;

/// The number that stands for all calls of the server.
const ANY_CALL: u32 = 1;

/// Kills the processes in `groups`, those that carry `mark`, and all that they have started, until there are none. False if
/// the process table cannot be read.
pub(crate) fn kill_remains(mark: &Mark, groups: &[Pid]) -> bool {
    let deadline = Instant::now() + TIMEOUT;
    let leaders: HashMap<Pid, _> = groups.iter().map(|leader| (*leader, ANY_CALL)).collect();
    let (mut families, mut stopped, mut empty_readings) = (Families::default(), HashSet::new(), 0);
    while empty_readings < EMPTY_READINGS && Instant::now() < deadline {
        let us = getpid();
        let mut table = process_table::all();
        if table.is_empty() {
            return false;
        }
        table.retain(|process| process.pid != us);
        let carried = |process: &Listed| {
            mark.call_in(&process_table::variable(process.pid, VARIABLE)?).map(|_| ANY_CALL)
        };
        families.update(&table, &leaders, carried, Instant::now());
        let left: Vec<Listed> = families.members().map(|(process, _)| process).collect();
        if left.is_empty() {
            empty_readings += 1;
            continue;
        }
        empty_readings = 0;
        stop_or_kill(&left, &mut stopped);
    }
    true
}

/// Stops those that have not been stopped yet. Kills all of them if there are none.
fn stop_or_kill(left: &[Listed], stopped: &mut HashSet<Identity>) {
    let found: Vec<_> =
        left.iter().filter(|process| !stopped.contains(&process.identity())).copied().collect();
    if !found.is_empty() {
        stop(&found);
        stopped.extend(found.iter().map(Listed::identity));
        return;
    }
    for process in left {
        let _ = kill_process(process.pid, Signal::KILL);
    }
    std::thread::sleep(PAUSE);
}
