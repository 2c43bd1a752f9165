//! Reads the process table.

use super::wait_until;
use std::collections::BTreeMap;
use std::fs::read_to_string;
use std::time::{Duration, Instant};

/// Whether a process exists and is not a zombie.
pub(crate) fn exists(pid: u32) -> bool {
    Status::of(pid).is_some_and(|status| status.state != 'Z')
}

pub(crate) fn wait_until_gone(pid: u32) {
    wait_until(&format!("process {pid} to go"), || (!exists(pid)).then_some(()));
}

/// How long nothing may run: longer than any delay of the server.
const ASLEEP: Duration = Duration::from_millis(300);

/// Waits until a process and all its descendants sleep, because they wait for something else. A thread that
/// is ready to run does not sleep, so a busy machine is not mistaken for an idle server.
pub(crate) fn wait_until_asleep(pid: u32) {
    let (mut last, mut since) = (None, Instant::now());
    wait_until(&format!("process {pid} to have nothing to do"), || {
        let now = turns_of_sleepers(pid);
        if now.is_none() || now != last {
            (last, since) = (now, Instant::now());
        }
        (since.elapsed() >= ASLEEP).then_some(())
    });
}

/// How often each thread of a process and of its descendants was scheduled, if all of them sleep.
fn turns_of_sleepers(pid: u32) -> Option<BTreeMap<u32, u64>> {
    let mut turns = BTreeMap::new();
    for process in with_descendants(pid) {
        for thread in numbers_in(&format!("/proc/{process}/task")) {
            let status = read_to_string(format!("/proc/{process}/task/{thread}/status")).ok()?;
            let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
            if !matches!(field("State:")?.chars().next()?, 'S' | 'Z') {
                return None;
            }
            let count = |name: &str| field(name)?.parse::<u64>().ok();
            turns.insert(thread, count("voluntary_ctxt_switches:")? + count("nonvoluntary_ctxt_switches:")?);
        }
    }
    Some(turns)
}

fn with_descendants(pid: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> =
        numbers_in("/proc").into_iter().filter_map(|pid| Some((pid, Status::of(pid)?.parent))).collect();
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| pid));
        next += 1;
    }
    found
}

/// The entries of a folder that are numbers.
fn numbers_in(folder: &str) -> Vec<u32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The kernel's information about a process.
struct Status {
    state: char,
    parent: u32,
}

impl Status {
    fn of(pid: u32) -> Option<Self> {
        let text = read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name is in parentheses, and may contain parentheses itself.
        let mut fields = text.rsplit(')').next()?.split_whitespace();
        Some(Self { state: fields.next()?.chars().next()?, parent: fields.next()?.parse().ok()? })
    }
}
